#include "model/job/gpu_alternatives.h"

#include <algorithm>
#include <tuple>

#include "base/printable.h"
#include "base/saturating.h"
#include "model/job/gpu_part.h"

namespace ares {
namespace {

// Longer limits count as 50 years, so that limit × largest cost in microseconds fits into 64 bits.
constexpr Seconds kLongest = std::chrono::hours(24 * 365 * 50);

std::optional<std::uint32_t> digits(std::string_view text) {
  if (text.empty() || text.size() > 7) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return value;
}

}  // namespace

JobSpec with_alternative(const JobSpec& spec, std::size_t number) {
  JobSpec one = spec;
  one.*gpu_list(spec.alternatives_per) = spec.gpu_alternatives[number].gpus;
  one.gpu_alternatives.clear();
  one.alternatives_per = GpusPer::node;
  return one;
}

bool counts_less(const CostlyStart& a, const CostlyStart& b, std::optional<Seconds> limit) {
  if (!limit) return std::tie(a.cost, a.at) < std::tie(b.cost, b.at);
  // One second times a cost of one thousandth is one millisecond.
  const std::int64_t dearer = std::int64_t{b.cost} - std::int64_t{a.cost};
  const Duration allowed(std::min(*limit, kLongest).count() * dearer * (1'000'000 / kPlainCost));
  return a.at - b.at < allowed;
}

Result<std::uint32_t> parse_gpu_cost(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = digits(text.substr(0, point));
  std::string part(point < text.size() ? text.substr(point + 1) : "0");
  const bool short_enough = part.size() <= 3;
  part.resize(3, '0');
  const auto thousandths = digits(part);
  const bool good = whole && thousandths && short_enough && *whole <= kMaxGpuCost / kPlainCost &&
                    point + 1 != text.size();
  const std::uint32_t cost = good ? *whole * kPlainCost + *thousandths : 0;
  if (cost > 0 && cost <= kMaxGpuCost) return cost;
  return fail(
      ErrorCode::invalid_argument,
      quote(text) +
          " is no cost: write what an hour there counts as, such as 1.5 (above 0, at most " +
          format_gpu_cost(kMaxGpuCost) + ", three decimals)");
}

std::string format_gpu_cost(std::uint32_t cost) {
  return format_thousandths(cost);
}

std::string to_text(const std::vector<GpuRequest>& gpus) {
  std::string text;
  for (const GpuRequest& gpu : gpus)
    text += (text.empty() ? "" : ",") + (gpu.type.empty() ? "" : gpu.type + ":") +
            format_thousandths(thousandths_of(gpu));
  return text;
}

}  // namespace ares
