// How areport prints TRES-seconds: in minutes, hours, or per cent of the capacity.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ares::areport {

struct Unit {
  std::string_view name;   // "Hours"
  std::int64_t seconds;    // of one; 0 = the amount itself is not printed
  bool percent;            // print the share of the capacity, after the amount if both are printed
  std::string_view title;  // "CPU Hours" without the first word
};

std::span<const Unit> units();

// By name in any case, or the first unit above that begins with the text ("h" is Hours).
Result<const Unit*> parse_unit(const std::string& text);

// Counted units per unit of a TRES: 1000 for GPUs, because jobs may use parts of one, else 1.
std::int64_t unit_scale(std::string_view tres);

// Amounts in units of `length`, each rounded down or up so that they add up to their rounded sum.
std::vector<std::int64_t> rounded_parts(const std::vector<std::int64_t>& amounts,
                                        std::int64_t length);

// `shown`: the amount in the unit, as it is rounded.
std::string amount_text(std::int64_t shown, std::int64_t seconds, std::int64_t capacity,
                        const Unit& unit);

// Rounded to the nearest, halves up. Amounts are TRES-seconds times `one`; of 0 it is "0.00%".
std::string amount_text(std::int64_t seconds, std::int64_t capacity, const Unit& unit,
                        std::int64_t one = 1);

// "12.34%"
std::string percent_text(std::int64_t part, std::int64_t capacity);

}  // namespace ares::areport
