// GPUs that may be had in one of several ways: --gres='gpu:h100:4|gpu:a100:8@1.5'. A job gets one of them, the same on all its nodes.
// Pure functions; any thread.
//
// Which one: a start at T counts as T + cost × time limit, as if an hour there were worth `cost` hours, and the smallest wins; of equals
// the one that the user named first. Where all cost the same that is whatever starts first. A job without a time limit takes the
// cheapest that it can ever have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job/job.h"

namespace ares {

inline constexpr std::size_t kMaxGpuAlternatives = 8;
inline constexpr std::uint32_t kPlainCost = 1000;  // thousandths
inline constexpr std::uint32_t kMaxGpuCost = 1'000'000;

// The list that the alternatives are of.
constexpr std::vector<GpuRequest> JobSpec::*gpu_list(GpusPer per) {
  switch (per) {
    case GpusPer::node: return &JobSpec::gpus_per_node;
    case GpusPer::job: return &JobSpec::gpus_total;
    case GpusPer::task: return &JobSpec::gpus_per_task;
  }
  return &JobSpec::gpus_per_node;
}

// The job as if the user had asked for that alternative alone. Precondition: there is one of that number.
JobSpec with_alternative(const JobSpec& spec, std::size_t number);

// Whether a start then, at that cost, counts as less than another, for a job of that limit (none = unlimited).
struct CostlyStart {
  Time at{};
  std::uint32_t cost = kPlainCost;
};
bool counts_less(const CostlyStart& a, const CostlyStart& b, std::optional<Seconds> limit);

// "1.5" is 1500. invalid_argument unless it is above 0, at most 1000 and has no more than three decimals.
Result<std::uint32_t> parse_gpu_cost(std::string_view text);
std::string format_gpu_cost(std::uint32_t cost);

// "h100:4,a100:2", "h100:0.5"; "2 of any one type" is "2".
std::string to_text(const std::vector<GpuRequest>& gpus);

}  // namespace ares
