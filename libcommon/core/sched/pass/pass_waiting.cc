// The part of a pass that sets reasons and planned starts of jobs that cannot start.
#include "core/sched/pass/pass.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/accounts/limits/planned_start_threshold.h"
#include "core/cluster/time_limit.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/gang_admission.h"
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
  return queued.is_static ? kNone : queued.entry.job->spec->reservations.get();
}

void Planner::Pass::block(Queued& queued, JobClass& job_class, const Refusal& refusal) {
  Member member = member_of(queued, queued.entry.job->key.task, job_class);
  StartGroup group{{&member, 1}, queued.rank};
  block(queued, group, refusal);
}

void Planner::Pass::block(Queued& queued, StartGroup& group, const Refusal& refusal) {
  const QueueEntry& entry = queued.entry;
  // It delays no other job.
  if (refusal.why) return set_reasons(queued, group, refusal.why, refusal.member);
  if (!work_.exhausted())
    for (const Member& member : group.members)
      if (PendingPtr why =
              memory_.job_classes.impossible(*member.job_class, index_, budget_.details))
        return set_reasons(queued, group, std::move(why), &member);
  const bool several = !queued.is_static && entry.job->spec->partitions.size() > 1;
  const bool last_choice = !several || entry.choice + 1 == entry.job->spec->partitions.size();
  if (preemptor_.can_preempt(entry.partition) && !work_.exhausted()) {
    if (several) {
      std::vector<Queued*>& entries = preempt_later_[entry.job->key];
      if (entries.empty()) preempt_order_.push_back(entry.job->key);
      entries.push_back(&queued);
    } else if (preempt_for(queued, group)) {
      return;
    }
  }
  // In its other partitions, too, before its planned start takes nodes from it.
  if (several && last_choice && preempt_late(entry.job->key)) return;
  if (!queued.may_have_planned_start())
    return set_reasons(queued, group, reason_without_planned_start(queued, group));
  const PlannedStartLedger::Reservations& reservations = reservations_of(queued);
  const bool first = planned_starts_.add_waiting(entry.partition, reservations);
  if (work_.exhausted()) {
    set_reasons(queued, group,
                make_info(first ? Reason::resources : Reason::priority,
                          "not looked at in this pass: its budget was spent"));
    return;
  }
  // A job of several partitions waits in its last one, because it may still start there.
  if (last_choice && planned_starts_.take(entry.partition, reservations)) {
    if (!group.gang) group.members.front().limit = queued.limit;
    std::vector<PendingPtr> reasons(group.members.size(), waiting_reason(group, first));
    const bool planned = plan_start(group, reasons, false);
    set_reasons(queued, group, reasons);
    if (!planned && !work_.exhausted()) planned_starts_.release(entry.partition, reservations);
    return;
  }
  if (last_choice && blocked_.size() < budget_.estimates) blocked_.push_back(&queued);
  set_reasons(queued, group, waiting_reason(group, first));
  if (group.gang) return;
  JobClass& job_class = *group.members.front().job_class;
  if (planned_starts_.closed(entry.partition, reservations)) job_class.blocked = true;
  if (!budget_.details && blocked_.size() >= budget_.estimates &&
      planned_starts_.exhausted(entry.partition, reservations) &&
      !job_class.blocked_by_reservation && !job_class.blocked_by_plugin &&
      !preemptor_.can_preempt(entry.partition))
    job_class.skip_in_pass = pass_;
}

PendingPtr Planner::Pass::reason_without_planned_start(const Queued& queued,
                                                       const StartGroup& group) {
  const QueueEntry& entry = queued.entry;
  PendingPtr text =
      waiting_reason(group, !planned_starts_.has_waiting(entry.partition, reservations_of(queued)));
  if (!budget_.details) return text;
  PendingInfo info = *text;
  info.detail += (info.detail.empty() ? "" : "; ") +
                 planned_start_threshold_text(state_.accounting, use_.enforce(), *entry.job->spec,
                                              *entry.partition);
  return std::make_shared<const PendingInfo>(std::move(info));
}

// Of a gang it describes the wait of the member that is hardest to place.
PendingPtr Planner::Pass::waiting_reason(const StartGroup& group, bool first) {
  const Member& hardest = group.members.front();
  if (!group.gang) return waiting_reason(*hardest.job_class, first);
  std::string text;
  if (budget_.details)
    text = gang_start_text(*group.gang) + "job " + job_text(hardest.job().key) + " " +
           explain_blocked(*hardest.job_class, index_);
  return make_info(first ? Reason::resources : Reason::priority, std::move(text));
}

