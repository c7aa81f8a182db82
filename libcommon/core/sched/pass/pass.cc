// The part of a pass that walks through the queue and decides which entries are to start.
#include "core/sched/pass/pass.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/place/shared_gpus.h"
#include "core/sched/queue/gang_admission.h"
#include "core/sched/queue/shown_priority.h"
#include "core/state/timers.h"

namespace ares::core {

using namespace sched;

namespace {

const char* const kThrottled = "as many tasks of the array run as it allows";

}  // namespace

Planner::Pass::Pass(Memory& memory, const ClusterState& state, const Policy& policy, Budget budget,
                    Time now, PassObserver* observer)
    : memory_(memory),
      state_(state),
      index_(memory.index),
      budget_(budget),
      now_(now),
      use_(state, policy, now, &memory.sums),
      service_order_(memory.queue.entries(), memory.ranking, index_),
      profile_(state, index_, memory.releases, now),
      licenses_(state, policy),
      planned_starts_(policy),
      work_(budget.units),
      preemptor_({state, policy, index_, profile_, licenses_, work_, now, use_}),
      resumer_({state, index_, profile_, now}),
      observer_(observer),
      starter_({state_, index_, memory.job_classes, memory.earliest_starts, service_order_,
                profile_, licenses_, planned_starts_, work_, plan_, memory.allocated, array_starts_,
                now, use_}) {
  use_.set_fair_share(
      [&memory](const JobSpec& spec) { return memory.ranking.fair_share_of(spec); });
  plan_.seen = state.lsn;
  plan_.budget = budget.units;
  plan_.config_hash = policy.config_hash;
}

Plan Planner::Pass::run() {
  const bool dropped = memory_.job_classes.begin_pass();
  if (dropped) {
    memory_.earliest_starts.clear();
    memory_.queue.forget_job_classes();
  }
  pass_ = memory_.job_classes.pass();
  serve_claims();
  while (Queued* queued = next()) {
    if (observer_ && observer_->done()) break;
    if (resumer_.any_left() && queued->entry.partition)
      resume_suspended(queued->entry.partition->tier);
    consider(*queued);
  }
  resume_suspended(std::numeric_limits<std::int32_t>::min());
  for (const JobKey& key : preempt_order_) preempt_late(key);
  estimate();
  publish_choices();
  if (const auto change = preemptor_.wake()) plan_.wake_by(*change);
  plan_.pending = memory_.reasons;
  if (const auto change = index_.reservations().next_change(now_)) plan_.wake_by(*change);
  if (const auto change = memory_.ranking.changes_at(); change && !memory_.queue.empty())
    plan_.wake_by(*change);
  return std::move(plan_);
}

bool Planner::Pass::keeps_waiting(const JobClass& job_class, std::optional<Seconds> limit) const {
  return job_class.skip_in_pass == pass_ && job_class.known_blocked(limit);
}

Queued* Planner::Pass::next() {
  if (!work_.exhausted() && !observer_ && !resumer_.any_left()) {
    const std::vector<Waiting>& waiting = memory_.queue.waiting();
    service_order_.skip([&](std::size_t at) {
      const auto& [job_class, limit] = waiting[at];
      return job_class && keeps_waiting(*job_class, limit == Seconds::max() ? std::nullopt
                                                                            : std::optional(limit));
    });
  }
  return service_order_.next();
}

void Planner::Pass::consider(Queued& queued) {
  if (queued.waits && keeps_waiting(*queued.job_class, queued.limit) && !work_.exhausted() &&
      !observer_)
    return;
  if (already_served(queued)) return;
  const QueueEntry& entry = queued.entry;
  if (observer_ && observer_->observes(queued.entry.job->key))
    return observer_->on_job({entry, index_, profile_, licenses_, array_starts_, use_,
                              planned_starts_.closed(entry.partition, reservations_of(queued)),
                              work_.exhausted()});
  if (!queued.is_static) {
    if (waits_with_gang(*entry.job)) return consider_gang(queued);
    consider_with_checks(queued);
    return;
  }
  JobClass& job_class = job_class_of(queued, false);
  Refused refused = Refusal{};
  if (!planned_starts_.closed(entry.partition)) refused = start_one(queued, TaskIndex{}, job_class);
  if (refused) block(queued, job_class, *refused);
}

void Planner::Pass::serve_claims() {
  for (Preemptor::ClaimedStart& claimed : preemptor_.claimed_starts(array_starts_)) {
    const auto observed = [&](const Member& member) {
      return observer_ && observer_->observes(member.job().key);
    };
    if (std::none_of(claimed.members.begin(), claimed.members.end(), observed))
      serve_claim(claimed);
  }
}

void Planner::Pass::serve_claim(Preemptor::ClaimedStart& claimed) {
  for (Member& member : claimed.members) {
    const auto relaxed_at = relaxed_from(member.job());
    member.job_class =
        &memory_.job_classes.of(member.entry, index_, relaxed_at && *relaxed_at <= now_);
  }
  StartGroup group{claimed.members, memory_.ranking.rank_of(claimed.members.front().entry),
                   claimed.gang ? &*claimed.gang : nullptr};
  const std::vector<Member> as_claimed = claimed.members;
  const bool available = starter_.all_beside(group, [&](Member& member) {
    if (!preemptor_.is_available(member)) return false;
    name_free_devices(index_, member.placement);
    member.licenses = *licenses_.choose(member.spec());
    return true;
  });
  const Refused refused = available ? starter_.start_placed(group) : Refusal{};
  for (const Member& member : as_claimed) {
    const JobKey& key = member.job().key;
    if (!refused) {
      started_.insert(key);
      continue;
    }
    const PendingPtr info = std::make_shared<const PendingInfo>(preemptor_.enforce_claim(member));
    claim_reasons_[key] = refused->why ? refused->why : info;
    const TresByNode amounts = placed_amounts(member.placement, member.licenses, index_);
    use_.start(member.spec(), member.partition(), member.limit, &amounts);
  }
}

void Planner::Pass::resume_suspended(std::int32_t tier) {
  while (resumer_.due(tier)) {
    auto resumed = resumer_.next();
    if (!resumed) continue;
    for (const PlacedShare& share : resumed->placement) memory_.allocated.push_back(share.node);
    service_order_.add_allocated(*resumed->job->spec, resumed->placement);
    plan_.groups.push_back(std::move(resumed->group));
  }
}

bool Planner::Pass::already_served(Queued& queued) {
  const bool any_claim = !state_.preemption_claims.empty() || !claim_reasons_.empty();
  if (!any_claim && (queued.is_static || gangs_.empty())) return false;
  const Job& job = *queued.entry.job;
  if (const auto found = claim_reasons_.find(job.key); found != claim_reasons_.end()) {
    set_reason(queued, found->second);
    return true;
  }
  if (job.preemption_claim && started_.contains(job.key)) {
    clear_reason(queued);
    return true;
  }
  const auto turn = waits_with_gang(job) ? gangs_.find(job.gang) : gangs_.end();
  if (turn == gangs_.end()) return false;
  turn->second.seen.push_back(&queued);
  if (turn->second.reasons.empty())
    clear_reason(queued);
  else
    set_reason(queued, turn->second.reasons.at(job.key));
  return true;
}

bool Planner::Pass::preempt_for(Queued& queued, StartGroup& group) {
  const Job& job = *queued.entry.job;
  if (!preemptor_.can_preempt(queued.entry.partition) ||
      planned_starts_.closed(queued.entry.partition, reservations_of(queued)))
    return false;
  if (job.array && !group.gang) {
    const auto next = next_task_.find(job.key);
    if (next == next_task_.end() || next->second == job.array->waiting.end()) return false;
    group.members.front().task = TaskIndex{*next->second};
  }
  auto preemption = preemptor_.preempt(group);
  if (!preemption) return false;
  plan_.groups.push_back(std::move(preemption->group));
  std::vector<PendingPtr> reasons;
  for (PendingInfo& info : preemption->reasons)
    reasons.push_back(std::make_shared<const PendingInfo>(std::move(info)));
  if (!group.gang) claim_reasons_[job.key] = reasons.front();
  if (!queued.is_static && job.spec->partitions.size() > 1)
    choices_[job.key] = reasons.front();
  else
    set_reasons(queued, group, reasons);
  return true;
}

bool Planner::Pass::preempt_late(const JobKey& key) {
  const auto found = preempt_later_.find(key);
  if (found == preempt_later_.end()) return false;
  const std::vector<Queued*> choices = std::move(found->second);
  preempt_later_.erase(found);
  if (started_.contains(key) || claim_reasons_.contains(key)) return false;
  return std::any_of(choices.begin(), choices.end(), [&](Queued* queued) {
    Member member = member_of(*queued, key.task, *queued->job_class);
    StartGroup group{{&member, 1}, queued->rank};
    return preempt_for(*queued, group);
  });
}

JobClass& Planner::Pass::job_class_of(Queued& queued, bool relaxed) {
  if (queued.job_class && queued.job_class->relaxed != relaxed) queued.job_class = nullptr;
  JobClass& job_class = queued.job_class ? memory_.job_classes.refresh(*queued.job_class, index_)
                                         : memory_.job_classes.of(queued.entry, index_, relaxed);
  queued.job_class = &job_class;
  return job_class;
}

void Planner::Pass::consider_gang(Queued& queued) {
  GangTurn& turn = gangs_[queued.entry.job->gang];
  turn.seen.push_back(&queued);
  if (!admit_gang(queued, turn)) return;
  StartGroup group{turn.members, queued.rank, &turn.gang};
  Refused refused = starter_.refusal_by_request(group);
  if (!refused)
    refused = planned_starts_.closed(queued.entry.partition, reservations_of(queued))
                  ? Refusal{}
                  : starter_.try_start(group);
  if (refused) return block(queued, group, *refused);
  turn.reasons.clear();
  clear_reason(queued);
}

bool Planner::Pass::admit_gang(Queued& queued, GangTurn& turn) {
  GangAdmissionStatus admission = sched::admit_gang(state_, use_, *queued.entry.job, now_);
  if (admission.wake) plan_.wake_by(*admission.wake);
  const bool limited = !admission.refused.empty() && waits_for_limits(admission);
  turn.gang = std::move(admission.gang);
  for (auto& [key, info] : admission.refused)
    turn.reasons[key] = std::make_shared<const PendingInfo>(std::move(info));
  const bool admitted = admission.refused.empty();
  if (!admitted) set_reason(queued, turn.reasons.at(queued.entry.job->key));
  if (!admitted && !limited) return false;
  turn.members = members_of(turn.gang, state_);
  for (Member& member : turn.members) {
    const auto relaxed_at = relaxed_from(member.job());
    const bool relaxed = relaxed_at && *relaxed_at <= now_;
    if (relaxed_at && !relaxed) plan_.wake_by(*relaxed_at);
    member.job_class = &memory_.job_classes.of(member.entry, index_, relaxed);
    member.limit = limit_at(state_, member.job(), member.partition(), now_);
  }
  if (limited) starter_.set_aside_headroom({turn.members, queued.rank, &turn.gang}, std::nullopt);
  return admitted;
}

void Planner::Pass::consider_with_checks(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  if (!may_start(queued)) return;
  const auto relaxed_at = relaxed_from(*entry.job);
  const bool relaxed = relaxed_at && *relaxed_at <= now_;
  JobClass& job_class = job_class_of(queued, relaxed);
  Refused refused = Refusal{};
  if (!planned_starts_.closed(entry.partition, reservations_of(queued)))
    refused = entry.job->array ? start_tasks(queued, job_class)
                               : start_one(queued, entry.job->key.task, job_class);
  if (!refused) return;
  if (relaxed_at && !relaxed) plan_.wake_by(*relaxed_at);
  block(queued, job_class, *refused);
}

bool Planner::Pass::may_start(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  if (started_.contains(entry.job->key)) return false;
  const Admission admission = admit(state_, use_, entry, array_starts_, now_);
  if (admission.wake) plan_.wake_by(*admission.wake);
  if (admission.refused) {
    if (admission.refused->reason == Reason::limit && !admission.wake) keep_limits(queued);
    set_reason(queued, std::make_shared<const PendingInfo>(*admission.refused));
    return false;
  }
  if (!licenses_.choose(*entry.job->spec)) {
    set_reason(queued, make_info(Reason::licenses, licenses_.explain(*entry.job->spec)));
    return false;
  }
  return true;
}

void Planner::Pass::keep_limits(Queued& queued) {
  const QueueEntry& entry = queued.entry;
  const Job& job = *entry.job;
  // The cheap checks come first.
  if (!use_.may_set_aside({{job.spec.get(), entry.partition, limit_now(queued)}}) ||
      !licenses_.choose(*job.spec) || work_.exhausted() ||
      all_refusals(state_, use_, entry, array_starts_, now_).size() > 1)
    return;
  const auto relaxed_at = relaxed_from(job);
  JobClass& job_class = job_class_of(queued, relaxed_at && *relaxed_at <= now_);
  Member member = member_of(queued, job.key.task, job_class);
  starter_.set_aside_headroom({{&member, 1}, queued.rank}, std::nullopt);
}

Planner::Pass::Refused Planner::Pass::start_tasks(Queued& queued, JobClass& job_class) {
  const Job& job = *queued.entry.job;
  const std::uint32_t allowed = throttle_allowance(state_, job, array_starts_);
  const IntervalSet& waiting = job.array->waiting;
  IntervalSet::Iterator& next = next_task_.try_emplace(job.key, waiting.begin()).first->second;
  for (std::uint32_t count = 0; next != waiting.end(); ++count) {
    if (count == allowed) return Refusal{make_info(Reason::job_array_task_limit, kThrottled)};
    if (Refused refused = start_one(queued, TaskIndex{*next}, job_class)) return refused;
    if (++next != waiting.end() && service_order_.defer_current()) return std::nullopt;
  }
  clear_reason(queued);
  return std::nullopt;
}

Planner::Pass::Refused Planner::Pass::start_one(Queued& queued, TaskIndex task,
                                                JobClass& job_class) {
  // The record of a job that keeps waiting is not read at all.
  if (queued.is_static && starter_.is_blocked(job_class, queued.limit)) return Refusal{};
  Member member = member_of(queued, task, job_class);
  StartGroup group{{&member, 1}, queued.rank};
  if (Refused refused = starter_.try_start(group)) return refused;
  if (!queued.entry.job->array) {
    started_.insert(queued.entry.job->key);
    clear_reason(queued);
  }
  return std::nullopt;
}

Member Planner::Pass::member_of(const Queued& queued, TaskIndex task, JobClass& job_class) const {
  return {queued.entry, task, &job_class, limit_now(queued)};
}

std::optional<Seconds> Planner::Pass::limit_now(const Queued& queued) const {
  if (queued.is_static) return queued.limit;
  return limit_at(state_, *queued.entry.job, queued.limit, now_);
}

}  // namespace ares::core
