#include "areport/units.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>

#include "base/printable.h"
#include "cli/output/text.h"
#include "model/job/whole_gpu.h"

namespace ares::areport {
namespace {

constexpr std::array<Unit, 7> kUnits = {{
    {"Seconds", 1, false, "Seconds"},
    {"Minutes", 60, false, "Minutes"},
    {"Hours", 3600, false, "Hours"},
    {"Percent", 0, true, "Percent of what there was"},
    {"SecPer", 1, true, "Seconds (percent of what there was)"},
    {"MinPer", 60, true, "Minutes (percent of what there was)"},
    {"HourPer", 3600, true, "Hours (percent of what there was)"},
}};

std::int64_t rounded(std::int64_t amount, std::int64_t length) {
  return amount / length + (length > 1 && amount % length * 2 >= length ? 1 : 0);
}

}  // namespace

std::span<const Unit> units() {
  return kUnits;
}

Result<const Unit*> parse_unit(const std::string& text) {
  const std::string wanted = cli::lower(text);
  std::string all;
  for (const Unit& unit : kUnits) {
    all += (all.empty() ? "" : ", ") + std::string(unit.name);
    if (!wanted.empty() && cli::lower(unit.name).starts_with(wanted)) return &unit;
  }
  return fail(ErrorCode::invalid_argument, "unknown unit " + quote(text) + ": there is " + all);
}

std::string percent_text(std::int64_t part, std::int64_t capacity) {
  const double share =
      capacity > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(capacity) : 0.0;
  char text[48];
  std::snprintf(text, sizeof text, "%.2f%%", share);
  return text;
}

std::int64_t unit_scale(std::string_view tres) {
  return tres == "gres/gpu" || tres.starts_with("gres/gpu:") ? kWholeGpu : 1;
}

std::vector<std::int64_t> rounded_parts(const std::vector<std::int64_t>& amounts,
                                        std::int64_t length) {
  std::vector<std::int64_t> parts;
  std::int64_t sum = 0, below = 0;
  for (const std::int64_t amount : amounts) {
    parts.push_back(amount / length);
    sum += amount;
    below += parts.back();
  }
  // What is missing goes to those that lost most.
  std::vector<std::size_t> order(amounts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return amounts[a] % length > amounts[b] % length;
  });
  std::int64_t missing = rounded(sum, length) - below;
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing) ++parts[order[i]];
  return parts;
}

std::string amount_text(std::int64_t shown, std::int64_t seconds, std::int64_t capacity,
                        const Unit& unit) {
  if (unit.seconds == 0) return percent_text(seconds, capacity);
  std::string text = std::to_string(shown);
  if (unit.percent) text += "(" + percent_text(seconds, capacity) + ")";
  return text;
}

std::string amount_text(std::int64_t seconds, std::int64_t capacity, const Unit& unit,
                        std::int64_t one) {
  if (unit.seconds == 0) return percent_text(seconds, capacity);
  return amount_text(rounded(seconds, unit.seconds * one), seconds, capacity, unit);
}

}  // namespace ares::areport