PendingPtr Planner::Pass::waiting_reason(JobClass& job_class, bool first) {
  for (JobClass* one : job_class.alternatives)
    if (one->blocked_by_plugin || (one->blocked_by_reservation && !one->blocked))
      return waiting_reason(*one, first);
  if (job_class.blocked_by_reservation && !job_class.blocked) {
    if (!job_class.reservation_reason) {
      const auto limit = limit_at(state_, job_class.example, *job_class.partition, now_);
      std::string text = explain_reserved(job_class, index_, {now_, Profile::end_of(now_, limit)});
      if (text.empty()) text = kNodesReserved;
      job_class.reservation_reason = make_info(Reason::reservation, std::move(text));
    }
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

std::optional<JointStart> Planner::Pass::find_start(StartGroup& group,
                                                    std::vector<JobClass*>& classes,
                                                    bool estimated) {
  Time from = planned_starts_.not_before(group.members.front().entry.partition,
                                         group.members.front().spec().reservations);
  std::optional<EarliestStart> alone;
  for (const Member& member : group.members) {
    JobClass* chosen = member.job_class;
    if (group.alone() || !chosen->alternatives.empty()) {
      alone = earliest_alternative(chosen, member.limit, [&](JobClass& one) {
        return starter_.find_earliest_start_of(member, one, member.limit);
      });
      if (!alone) return std::nullopt;
    }
    from = std::max(from, chosen->not_before(member.limit));
    classes.push_back(chosen);
  }
  if (!group.alone()) return find_joint_start(group, classes, index_, profile_, work_, from);
  const JobClass& job_class = *classes.front();
  // What is only estimated keeps nothing from other jobs.
  if (!estimated)
    move_to_late_nodes(job_class.demand, group.members.front().limit, job_class.nodes(), index_,
                       profile_, work_, *alone);
  return JointStart{alone->at, {std::move(alone->placement)}};
}

// A member that would exceed a limit with this placement alone can never start with it.
bool Planner::Pass::over_limits_alone(const StartGroup& group, std::span<PendingPtr> reasons) {
  for (const Member& member : group.members) {
    const TresByNode amounts = placed_amounts(member.placement, member.licenses, index_);
    auto over = use_.over_alone(member.spec(), member.partition(), member.limit, &amounts);
    if (!over) continue;
    PendingInfo refused{Reason::limit, std::move(over->text), std::nullopt, {}};
    refused.limit = std::move(over->name);
    const auto why = std::make_shared<const PendingInfo>(std::move(refused));
    std::fill(reasons.begin(), reasons.end(), why);
    return true;
  }
  return false;
}

bool Planner::Pass::plan_start(StartGroup& group, std::span<PendingPtr> reasons, bool estimated) {
  std::vector<JobClass*> classes;
  auto found = find_start(group, classes, estimated);
  if (!found) return false;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    group.members[i].placement = std::move(found->placements[i]);
    group.members[i].licenses = certain_licenses(group.members[i].spec());
  }
  if (use_.active()) {
    if (over_limits_alone(group, reasons)) return false;
    starter_.set_aside_headroom(group, found->at);
  }
  const Member& leader = group.members.front();
  if (group.alone()) classes.front()->record_planned_start(leader.limit, found->at);
  planned_starts_.record_planned_start(leader.entry.partition, found->at,
                                       leader.spec().reservations);
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    Member& member = group.members[i];
    EarliestStart start{found->at, std::move(member.placement)};
    expand_planned_start(classes[i]->demand, member.limit, index_, profile_, start);
    profile_.add_planned_start(start.placement, start.at, member.limit);
    if (observer_) observer_->on_planned_start(member.entry, start);
    // Otherwise only when a job without a time limit ends.
    if (start.at >= profile_.horizon()) continue;
    PendingInfo info = *reasons[i];
    info.expected_start = start.at;
    info.expected_nodes.clear();
    for (const PlacedShare& share : start.placement)
      info.expected_nodes.push_back(index_.nodes()[share.node].node->id);
    reasons[i] = std::make_shared<const PendingInfo>(std::move(info));
  }
  return true;
}

void Planner::Pass::estimate() {
  for (Queued* queued : blocked_) {
    const JobKey& key = queued->entry.job->key;
    if (!started_.contains(key) && !claim_reasons_.contains(key)) estimate(*queued);
  }
}

void Planner::Pass::estimate(Queued& queued) {
  if (waits_with_gang(*queued.entry.job)) {
    GangTurn& turn = gangs_.at(queued.entry.job->gang);
    StartGroup group{turn.members, queued.rank, &turn.gang};
    std::vector<PendingPtr> reasons;
    for (const Member& member : turn.members) reasons.push_back(turn.reasons.at(member.job().key));
    plan_start(group, reasons, true);
    return set_reasons(queued, group, reasons);
  }
  const auto choice = choices_.find(queued.entry.job->key);
  PendingPtr reason = choice == choices_.end() ? queued.reason : choice->second;
  if (!reason) return;
  Member member{queued.entry, queued.entry.job->key.task, queued.job_class, queued.limit};
  StartGroup group{{&member, 1}, queued.rank};
  plan_start(group, {&reason, 1}, true);
  if (choice == choices_.end())
    set_reason(queued, std::move(reason));
  else
    choice->second = std::move(reason);
}

void Planner::Pass::set_reasons(Queued& queued, const StartGroup& group, PendingPtr info,
                                const Member* of) {
  if (!group.gang) return set_reason(queued, std::move(info));
  PendingPtr others = info;
  if (of)
    others = make_info(Reason::waiting_for_gang, "all members of gang " + group.gang->request.name +
                                                     " are here; job " + job_text(of->job().key) +
                                                     " waits (" +
                                                     std::string(to_string(info->reason)) + ")");
  std::vector<PendingPtr> reasons;
  for (const Member& member : group.members) reasons.push_back(&member == of ? info : others);
  set_reasons(queued, group, reasons);
}

void Planner::Pass::set_reasons(Queued& queued, const StartGroup& group,
                                std::span<const PendingPtr> reasons) {
  if (!group.gang) return set_reason(queued, reasons.front());
  GangTurn& turn = gangs_.at(queued.entry.job->gang);
  // The tasks of an array share its reason: that of the task that keeps the others waiting.
  std::set<JobKey> told;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    const JobKey& key = group.members[i].job().key;
    if (told.insert(key).second || reasons[i]->reason != Reason::waiting_for_gang)
      turn.reasons[key] = reasons[i];
  }
  for (Queued* seen : turn.seen) set_reason(*seen, turn.reasons.at(seen->entry.job->key));
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
