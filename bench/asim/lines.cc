#include "asim/lines.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace ares::sim {
namespace {

constexpr unsigned kBuffer = 256 << 10;

}  // namespace

void Lines::Close::operator()(gzFile_s* file) const {
  gzclose(file);
}

Lines::Lines(std::string path, gzFile_s* file) : path_(std::move(path)), file_(file) {}

Result<Lines> Lines::open(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (!file)
    return fail(ErrorCode::not_found, "cannot read " + path + ": " +
                                          (errno ? std::strerror(errno) : "not enough memory"));
  gzbuffer(file, kBuffer);
  return Lines(path, file);
}

Result<bool> Lines::next(std::string& line) {
  line.clear();
  char piece[4096];
  while (gzgets(file_.get(), piece, sizeof piece)) {
    line += piece;
    if (line.back() != '\n') continue;
    line.pop_back();
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++number_;
    return true;
  }
  int code = Z_OK;
  const char* message = gzerror(file_.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) {
    ++number_;
    const std::string why = code == Z_ERRNO ? std::strerror(errno) : message;
    return fail(ErrorCode::data_loss, at_line("cannot be read on: " + why).message);
  }
  if (line.empty()) return false;
  ++number_;
  return true;
}

Error Lines::at_line(const std::string& message) const {
  return {ErrorCode::invalid_argument, path_ + ":" + std::to_string(number_) + ": " + message};
}

}  // namespace ares::sim
