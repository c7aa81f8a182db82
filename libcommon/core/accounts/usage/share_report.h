// Shares and usage of accounts and users, as `ashare` prints them. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

struct ShareLine {
  std::string account;
  std::string user;                     // empty: the account itself
  std::uint32_t depth = 0;              // the root's is 0
  std::optional<std::uint32_t> shares;  // none: as much as the parent
  double norm_shares = 0;               // of the whole
  double usage = 0;       // billed TRES-seconds, decayed until now; running jobs included
  double norm_usage = 0;  // of the whole
  double effective_usage =
      0;  // Fair Tree: of the parent's; classic: the effective usage of that formula
  std::optional<double> level;   // Fair Tree: shares by usage among siblings
  bool endless = false;          // it is infinite: nothing used, or shares of the parent
  std::optional<double> factor;  // of users, 0 to 1
};

// The whole tree, each account before those below it. From the accounting records, or if there are
// none from the tree of the configuration. O(accounts + jobs in memory).
std::vector<ShareLine> share_report(const ClusterState& state, const Policy& policy, Time now);

}  // namespace ares::core
