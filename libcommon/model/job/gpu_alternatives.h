// Alternative GPU requests: --gres='gpu:h100:4|gpu:a100:8@1.5'. A job gets one of them, the same on
// all its nodes. Pure functions; any thread.
//
// Choice: a start at time T counts as T + cost × time limit, and the smallest value wins. Equal
// values are decided by the user's order. With equal costs the alternative that starts first wins.
// A job without a time limit gets the cheapest alternative that the cluster can ever provide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/boxed_vector.h"
#include "base/result.h"
#include "base/time.h"
#include "model/job/job.h"

namespace ares {

inline constexpr std::size_t kMaxGpuAlternatives = 8;
inline constexpr std::uint32_t kPlainCost = 1000;  // thousandths
inline constexpr std::uint32_t kMaxGpuCost = 1'000'000;

// The list of JobSpec that the alternatives replace.
constexpr BoxedVector<GpuRequest> JobSpec::*gpu_list(GpusPer per) {
  switch (per) {
    case GpusPer::node: return &JobSpec::gpus_per_node;
    case GpusPer::job: return &JobSpec::gpus_total;
    case GpusPer::task: return &JobSpec::gpus_per_task;
  }
  return &JobSpec::gpus_per_node;
}

// The specification with alternative `number` as its only request. Precondition: that one exists.
JobSpec with_alternative(const JobSpec& spec, std::size_t number);

// Whether start `a` counts as less than `b` for a job with that time limit (none = unlimited).
struct CostlyStart {
  Time at{};
  std::uint32_t cost = kPlainCost;
};
bool counts_less(const CostlyStart& a, const CostlyStart& b, std::optional<Seconds> limit);

// "1.5" is 1500. invalid_argument unless it is above 0, at most 1000 and has no more than three decimals.
Result<std::uint32_t> parse_gpu_cost(std::string_view text);
std::string format_gpu_cost(std::uint32_t cost);

// "h100:4,a100:2", "h100:0.5"; two GPUs of any one type are "2".
std::string to_text(const std::vector<GpuRequest>& gpus);

}  // namespace ares
