#include "aresctld/engine/clock.h"

#include <algorithm>
#include <utility>

#include "base/duration.h"

namespace ares::aresctld {
namespace {

constexpr auto kReportAgain = std::chrono::hours(1);
constexpr Duration kAgree = std::chrono::seconds(1);

Time wall_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

Duration reading(Clock::Steady steady) {
  return std::chrono::duration_cast<Duration>(steady.time_since_epoch());
}

std::string length(Duration d) {
  return format_duration(std::chrono::duration_cast<Seconds>(std::chrono::abs(d)));
}

}  // namespace

Clock::Clock(Time recorded, Report report)
    : Clock(recorded, std::move(report), wall_now(), std::chrono::steady_clock::now()) {}

Clock::Clock(Time recorded, Report report, Time wall, Steady steady)
    : slewed_(std::max(recorded, wall), reading(steady)), report_(std::move(report)) {
  at(wall, steady);
}

Time Clock::now() {
  const Time wall = wall_now();
  return at(wall, std::chrono::steady_clock::now());
}

Time Clock::at(Time wall, Steady steady) {
  std::optional<std::string> text;
  Time now;
  {
    const Lock lock(mutex_);
    now = slewed_.at(wall, reading(steady));
    text = news(steady);
  }
  if (text && report_) report_(*text);
  return now;
}

Duration Clock::ahead() const {
  const Lock lock(mutex_);
  return slewed_.ahead();
}

std::optional<std::string> Clock::news(Steady steady) {
  const Duration ahead = slewed_.ahead();
  if (std::chrono::abs(ahead) < kAgree && reported_) {
    reported_.reset();
    return "the controller's time agrees with this machine's clock again";
  }
  if (std::chrono::abs(ahead) <= kReported) return std::nullopt;
  if (reported_ && steady - *reported_ < kReportAgain) return std::nullopt;
  reported_ = steady;
  return "the controller's time is " + length(ahead) +
         (ahead > Duration{0} ? " ahead of" : " behind") +
         " this machine's clock, which was set or is wrong: the controller approaches it by 1 %, "
         "in about " +
         length(ahead * 100) + "; until then times of jobs differ from the clock by as much";
}

}  // namespace ares::aresctld
