// TaskOutput: writes what the tasks of a step write, so that lines of different tasks do not mix. Owned by
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

  enum class Form : std::uint8_t {
    at_once,  // as it comes
    lines,    // an unfinished line waits for its end
    labels,   // the same, and "07: " before each line of task 7 of 100
  };
  TaskOutput(Write write, Form form, std::uint32_t tasks);

  void take(std::uint32_t rank, int stream, std::string_view bytes);
  // The last lines that have no end.
  void flush();

 private:
  void take_lines(std::string& held, int stream, std::string_view bytes);
  void put_line(std::uint32_t rank, int stream, std::string_view line);

  Write write_;
  Form form_;
  std::size_t width_;
  std::map<std::pair<std::uint32_t, int>, std::string> unfinished_;
};

}  // namespace ares::arun
