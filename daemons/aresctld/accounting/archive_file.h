// Files of the archive: a line of JSON that says what it is, a line for each row, and a line that says that this was all.
// Written so that a file of its final name is always whole. Plain functions and values; one thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace ares::aresctld {

struct ArchiveHead {
  std::string system;   // of the database
  std::string cluster;  // for people
  Time month{};         // its begin, UTC
};

class ArchiveWriter {
 public:
  // Makes the folder if it is not there. Replaces what an attempt before has left unfinished.
  static Result<ArchiveWriter> begin(const std::string& folder, const ArchiveHead& head);

  Status add(const std::vector<std::string>& rows);
  // The file and its name are on the disk: its name, without the folder. One with the same content that is there already serves.
  Result<std::string> finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  ArchiveWriter(std::string folder, std::string stem) : folder_(std::move(folder)), stem_(stem) {}
  Status put(const std::string& line);
  std::string part() const { return folder_ + "/." + stem_ + ".part"; }

  std::string folder_, stem_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t rows_ = 0;
  std::uint64_t digest_ = 0;
};

struct ArchiveContent {
  ArchiveHead head;
  std::uint64_t rows = 0;
};

// Reads all of it. not_found; data_loss where it is cut short or not as it was written; invalid_argument where it is something else.
Result<ArchiveContent> check_archive(const std::string& path);

// Visits the rows in parts. Precondition: check_archive found nothing wrong.
Status read_archive(const std::string& path,
                    const std::function<Status(const std::vector<std::string>&)>& visit);

// "2025-01"
std::string month_text(Time month);

}  // namespace ares::aresctld
