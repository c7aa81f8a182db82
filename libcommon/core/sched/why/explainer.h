// Explainer: why pending jobs wait, with numbers, for `aqueue` and `actl show job`; why.h tells more, of one job.
#pragma once

#include <cstddef>
#include <memory>

#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Why pending jobs wait, with numbers, as of one state. The first answer, and the first for each kind of job, cost a look at every
// node; others are found again. State and policy must outlive it. One thread.
class Explainer {
 public:
  Explainer(const ClusterState& state, const Policy& policy);
  ~Explainer();
  // Precondition: the job is pending in the state.
  PendingInfo explain(const Job& job, Time now);
  // How many kinds of jobs it has looked at.
  std::size_t kinds() const;

 private:
  struct Memory;
  const ClusterState& state_;
  const Policy& policy_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace ares::core
