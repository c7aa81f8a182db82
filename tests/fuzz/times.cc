// Points in time, time limits, warning signals, amounts of memory and of GPUs: printed and read again they are the same.
#include <cstdlib>
#include <ctime>

#include "base/duration.h"
#include "base/timespec.h"
#include "base/units.h"
#include "fuzz/target.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"
#include "model/job/warning_signal.h"

namespace ares::fuzz {

const Allowance kAllowance{64 << 10, 256};

namespace {

// With changes of the clock twice a year, and no file of the system's time zones.
void set_time_zone() {
  static const bool done = [] {
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    return true;
  }();
  (void)done;
}

// Printed times have four digits of a year, and years before 1970 are not read.
bool is_readable(Time at) {
  return at >= Time(std::chrono::days(1)) &&
         at < Time(std::chrono::sys_days(std::chrono::year(9999) / 1 / 1));
}

void try_time(std::string_view input, TimeOfDay rule) {
  const Time now(Seconds(1'800'000'000));
  const auto at = parse_timespec(input, now, rule);
  if (!at) return require_refusal(at.error());
  const std::string text = format_local_time(*at);
  if (!is_readable(*at)) return;
  const auto again = parse_timespec(text, now, rule);
  require(again.has_value(), "a printed time is a time: " + text);
  // An hour that a clock change repeats is printed alike twice.
  require(format_local_time(*again) == text, "a time survives printing: " + text);
}

void try_limit(std::string_view input) {
  const auto limit = parse_time_limit(input);
  if (!limit) return require_refusal(limit.error());
  require(!*limit || **limit > Seconds(0), "a time limit is positive");
  const auto again = parse_time_limit(format_time_limit(*limit));
  require(again && *again == *limit, "a time limit survives printing");
  if (*limit) require(!format_duration_short(**limit).empty(), "a duration has a short form");
}

void try_warning(std::string_view input) {
  const auto warning = parse_warning_signal(input);
  if (!warning) return require_refusal(warning.error());
  const auto again = parse_warning_signal(format_warning_signal(*warning));
  require(again && *again == *warning, "a warning signal survives printing");
}

void try_memory(std::string_view input) {
  const auto amount = parse_memory(input);
  if (!amount) return require_refusal(amount.error());
  require(amount->value() >= 0, "an amount of memory is not negative");
  const auto again = parse_memory(format_memory(*amount));
  require(again && *again == *amount, "an amount of memory survives printing");
  require(!format_memory_short(*amount).empty(), "an amount of memory has a short form");
}

void try_gpus(std::string_view input) {
  if (const auto cost = parse_gpu_cost(input); !cost) {
    require_refusal(cost.error());
  } else {
    const auto again = parse_gpu_cost(format_gpu_cost(*cost));
    require(again && *again == *cost, "a cost of GPUs survives printing");
  }
  if (const auto part = parse_gpu_part(input); !part) {
    require_refusal(part.error());
  } else {
    require(looks_like_part(input), "a part of a GPU looks like one");
    const auto again = parse_gpu_part(format_thousandths(*part));
    require(again && *again == *part, "a part of a GPU survives printing");
  }
}

}  // namespace

void try_input(std::string_view input) {
  set_time_zone();
  try_time(input, TimeOfDay::upcoming);
  try_time(input, TimeOfDay::today);
  try_limit(input);
  try_warning(input);
  try_memory(input);
  try_gpus(input);
}

}  // namespace ares::fuzz
