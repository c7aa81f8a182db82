// Held resources and submitted jobs by account, user, QOS and partition, as limits count them.
// Computed from the job records alone. Owned by ClusterState; values. Any thread may read.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/job/job.h"

namespace ares {

struct UsageKey {
  std::string account;
  std::string user;
  std::string qos;        // never empty: jobs without a QOS count under `normal`
  std::string partition;  // of the allocation; for a pending job the first it requests
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

struct CurrentUsage {
  std::uint64_t submitted = 0;   // pending and running jobs; of an array, its tasks
  std::uint64_t running = 0;     // jobs that hold resources
  std::uint64_t accruing = 0;    // pending jobs that gain age; a pending array counts once
  std::vector<TresAmount> tres;  // held resources, ascending by name, no zero entries
  bool empty() const { return submitted == 0; }
  friend bool operator==(const CurrentUsage&, const CurrentUsage&) = default;
};

UsageKey usage_key_of(const Job& job);
// The contribution of one record. An array's own record counts for its tasks without a record.
CurrentUsage current_usage_of(const Job& job);
// All resources of an allocation: cpu, mem, node, gres/gpu, gres/gpu:TYPE, license/NAME, billing.
std::vector<TresAmount> tres_of(const Allocation& allocation);
// Its CPUs exactly; `cpu` of tres_of() counts them rounded up on each node. Accounting keeps them under this name where they differ.
std::uint64_t cpu_thousandths_held(const Allocation& allocation);
inline constexpr std::string_view kCpuThousandths = "cpu_thousandths";

// For lists ascending by name; zero entries are removed. Subtract only what was added before.
void add_tres(std::vector<TresAmount>& to, const std::vector<TresAmount>& more);
void subtract_tres(std::vector<TresAmount>& from, const std::vector<TresAmount>& less);
std::uint64_t amount_in(const std::vector<TresAmount>& list, std::string_view tres);

}  // namespace ares
