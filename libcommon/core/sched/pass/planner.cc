#include "core/sched/pass/plan.h"

#include <algorithm>
#include <utility>

#include "core/accounts/account_directory.h"
#include "core/accounts/usage/charge.h"
#include "core/sched/pass/pass.h"
#include "core/sched/queue/admit.h"

namespace ares::core {

using namespace sched;

namespace {

// Whether the accounting records on which plans depend are the same. Users and wckeys alone do not
// matter.
bool same_accounts(const Accounting& before, const Accounting& after) {
  bool same = true;
  Accounting::diff(before, after, [&](const RecordKey& key, const auto*, const auto*) {
    same = same && (key.kind == RecordKind::user || key.kind == RecordKind::wckey);
  });
  return same;
}

}  // namespace

void Planner::Memory::look_at_ages(const Policy& policy, Time now, Plan& plan) {
  if (!ages.any()) return;
  const Time moment = accrual_time(policy, now);
  if (std::exchange(ages_seen, moment) != moment)
    plan.accruing = new_accruals(seen, policy, ages, now, &sums);
  if (queue.entries().empty()) return;
  const Time next = accrual_time(policy, now) + std::max(rules_of(policy).calc_period, Seconds(1));
  plan.wake_by(next);
}

Planner::Planner() = default;
Planner::~Planner() = default;

Plan Planner::plan(const ClusterState& state, const Policy& policy, Budget budget, Time now,
                   PassObserver* observer) {
  const bool usable = memory_ && memory_->networks == policy.networks &&
                      memory_->plugins == policy.plugins && memory_->ranking.is_of(policy) &&
                      memory_->seen.partitions.shares_all_with(state.partitions) &&
                      same_accounts(memory_->seen.accounting, state.accounting) &&
                      memory_->seen.reservations.shares_all_with(state.reservations) &&
                      memory_->index.update(memory_->seen, state, memory_->allocated);
  if (usable) {
    memory_->releases.update(memory_->seen, state, memory_->index);
    memory_->queue.update(memory_->seen, state, memory_->ranking,
                          [&](const JobKey& key) { memory_->reasons.erase(key); });
    if (memory_->ranking.update(memory_->seen, state, memory_->index, now))
      memory_->queue.rank_again(memory_->ranking);
    if (memory_->uses_workload) memory_->workload.update(memory_->seen, state, memory_->index);
    memory_->seen = state;
    memory_->allocated.clear();
  } else {
    memory_ = std::make_unique<Memory>(state, policy, now);
  }
  Plan plan = Pass(*memory_, memory_->seen, policy, budget, now, observer).run();
  memory_->look_at_ages(policy, now, plan);
  // Reasons in the records themselves are repeated only for callers that request all details.
  if (budget.details)
    state.pending.for_each([&](const JobKey& key, Lsn) {
      const Job* job = state.jobs.find(key);
      if (auto why = job ? blocked_by_record(*job) : std::nullopt)
        plan.pending.set(key, *std::move(why));
    });
  return plan;
}

Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now) {
  return Planner().plan(state, policy, budget, now);
}

}  // namespace ares::core
