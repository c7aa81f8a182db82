// TaskOutput: writes what the tasks of a step write, whole or with the rank before each line. Owned by
// the session; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::arun {

class TaskOutput {
 public:
  // `write` gets bytes for one stream: 1 or 2, of arun or of a file in place of it.
  using Write = std::function<void(int stream, std::string_view bytes)>;

  // With `label` for `tasks` tasks: "07: line" of 100.
  TaskOutput(Write write, bool label, std::uint32_t tasks);

  void take(std::uint32_t rank, int stream, std::string_view bytes);
  // The last lines that have no end.
  void flush();

 private:
  void put_line(std::uint32_t rank, int stream, std::string_view line);

  Write write_;
  bool label_;
  std::size_t width_;
  std::map<std::pair<std::uint32_t, int>, std::string> unfinished_;
};

}  // namespace ares::arun
