// What jobs hold and have waiting, counted by whom and as what they run: what limits on counts and sums are held against.
// A function of the jobs' own records. Owned by ClusterState; values. Any thread may read.
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
  std::string qos;        // never empty: whoever names none runs as `normal`
  std::string partition;  // of the allocation; of a waiting job, the first that it asks for
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};

struct CurrentUsage {
  std::uint64_t submitted = 0;   // jobs that wait or run; of an array, its tasks
  std::uint64_t running = 0;     // that hold resources
  std::uint64_t accruing = 0;    // that wait and were let gain age; an array that waits is one
  std::vector<TresAmount> tres;  // what those hold, ascending by name; none is 0
  bool empty() const { return submitted == 0; }
  friend bool operator==(const CurrentUsage&, const CurrentUsage&) = default;
};

UsageKey usage_key_of(const Job& job);
// What that record counts for; an array's own record, its tasks that have none yet.
CurrentUsage current_usage_of(const Job& job);
// All that an allocation holds: cpu, mem, node, gres/gpu, gres/gpu:TYPE, license/NAME, billing.
std::vector<TresAmount> tres_of(const Allocation& allocation);

// Adds to a list that is ascending by name, and takes out what comes to nothing. Precondition of subtracting: it was added.
void add_tres(std::vector<TresAmount>& to, const std::vector<TresAmount>& more);
void subtract_tres(std::vector<TresAmount>& from, const std::vector<TresAmount>& less);
std::uint64_t amount_in(const std::vector<TresAmount>& list, std::string_view tres);

}  // namespace ares
