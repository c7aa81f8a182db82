// Archive files: a JSON header line, one line per row, and a trailer line that marks the end.
// A file under its final name is always complete. Plain functions and values; one thread at a time.
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
  std::string cluster;  // for the reader only
  Time month{};         // its first instant, UTC
};

class ArchiveWriter {
 public:
  // Creates the folder if it is missing. Replaces an unfinished file of an earlier attempt.
  static Result<ArchiveWriter> begin(const std::string& folder, const ArchiveHead& head);

  Status add(const std::vector<std::string>& rows);
  // Makes the file and its name durable; returns the name without the folder. An existing file with
  // the same content is used as it is.
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

// Reads the whole file. not_found; data_loss if it is truncated or damaged; invalid_argument if it
// is not an archive file.
Result<ArchiveContent> check_archive(const std::string& path);

// Visits the rows in batches. Precondition: check_archive succeeded.
Status read_archive(const std::string& path,
                    const std::function<Status(const std::vector<std::string>&)>& visit);

// "2025-01"
std::string month_text(Time month);

}  // namespace ares::aresctld
