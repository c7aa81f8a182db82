// JsonLines: cuts the stream of a watch into lines, however the network has divided it. Owned by the watch; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::kubernetes {

class JsonLines {
 public:
  explicit JsonLines(std::size_t most_of_line) : most_(most_of_line) {}

  // Adds what was received. The view is used by next() until that has returned none.
  void add(std::string_view bytes) { fresh_ = bytes; }

  // The next whole line, without its end and never empty; none: more must be received. Valid until the next call.
  // resource_exhausted: a line is longer than allowed; the stream cannot be used any more.
  Result<std::optional<std::string_view>> next();

 private:
  std::size_t most_;
  std::string_view fresh_;
  std::string kept_;       // the beginning of a line
  bool is_given_ = false;  // kept_ is the line that was returned last
};

}  // namespace ares::kubernetes
