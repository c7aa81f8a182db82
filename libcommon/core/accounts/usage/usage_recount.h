// Reckoning: usage made anew from attempts, whose sums are held against what is kept. Single-threaded; pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/accounts/usage/charge.h"

namespace ares::core {

// A sum that is not kept as it was reckoned, in TRES-seconds as of the time it was reckoned for.
struct UsageDifference {
  std::string whose;  // "user ada in account physics", "QOS normal"
  std::string tres;
  double stored = 0, recounted = 0;
};

class UsageRecount {
 public:
  // What is kept, and as of when all is reckoned: `at` is later than all that is added. `kept` is read until the end.
  UsageRecount(const ClusterState& state, const Fairness& rules, Time at);

  // One that counts, in any order. `account`: that it was charged to.
  void add(const std::string& account, const PastAttempt& attempt);

  struct Outcome {
    std::vector<UsageDifference> differences;  // the largest first
    std::vector<UsageCorrection> corrections;  // that do away with them
    std::uint64_t sums = 0;                    // that were compared
  };
  // Those of accounts themselves are compared only all together where some that were charged are gone: nobody knows what was above
  // them. Such a difference has no correction.
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
