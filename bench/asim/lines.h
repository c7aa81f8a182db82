// Lines: reads a text file line by line, compressed with gzip or not.
// Owned by its reader; one thread.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct gzFile_s;

namespace ares::sim {

class Lines {
 public:
  // not_found with the system's error text if the file cannot be opened.
  static Result<Lines> open(const std::string& path);

  // The next line without newline; false at end of file. data_loss: damaged compressed data.
  Result<bool> next(std::string& line);
  std::size_t number() const { return number_; }  // of the last line read, from 1
  // "FILE:12: message".
  Error at_line(const std::string& message) const;

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  Lines(std::string path, gzFile_s* file);

  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::size_t number_ = 0;
};

}  // namespace ares::sim
