// What a pass says and promises to those that cannot start.
#include "core/sched/pass/pass.h"

#include <algorithm>
#include <utility>

#include "core/accounts/limits/promise_floor.h"
#include "core/job/decide/deciding.h"
#include "core/sched/place/placed_limits.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/queue/reason_text.h"

namespace ares::core {

using namespace sched;

void Planner::Pass::unsay(Queued& queued) {
  memory_.said.erase(queued.entry.job->key);
  choices_.erase(queued.entry.job->key);
  queued.said.reset();
  note(queued);
}

const PlannedStartLedger::Reservations& Planner::Pass::reservations_of(const Queued& queued) {
  static const PlannedStartLedger::Reservations kNone;
  return queued.steady ? kNone : queued.entry.job->spec->reservations;
}

void Planner::Pass::block(Queued& queued, Shape& shape) {
  const QueueEntry& entry = queued.entry;
  if (refusal_) return say(queued, std::exchange(refusal_, nullptr));  // in nobody's way
  if (!work_.exhausted()) {
    if (PendingPtr why = memory_.shapes.impossible(shape, index_, budget_.details)) {
      say(queued, std::move(why));
      return;
    }
  }
  if (preemptor_.can_preempt(entry.partition) && !work_.exhausted()) {
    if (!queued.steady && entry.job->spec->partitions.size() > 1)
      preempt_later_.push_back(&queued);
    else if (preempt_for(queued, shape))
      return;
  }
  if (!queued.may_have_planned_start())
    return say(queued, reason_without_planned_start(queued, shape));
  const PlannedStartLedger::Reservations& reservations = reservations_of(queued);
  const bool first = planned_starts_.add_waiting(entry.partition, reservations);
  const bool last_choice = queued.steady || entry.choice + 1 == entry.job->spec->partitions.size();
  if (work_.exhausted()) {
    say(queued, make_info(first ? Reason::resources : Reason::priority,
                          "not looked at in this pass: its budget was spent"));
    return;
  }
  // A job of several partitions waits for its last: it may still start there.
  if (last_choice && planned_starts_.take(entry.partition, reservations)) {
    bool planned = false;
    say(queued, plan_start(*turn_text(shape, first), queued, &planned));
    if (!planned && !work_.exhausted()) planned_starts_.release(entry.partition, reservations);
    return;
  }
  if (last_choice && blocked_.size() < budget_.estimates) blocked_.push_back(&queued);
  say(queued, turn_text(shape, first));
  if (planned_starts_.closed(entry.partition, reservations)) shape.blocked = true;
  if (!budget_.details && blocked_.size() >= budget_.estimates &&
      planned_starts_.exhausted(entry.partition, reservations) && !shape.kept_out &&
      !shape.plugged_out && !preemptor_.can_preempt(entry.partition))
    shape.settled_in = pass_;
}

PendingPtr Planner::Pass::reason_without_planned_start(const Queued& queued, Shape& shape) {
  const QueueEntry& entry = queued.entry;
  PendingPtr text =
      turn_text(shape, !planned_starts_.has_waiting(entry.partition, reservations_of(queued)));
  if (!budget_.details) return text;
  PendingInfo info = *text;
  info.detail +=
      (info.detail.empty() ? "" : "; ") +
      promise_floor_text(state_.accounting, use_.enforce(), *entry.job->spec, *entry.partition);
  return std::make_shared<const PendingInfo>(std::move(info));
}

PendingPtr Planner::Pass::turn_text(Shape& shape, bool first) {
  for (Shape* one : shape.alternatives)
    if (one->plugged_out || (one->kept_out && !one->blocked)) return turn_text(*one, first);
  if (shape.kept_out && !shape.blocked) {
    if (!shape.reserved)
      shape.reserved = make_info(Reason::reservation, explain_reserved(shape, index_));
    return shape.reserved;
  }
  if (shape.plugged_out) {
    if (!budget_.details) return memory_.refused;
    if (!shape.plugged) shape.plugged = make_info(Reason::plugin, explain_blocked(shape, index_));
    return shape.plugged;
  }
  if (!budget_.details) return first ? memory_.first : memory_.turn;
  PendingPtr& text = first ? shape.first : shape.turn;
  if (!text)
    text = make_info(first ? Reason::resources : Reason::priority, explain_blocked(shape, index_));
  return text;
}

PendingPtr Planner::Pass::plan_start(PendingInfo info, const Queued& queued, bool* planned) {
  const std::optional<Seconds> limit = queued.limit;
  const Partition* partition = queued.entry.partition;
  Shape* chosen = queued.shape;
  auto found =
      first_start(chosen, limit, [&](Shape& one) { return earliest_of(queued, one, limit); });
  Shape& shape = *chosen;
  if (found && use_.active()) {
    // What it would get there it may never have, whatever else ends.
    const TresByNode gets =
        placed_amounts(found->placement, certain_licenses(*queued.entry.job->spec), index_);
    if (auto over = use_.over_alone(*queued.entry.job->spec, *partition, limit, &gets)) {
      if (planned) *planned = false;
      PendingInfo refused{Reason::limit, std::move(over->text), std::nullopt, {}};
      refused.limit = std::move(over->name);
      return std::make_shared<const PendingInfo>(std::move(refused));
    }
    const Job& job = *queued.entry.job;
    use_.keep_room({{job.spec.get(), partition, limit, gets}}, "job " + job_text(job.key),
                   found->at);
  }
  if (planned) *planned = found.has_value();
  if (found) {
    shape.record_planned_start(limit, found->at);
    planned_starts_.record_planned_start(partition, found->at, reservations_of(queued));
  }
  if (found) expand_planned_start(shape.demand, limit, index_, profile_, *found);
  if (found) profile_.add_planned_start(found->placement, found->at, limit);
  if (found && witness_) witness_->on_planned_start(queued.entry, *found);
  if (found && found->at < profile_.horizon()) {  // else when something without limit ends
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
      gangs_.estimate(*queued, [&](Queued& member, const PendingPtr& info) { say(member, info); });
      continue;
    }
    const auto choice = choices_.find(key);
    const PendingPtr now_said = choice == choices_.end() ? queued->said : choice->second;
    if (!now_said) continue;
    PendingPtr said = plan_start(*now_said, *queued);
    if (choice == choices_.end())
      say(*queued, std::move(said));
    else
      choice->second = std::move(said);
  }
}

void Planner::Pass::say(Queued& queued, PendingPtr info) {
  if (queued.said == info) return note(queued);
  const Job& job = *queued.entry.job;
  if (!queued.steady &&
      job.spec->partitions.size() > 1) {  // which of them says most shows at the end of the pass
    const auto [found, added] = choices_.try_emplace(job.key, info);
    if (!added && says_more(*info, *found->second)) found->second = std::move(info);
    return;
  }
  if (!queued.said || *queued.said != *info) memory_.said.set(job.key, info);
  queued.said = std::move(info);
  note(queued);
}

void Planner::Pass::note(Queued& queued) {
  memory_.queue.note(queued, queued.shape && queued.said == memory_.turn);
}

void Planner::Pass::settle_choices() {
  for (auto& [key, info] : choices_) {
    const PendingInfo* before = memory_.said.find(key);
    if (!before || *before != *info) memory_.said.set(key, std::move(info));
  }
}

}  // namespace ares::core
