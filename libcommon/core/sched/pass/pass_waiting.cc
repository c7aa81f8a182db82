// The part of a pass that sets reasons and planned starts of jobs that cannot start.
#include "core/sched/pass/pass.h"

#include <algorithm>
#include <utility>

#include "core/accounts/limits/planned_start_threshold.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/reason_text.h"
#include "core/sched/time/late_nodes.h"

namespace ares::core {

using namespace sched;

void Planner::Pass::clear_reason(Queued& queued) {
  memory_.reasons.erase(queued.entry.job->key);
  choices_.erase(queued.entry.job->key);
  queued.reason.reset();
  update_waiting(queued);
}

const PlannedStartLedger::Reservations& Planner::Pass::reservations_of(const Queued& queued) {
  static const PlannedStartLedger::Reservations kNone;
  return queued.is_static ? kNone : queued.entry.job->spec->reservations;
}

void Planner::Pass::block(Queued& queued, JobClass& job_class) {
  const QueueEntry& entry = queued.entry;
  // It delays no other job.
  if (refusal_) return set_reason(queued, std::exchange(refusal_, nullptr));
  if (!work_.exhausted()) {
    if (PendingPtr why = memory_.job_classes.impossible(job_class, index_, budget_.details)) {
      set_reason(queued, std::move(why));
      return;
    }
  }
  if (preemptor_.can_preempt(entry.partition) && !work_.exhausted()) {
    if (!queued.is_static && entry.job->spec->partitions.size() > 1)
      preempt_later_.push_back(&queued);
    else if (preempt_for(queued, job_class))
      return;
  }
  if (!queued.may_have_planned_start())
    return set_reason(queued, reason_without_planned_start(queued, job_class));
  const PlannedStartLedger::Reservations& reservations = reservations_of(queued);
  const bool first = planned_starts_.add_waiting(entry.partition, reservations);
  const bool last_choice =
      queued.is_static || entry.choice + 1 == entry.job->spec->partitions.size();
  if (work_.exhausted()) {
    set_reason(queued, make_info(first ? Reason::resources : Reason::priority,
                                 "not looked at in this pass: its budget was spent"));
    return;
  }
  // A job of several partitions waits in its last one, because it may still start there.
  if (last_choice && planned_starts_.take(entry.partition, reservations)) {
    bool planned = false;
    set_reason(queued, plan_start(*waiting_reason(job_class, first), queued, &planned));
    if (!planned && !work_.exhausted()) planned_starts_.release(entry.partition, reservations);
    return;
  }
  if (last_choice && blocked_.size() < budget_.estimates) blocked_.push_back(&queued);
  set_reason(queued, waiting_reason(job_class, first));
  if (planned_starts_.closed(entry.partition, reservations)) job_class.blocked = true;
  if (!budget_.details && blocked_.size() >= budget_.estimates &&
      planned_starts_.exhausted(entry.partition, reservations) &&
      !job_class.blocked_by_reservation && !job_class.blocked_by_plugin &&
      !preemptor_.can_preempt(entry.partition))
    job_class.skip_in_pass = pass_;
}

PendingPtr Planner::Pass::reason_without_planned_start(const Queued& queued, JobClass& job_class) {
  const QueueEntry& entry = queued.entry;
  PendingPtr text = waiting_reason(
      job_class, !planned_starts_.has_waiting(entry.partition, reservations_of(queued)));
  if (!budget_.details) return text;
  PendingInfo info = *text;
  info.detail += (info.detail.empty() ? "" : "; ") +
                 planned_start_threshold_text(state_.accounting, use_.enforce(), *entry.job->spec,
                                              *entry.partition);
  return std::make_shared<const PendingInfo>(std::move(info));
}

PendingPtr Planner::Pass::waiting_reason(JobClass& job_class, bool first) {
  for (JobClass* one : job_class.alternatives)
    if (one->blocked_by_plugin || (one->blocked_by_reservation && !one->blocked))
      return waiting_reason(*one, first);
  if (job_class.blocked_by_reservation && !job_class.blocked) {
    if (!job_class.reservation_reason)
      job_class.reservation_reason =
          make_info(Reason::reservation, explain_reserved(job_class, index_));
    return job_class.reservation_reason;
  }
  if (job_class.blocked_by_plugin) {
    if (!budget_.details) return memory_.plugin_reason;
    if (!job_class.plugin_reason)
      job_class.plugin_reason = make_info(Reason::plugin, explain_blocked(job_class, index_));
    return job_class.plugin_reason;
  }
  if (!budget_.details) return first ? memory_.first_reason : memory_.waiting_reason;
  PendingPtr& text = first ? job_class.first_reason : job_class.waiting_reason;
  if (!text)
    text =
        make_info(first ? Reason::resources : Reason::priority, explain_blocked(job_class, index_));
  return text;
}

PendingPtr Planner::Pass::plan_start(PendingInfo info, const Queued& queued, bool* planned) {
  const std::optional<Seconds> limit = queued.limit;
  const Partition* partition = queued.entry.partition;
  JobClass* chosen = queued.job_class;
  auto found = earliest_alternative(
      chosen, limit, [&](JobClass& one) { return find_earliest_start_of(queued, one, limit); });
  JobClass& job_class = *chosen;
  // What is only estimated keeps nothing from other jobs.
  if (found && planned)
    move_to_late_nodes(job_class.demand, limit, job_class.nodes(), index_, profile_, work_, *found);
  if (found && use_.active()) {
    // A job that would exceed a limit with this placement alone can never start with it.
    const TresByNode allocated_tres =
        placed_amounts(found->placement, certain_licenses(*queued.entry.job->spec), index_);
    if (auto over = use_.over_alone(*queued.entry.job->spec, *partition, limit, &allocated_tres)) {
      if (planned) *planned = false;
      PendingInfo refused{Reason::limit, std::move(over->text), std::nullopt, {}};
      refused.limit = std::move(over->name);
      return std::make_shared<const PendingInfo>(std::move(refused));
    }
    const Job& job = *queued.entry.job;
    use_.set_aside_headroom({{job.spec.get(), partition, limit, allocated_tres}},
                            "job " + job_text(job.key), found->at);
  }
  if (planned) *planned = found.has_value();
  if (found) {
    job_class.record_planned_start(limit, found->at);
    planned_starts_.record_planned_start(partition, found->at, reservations_of(queued));
  }
  if (found) expand_planned_start(job_class.demand, limit, index_, profile_, *found);
  if (found) profile_.add_planned_start(found->placement, found->at, limit);
  if (found && observer_) observer_->on_planned_start(queued.entry, *found);
  // Otherwise only when a job without a time limit ends.
  if (found && found->at < profile_.horizon()) {
    info.expected_start = found->at;
    info.expected_nodes.clear();
    for (const PlacedShare& share : found->placement)
      info.expected_nodes.push_back(index_.nodes()[share.node].node->id);
  }
  return std::make_shared<const PendingInfo>(std::move(info));
}

void Planner::Pass::estimate() {
  for (Queued* queued : blocked_) {
    const JobKey& key = queued->entry.job->key;
    if (started_.contains(key) || claim_reasons_.contains(key)) continue;
    if (waits_with_gang(*queued->entry.job)) {
      gangs_.estimate(*queued,
                      [&](Queued& member, const PendingPtr& info) { set_reason(member, info); });
      continue;
    }
    const auto choice = choices_.find(key);
    const PendingPtr current = choice == choices_.end() ? queued->reason : choice->second;
    if (!current) continue;
    PendingPtr reason = plan_start(*current, *queued);
    if (choice == choices_.end())
      set_reason(*queued, std::move(reason));
    else
      choice->second = std::move(reason);
  }
}

void Planner::Pass::set_reason(Queued& queued, PendingPtr info) {
  if (queued.reason == info) return update_waiting(queued);
  const Job& job = *queued.entry.job;
  // The most informative reason is chosen at the end of the pass.
  if (!queued.is_static && job.spec->partitions.size() > 1) {
    const auto [found, added] = choices_.try_emplace(job.key, info);
    if (!added && is_more_informative(*info, *found->second)) found->second = std::move(info);
    return;
  }
  if (!queued.reason || *queued.reason != *info) memory_.reasons.set(job.key, info);
  queued.reason = std::move(info);
  update_waiting(queued);
}

void Planner::Pass::update_waiting(Queued& queued) {
  memory_.queue.set_waiting(queued, queued.job_class && queued.reason == memory_.waiting_reason);
}

void Planner::Pass::publish_choices() {
  for (auto& [key, info] : choices_) {
    const PendingInfo* before = memory_.reasons.find(key);
    if (!before || *before != *info) memory_.reasons.set(key, std::move(info));
  }
}

}  // namespace ares::core
