// How areport prints TRES-seconds: in minutes, hours, per cent of what there was.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ares::areport {

struct Unit {
  std::string_view name;   // "Hours"
  std::int64_t seconds;    // of one; 0 = the amount itself is not printed
  bool percent;            // print the share of the whole, behind the amount if that is printed
  std::string_view title;  // "CPU Hours" less the first word
};

std::span<const Unit> units();

// By name in any case, or its beginning: the first of those above that begins so ("h" is Hours).
Result<const Unit*> parse_unit(const std::string& text);

// GPUs come in thousandths: jobs may have parts of one. How much of an amount is one of that TRES: 1000 or 1.
std::int64_t unit_scale(std::string_view tres);

// Rounded to the nearest, halves up. Both amounts in TRES-seconds times `one`; shares of nothing are "0.00%".
std::string amount_text(std::int64_t seconds, std::int64_t capacity, const Unit& unit,
                        std::int64_t one = 1);

// "12.34%"
std::string percent_text(std::int64_t part, std::int64_t capacity);

}  // namespace ares::areport
