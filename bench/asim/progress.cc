#include "asim/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "base/duration.h"

namespace ares::sim {
namespace {

constexpr std::chrono::milliseconds kEvery{200};
constexpr std::chrono::seconds kPatience{1};  // no bar for shorter runs
constexpr std::size_t kCells = 30;

}  // namespace

ProgressBar::ProgressBar(std::uint64_t jobs)
    : jobs_(std::max<std::uint64_t>(jobs, 1)),
      terminal_(isatty(STDERR_FILENO) != 0),
      begin_(Clock::now()),
      next_(begin_ + kPatience) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(std::uint64_t over, Duration elapsed) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kEvery;
  drawn_ = true;
  const double share = std::min(1.0, static_cast<double>(over) / static_cast<double>(jobs_));
  const auto full = static_cast<std::size_t>(share * kCells);
  const std::string bar = std::string(full, '#') + std::string(kCells - full, '.');
  const double spent = std::chrono::duration<double>(now - begin_).count();
  const std::string simulated =
      format_duration(std::chrono::duration_cast<std::chrono::seconds>(elapsed));
  std::fprintf(stderr, "\r\033[K[%s] %3.0f%%  %llu of %llu jobs, %s simulated, %.0f jobs/s",
               bar.c_str(), share * 100, static_cast<unsigned long long>(over),
               static_cast<unsigned long long>(jobs_), simulated.c_str(),
               static_cast<double>(over) / spent);
}

}  // namespace ares::sim
