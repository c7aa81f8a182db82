// StartChecks: whether a start that a plan proposes still holds: for the job, for its limits and
// reservations, and for what each node has free beside the starts taken before. Lives for the check
// of one plan, on the engine thread; changes nothing.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "core/accounts/limits/limit_use.h"
#include "core/job/decide/decision_context.h"
#include "core/job/decide/plan/plan_claims.h"
#include "core/topology/restricted_cpus.h"

namespace ares::core {

using AttemptSet = std::set<AttemptKey>;  // attempts that are preempted

class StartChecks {
 public:
  // All must outlive it. `use` and `claims`: including what was taken of the plan.
  StartChecks(const DecisionContext& q, PlanClaims& claims, LimitUse& use)
      : q_(q), claims_(claims), use_(use) {}

  // The plan is a moment old, so a little less time may be left until the deadline.
  std::optional<Seconds> limit_of(const Job& job, const Start& start) const;
  bool may_start(const Job& job) const;
  bool is_within_bounds(const Job& job, const Start& start) const;
  // Whether the partition may have so many CPUs of the node for its jobs.
  bool within_cpu_share(const Start& start, const NodeShare& share);
  // Whether the node takes one more attempt than it has and the plan has started there.
  bool within_attempts(const NodeShare& share);
  // A job without GPUs gets none of the CPUs that a node keeps for jobs with GPUs.
  bool leaves_restricted(const JobSpec& spec, const Start& start, const NodeShare& share);
  // By accounts and limits.
  bool is_eligible(const Job& job, const Start& start);
  bool respects_reservations(const Job& job, const Start& start) const;
  // Beside `others`. `gone`: victims. They and ending attempts do not count; a suspended one gives
  // only its CPUs.
  bool fits(const Job& job, const Start& start, const NodeShare& share,
            const std::vector<PlanClaims::Share>& others, const AttemptSet* gone = nullptr) const;

 private:
  // Whether the node has so much temporary storage left beside `others`, without the charges for which
  // `stays` is false.
  template <class Stays>
  static bool has_tmp_disk(const Node& node, const JobSpec& spec,
                           const std::vector<PlanClaims::Share>& others, const Stays& stays);
  bool will_be_suspended(const Charge& charge) const;
  bool is_ending(const Charge& charge) const;

  const DecisionContext& q_;
  PlanClaims& claims_;
  LimitUse& use_;
  topology::Machines machines_;
  topology::CpuLayouts layouts_;
};

}  // namespace ares::core
