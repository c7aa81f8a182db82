#include "arun/output.h"

#include <utility>

namespace ares::arun {
namespace {

// A line is not held back for longer than this.
constexpr std::size_t kLongestLine = std::size_t{1} << 16;

}  // namespace

TaskOutput::TaskOutput(Write write, bool label, std::uint32_t tasks)
    : write_(std::move(write)),
      label_(label),
      width_(std::to_string(tasks == 0 ? 0 : tasks - 1).size()) {}

void TaskOutput::put_line(std::uint32_t rank, int stream, std::string_view line) {
  const std::string number = std::to_string(rank);
  std::string text(width_ - std::min(width_, number.size()), ' ');
  text += number;
  text += ": ";
  text += line;
  write_(stream, text);
}

void TaskOutput::take(std::uint32_t rank, int stream, std::string_view bytes) {
  if (!label_) return write_(stream, bytes);
  std::string& held = unfinished_[{rank, stream}];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
    held += bytes.substr(0, taken);
    bytes.remove_prefix(taken);
    if (end == std::string_view::npos && held.size() < kLongestLine) return;
    if (held.back() != '\n') held += '\n';
    put_line(rank, stream, held);
    held.clear();
  }
}

void TaskOutput::flush() {
  for (auto& [key, held] : unfinished_) {
    if (held.empty()) continue;
    put_line(key.first, key.second, held + "\n");
    held.clear();
  }
}

}  // namespace ares::arun
