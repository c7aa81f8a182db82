// Recount: usage computed anew from attempts and compared with what is stored. One thread; pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/accounts/usage/charge.h"

namespace ares::core {

// A stored sum that differs from the recount; in TRES-seconds, as of the time of the recount.
struct UsageDifference {
  std::string whose;  // "user ada in account physics", "QOS normal"
  std::string tres;
  double stored = 0, recounted = 0;
};

class UsageRecount {
 public:
  // `at`: the time of the comparison, later than all attempts. `state` and `rules` must outlive it.
  UsageRecount(const ClusterState& state, const Fairness& rules, Time at);

  // Adds an attempt; in any order. `account`: the one that was charged.
  void add(const std::string& account, const PastAttempt& attempt);

  struct Outcome {
    std::vector<UsageDifference> differences;  // the largest first
    std::vector<UsageCorrection> corrections;  // that remove them
    std::uint64_t sums = 0;                    // that were compared
  };
  // Usage of accounts themselves is compared only in total if one that was charged is gone, because
  // its parent is unknown. Such a difference has no correction.
  Outcome compare() const;

 private:
  using Sums = std::map<std::string, fairness::Amount>;
  struct UsageOwner {
    std::string name;
    Seconds half_life{};
    Time since{};
    bool account_itself = false;
  };

  AssociationId payer(const std::string& account, const ChargedTo& charged);

  const ClusterState& state_;
  const Fairness& rules_;
  Time at_;
  std::map<AssociationId, UsageOwner> owners_;
  std::map<AssociationId, Sums> sums_;
  bool accounts_gone_ = false;
};

}  // namespace ares::core
