// Totals for relative limits: a QOS with the flag Relative has limits in percent of what the
// cluster has, or, as a partition's QOS, of what the partition has. Counted from the state on first
// use. Lives for one pass or one decision; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

class ClusterTotals {
 public:
  // Both must outlive it.
  ClusterTotals(const ClusterState& state, const Policy& policy) : state_(state), policy_(policy) {}
  ClusterTotals(const ClusterTotals&) = delete;
  ClusterTotals& operator=(const ClusterTotals&) = delete;

  // The amount of the partition, or of the cluster if it is empty, for nodes in any state, in units
  // of limits (thousandths of GPUs, MiB); licences of the site. A first call is O(nodes).
  std::uint64_t of(const std::string& partition, std::string_view tres);

 private:
  using Amounts = std::map<std::string, std::uint64_t, std::less<>>;
  const Amounts& amounts_of(const std::string& partition);

  const ClusterState& state_;
  const Policy& policy_;
  std::map<std::string, Amounts> known_;
};

}  // namespace ares::core
