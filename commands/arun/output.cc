#include "arun/output.h"

#include <utility>

namespace ares::arun {
namespace {

// A line is not held back for longer than this.
constexpr std::size_t kLongestLine = std::size_t{1} << 16;

}  // namespace

TaskOutput::TaskOutput(Write write, Form form, std::uint32_t tasks)
    : write_(std::move(write)),
      form_(form),
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
  if (form_ == Form::at_once) return write_(stream, bytes);
  std::string& held = unfinished_[{rank, stream}];
  if (form_ == Form::lines) return take_lines(held, stream, bytes);
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

void TaskOutput::take_lines(std::string& held, int stream, std::string_view bytes) {
  const std::size_t last = bytes.rfind('\n');
  const std::size_t whole = last == std::string_view::npos ? 0 : last + 1;
  if (whole != 0) {
    if (!held.empty()) {
      const std::size_t first = bytes.find('\n') + 1;
      held += bytes.substr(0, first);
      write_(stream, held);
      held.clear();
      write_(stream, bytes.substr(first, whole - first));
    } else {
      write_(stream, bytes.substr(0, whole));
    }
  }
  held += bytes.substr(whole);
  if (held.size() < kLongestLine) return;
  write_(stream, held);
  held.clear();
}

void TaskOutput::flush() {
  for (auto& [key, held] : unfinished_) {
    if (held.empty()) continue;
    if (form_ == Form::labels)
      put_line(key.first, key.second, held + "\n");
    else
      write_(key.second, held);
    held.clear();
  }
}

}  // namespace ares::arun
