// Explainer: the reasons of pending jobs with numbers, for `aqueue` and `actl show job`.
// explain_job() in explanation.h explains one job in more detail.
#pragma once

#include <cstddef>
#include <memory>

#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/policy/policy.h"

namespace ares::core {

// Explains why jobs wait, as of one state. The first call, and the first call for each job class,
// read every node; later results are cached. The state and the policy must outlive the object. One
// thread.
class Explainer {
 public:
  Explainer(const ClusterState& state, const Policy& policy);
  ~Explainer();
  // Precondition: the job is pending in the state.
  PendingInfo explain(const Job& job, Time now);
  // Number of job classes that were examined.
  std::size_t kinds() const;

 private:
  struct Memory;
  const ClusterState& state_;
  const Policy& policy_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace ares::core
