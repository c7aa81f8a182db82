#include "core/sched/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/cluster/licenses.h"
#include "core/sched/admit.h"
#include "core/sched/alternatives.h"
#include "core/sched/backfill.h"
#include "core/sched/cluster_index.h"
#include "core/sched/devices.h"
#include "core/sched/explain.h"
#include "core/sched/gang_turns.h"
#include "core/sched/order.h"
#include "core/sched/plugged.h"
#include "core/sched/preempt_pass.h"
#include "core/sched/profile.h"
#include "core/sched/score_fragmentation.h"
#include "core/sched/shapes.h"
#include "core/sched/turns.h"
#include "core/sched/witness.h"

namespace ares::core {

using namespace sched;

namespace {

PendingPtr make_info(Reason reason, std::string detail = {}) {
  return std::make_shared<const PendingInfo>(
      PendingInfo{reason, std::move(detail), std::nullopt, {}});
}

}  // namespace

// What is kept from pass to pass. Everything in it is a function of `seen`, but for what the last pass marked on `given`.
struct Planner::Memory {
  Memory(const ClusterState& state, const Policy& policy, Time now)
      : seen(state),
        networks(policy.networks),
        plugins(policy.plugins),
        index(seen, &networks),
        ranking(seen, policy, index, now) {
    seen.partitions.for_each([&](const std::string&, const Partition& partition) {
      for (const PlacementStrategy strategy : {partition.placement.cpu, partition.placement.gpu})
        mixed = mixed || strategy == PlacementStrategy::least_fragmentation;
    });
    if (mixed) index.set_mix(&mix);
    index.set_plugins(plugins, &networks);
    if (mixed) mix.update(ClusterState{}, seen, index);
    queue.fill(seen, ranking);
  }

  ClusterState seen;  // keeps the records alive that index and queue point to
  Networks networks;
  SharedPlugins plugins;
  ClusterIndex index;
  Ranking ranking;
  Mix mix;             // kept only if
  bool mixed = false;  // a partition places its jobs by it
  Queue queue;
  Releases releases;
  Shapes shapes;
  PendingInfos said;
  const PendingPtr first = make_info(Reason::resources), turn = make_info(Reason::priority),
                   refused = make_info(Reason::plugin);
  std::vector<NodeIndex> given;
};

namespace {

const char* const kThrottled = "as many tasks of the array run as it allows";

}  // namespace

// One pass over the queue. Lives for one call of plan().
class Planner::Pass {
 public:
  Pass(Memory& memory, const ClusterState& state, const Policy& policy, Budget budget, Time now,
       Witness* witness)
      : memory_(memory),
        state_(state),
        index_(memory.index),
        budget_(budget),
        now_(now),
        turns_(memory.queue.entries(), memory.ranking, index_),
        profile_(state, index_, memory.releases, now),
        licenses_(state, policy),
        promises_(policy),
        work_(budget.units),
        preempting_({state, policy, index_, profile_, licenses_, work_, now}),
        witness_(witness),
        gangs_({state_, index_, memory.shapes, turns_, profile_, licenses_, promises_, work_, plan_,
                memory.given, budget, now, witness}) {
    plan_.seen = state.lsn;
    plan_.budget = budget.units;
    plan_.config_hash = policy.config_hash;
  }

  Plan run() {
    const bool dropped = memory_.shapes.begin_pass();
    pass_ = memory_.shapes.pass();
    serve_earmarks();
    while (Queued* queued = turns_.next()) {
      if (witness_ && witness_->done()) break;
      if (dropped) queued->shape = nullptr;
      consider(*queued);
    }
    make_room_late();
    estimate();
    settle_choices();
    if (const auto change = preempting_.wake())
      plan_.wake = std::min(plan_.wake.value_or(*change), *change);
    plan_.pending = memory_.said;
    if (const auto change = index_.reserved().next_change(now_))
      plan_.wake = std::min(plan_.wake.value_or(*change), *change);
    if (const auto change = memory_.ranking.changes_at();
        change && !memory_.queue.entries().empty())
      plan_.wake = std::min(plan_.wake.value_or(*change), *change);
    return std::move(plan_);
  }

 private:
  void consider(Queued& queued) {
    if (queued.steady && queued.shape && queued.shape->settled_in == pass_ &&
        queued.said == memory_.turn && queued.shape->known_blocked(queued.limit) &&
        !work_.exhausted() && !witness_)
      return;  // most of a long queue
    if (served(queued)) return;
    const QueueEntry& entry = queued.entry;
    if (witness_ && witness_->is_about(queued.entry.job->key))
      return witness_->turn({entry, index_, profile_, licenses_, array_starts_,
                             promises_.closed(entry.partition, inside_of(queued)),
                             work_.exhausted()});
    if (!queued.steady) {
      if (waits_with_gang(*entry.job)) return consider_gang(queued);
      consider_unsteady(queued);
      return;
    }
    Shape& shape = shape_of(queued, false);
    if (promises_.closed(entry.partition) || !start_one(queued, TaskIndex{}, shape))
      block(queued, shape);
  }

  // Those that others were ended for come before everybody else.
  void serve_earmarks() {
    for (const Preempting::Kept& kept : preempting_.kept(array_starts_)) {
      const Job& job = *kept.entry.job;
      if (witness_ && witness_->is_about(job.key)) continue;
      const auto relaxed_at = relaxed_from(job);
      const Shape& shape = memory_.shapes.of(kept.entry, index_, relaxed_at && *relaxed_at <= now_);
      const bool clear = preempting_.is_clear(kept, shape);
      if (!clear || !permitted(kept.entry, job.key.task, kept.placement)) {
        PendingInfo info = preempting_.keep(kept, shape);
        earmarked_[job.key] = clear ? std::exchange(refusal_, nullptr)
                                    : std::make_shared<const PendingInfo>(std::move(info));
        continue;
      }
      give(kept.entry, job.key.task, kept.limit, *licenses_.choose(*job.spec), kept.placement);
      started_.insert(job.key);
    }
  }

  // Whether it had its turn before the others.
  bool served(Queued& queued) {
    if (state_.earmarked.empty() && earmarked_.empty()) return false;
    const JobKey& key = queued.entry.job->key;
    if (const auto found = earmarked_.find(key); found != earmarked_.end()) {
      say(queued, found->second);
      return true;
    }
    if (!started_.contains(key) || !queued.entry.job->earmark) return false;
    unsay(queued);
    return true;
  }

  bool make_room(Queued& queued, const Shape& shape) {
    const Job& job = *queued.entry.job;
    if (!preempting_.concerns(queued.entry.partition) ||
        promises_.closed(queued.entry.partition, inside_of(queued)))
      return false;
    TaskIndex task = job.key.task;
    if (job.array) {
      const auto next = next_task_.find(job.key);
      if (next == next_task_.end()) return false;
      task = TaskIndex{*next->second};
    }
    auto made = preempting_.make_room(queued.entry, shape, task, limit_now(queued));
    if (!made) return false;
    plan_.groups.push_back(std::move(made->group));
    const auto info = std::make_shared<const PendingInfo>(std::move(made->said));
    earmarked_[job.key] = info;
    if (!queued.steady && job.spec->partitions.size() > 1)
      choices_[job.key] = info;
    else
      say(queued, info);
    return true;
  }

  void make_room_late() {
    for (Queued* queued : late_) {
      const JobKey& key = queued->entry.job->key;
      if (!started_.contains(key) && !earmarked_.contains(key)) make_room(*queued, *queued->shape);
    }
  }

  Shape& shape_of(Queued& queued, bool relaxed) {
    if (queued.shape && queued.shape->relaxed != relaxed) queued.shape = nullptr;
    Shape& shape = queued.shape ? memory_.shapes.again(*queued.shape, index_)
                                : memory_.shapes.of(queued.entry, index_, relaxed);
    queued.shape = &shape;
    return shape;
  }

  void consider_gang(Queued& queued) {
    if (PendingPtr why = gangs_.turn(queued))
      say(queued, std::move(why));
    else
      return unsay(queued);
    if (gangs_.unpromised(queued) && blocked_.size() < budget_.estimates)
      blocked_.push_back(&queued);
  }

  // Something else than nodes has a say as well.
  void consider_unsteady(Queued& queued) {
    const QueueEntry& entry = queued.entry;
    if (!may_start(queued)) return;
    const auto relaxed_at = relaxed_from(*entry.job);
    const bool relaxed = relaxed_at && *relaxed_at <= now_;
    Shape& shape = shape_of(queued, relaxed);
    if (!promises_.closed(entry.partition, inside_of(queued)) &&
        (entry.job->array ? start_tasks(queued, shape)
                          : start_one(queued, entry.job->key.task, shape)))
      return;
    if (refusal_) return block(queued, shape);
    if (relaxed_at && !relaxed)
      plan_.wake = std::min(plan_.wake.value_or(*relaxed_at), *relaxed_at);
    if (entry.job->array && throttle_room(state_, *entry.job, array_starts_) == 0)
      say(queued, make_info(Reason::job_array_task_limit, kThrottled));
    else if (!licenses_.choose(*entry.job->spec))
      say(queued, make_info(Reason::licenses, licenses_.explain(*entry.job->spec)));
    else
      block(queued, shape);
  }

  // Whether nothing but nodes keeps it from starting. If something does, that is said.
  bool may_start(Queued& queued) {
    const QueueEntry& entry = queued.entry;
    if (started_.contains(entry.job->key)) return false;
    const Admission admission = admit(state_, entry, array_starts_, now_);
    if (admission.wake)
      plan_.wake = std::min(plan_.wake.value_or(*admission.wake), *admission.wake);
    if (admission.refused) {
      say(queued, std::make_shared<const PendingInfo>(*admission.refused));
      return false;
    }
    if (!licenses_.choose(*entry.job->spec)) {
      say(queued, make_info(Reason::licenses, licenses_.explain(*entry.job->spec)));
      return false;
    }
    return true;
  }

  // Whether every waiting task could be started, or waits for its user's next turn.
  bool start_tasks(Queued& queued, Shape& shape) {
    const Job& job = *queued.entry.job;
    const std::uint32_t room = throttle_room(state_, job, array_starts_);
    const IntervalSet& waiting = job.array->waiting;
    IntervalSet::Iterator& next = next_task_.try_emplace(job.key, waiting.begin()).first->second;
    for (std::uint32_t count = 0; next != waiting.end(); ++count) {
      if (count == room || !start_one(queued, TaskIndex{*next}, shape)) return false;
      if (++next != waiting.end() && turns_.later()) return true;
    }
    unsay(queued);
    return true;
  }

  bool start_one(Queued& queued, TaskIndex task, Shape& shape) {
    std::optional<Seconds> limit = limit_now(queued);
    // The record of a job that waits on as before is not even read.
    if (queued.steady && is_blocked(shape, limit)) return false;
    const Job& job = *queued.entry.job;
    auto licenses = licenses_.choose(*job.spec);
    if (!licenses) return false;
    std::uint32_t alternative = 0;
    const auto placement = shape.alternatives.empty()
                               ? place(*job.spec, shape, limit)
                               : place_one_of(queued, shape, limit, alternative);
    if (!placement || !permitted(queued.entry, task, *placement)) return false;
    give(queued.entry, task, limit, *licenses, *placement, alternative);
    if (!job.array) {
      started_.insert(job.key);
      unsay(queued);
    }
    return true;
  }

  void give(const QueueEntry& entry, TaskIndex task, std::optional<Seconds> limit,
            const std::vector<LicenseRequest>& licenses, const Placement& placement,
            std::uint32_t alternative = 0) {
    const Job& job = *entry.job;
    PlanGroup group;
    group.jobs.emplace_back(job.key, job.version);
    Start start{{job.key.job, task}, entry.partition->name, limit, {}, licenses, alternative};
    licenses_.take(*job.spec, licenses);
    for (const PlacedShare& share : placement) {
      IndexedNode& node = index_.nodes()[share.node];
      group.nodes.emplace_back(node.node->id, node.node->version);
      start.nodes.push_back(choose_devices(node, share, job.spec->gpu_constraint, index_));
      memory_.given.push_back(share.node);
      node.guests.arrive(job.spec->uid, job.spec->exclusive_user);
      index_.note_given(share.node);
    }
    group.starts.push_back(std::move(start));
    plan_.groups.push_back(std::move(group));
    profile_.start(placement, limit, *job.spec);
    turns_.took(*job.spec, placement);
    if (!task.is_none()) ++array_starts_[job.key.job];
  }

  // Whether plugins let the job start there; if not, `refusal_` says so.
  bool permitted(const QueueEntry& entry, TaskIndex task, const Placement& placement) {
    if (!index_.plugged() || !index_.plugged()->permits(*entry.partition)) return true;
    const Leaving leaving{entry.job, task, entry.partition, &placement};
    const auto why = index_.plugged()->refusal({&leaving, 1}, index_);
    if (why) refusal_ = make_info(Reason::plugin, *why);
    return !why;
  }

  void unsay(Queued& queued) {
    memory_.said.erase(queued.entry.job->key);
    choices_.erase(queued.entry.job->key);
    queued.said.reset();
  }

  // A deadline shortens it.
  std::optional<Seconds> limit_now(const Queued& queued) const {
    if (queued.steady) return queued.limit;
    const auto left = time_left(*queued.entry.job, now_);
    const auto asked =
        limit_within(state_, queued.entry.job->spec->reservations, queued.limit, now_);
    return left ? std::min(asked.value_or(*left), *left) : asked;
  }

  // Where the promises of others leave no room for all of `limit`, a job that allows it gets as much as they leave.
  std::optional<Placement> place(const JobSpec& spec, Shape& shape, std::optional<Seconds>& limit) {
    auto placement = place(shape, limit);
    if (placement || !spec.time_min || (limit && *limit <= *spec.time_min)) return placement;
    placement = place(shape, spec.time_min);
    if (!placement) return std::nullopt;
    constexpr std::chrono::minutes kLongest = std::chrono::hours(24 * 365);
    auto low = std::chrono::ceil<std::chrono::minutes>(*spec.time_min);
    auto high = limit ? std::chrono::ceil<std::chrono::minutes>(*limit) : kLongest;
    limit = spec.time_min;
    while (high - low > std::chrono::minutes(1) && !work_.exhausted()) {
      const auto middle = low + (high - low) / 2;
      auto longer = fit_between(shape.demand, shape.nodes(), index_, profile_, now_,
                                Profile::end_of(now_, middle), work_);
      if (!longer) {
        high = middle;
        continue;
      }
      low = middle;
      limit = middle;
      placement = std::move(longer);
    }
    return placement;
  }

  // As one of its alternatives; none also where a cheaper one is worth waiting for.
  std::optional<Placement> place_one_of(const Queued& queued, Shape& shape,
                                        std::optional<Seconds>& limit, std::uint32_t& alternative) {
    const JobSpec& spec = *queued.entry.job->spec;
    const std::optional<Seconds> asked = limit;
    std::optional<Placement> placement;
    const auto place_now = [&](std::size_t i) {
      limit = asked;
      return (placement = place(spec, *shape.alternatives[i], limit)).has_value();
    };
    const NowOrLater choice = choose_now(spec, now_, asked, place_now, [&](std::size_t i) {
      return earliest_of(queued, *shape.alternatives[i], asked);
    });
    if (!choice.starts()) return std::nullopt;
    alternative = static_cast<std::uint32_t>(*choice.now);
    return placement;
  }

  // When a job of that shape could start in place of the one in the queue.
  std::optional<EarliestStart> earliest_of(const Queued& queued, Shape& shape,
                                           std::optional<Seconds> limit) {
    if (queued.shape != &shape && memory_.shapes.impossible(shape, index_, false))
      return std::nullopt;
    const Time from = std::max(shape.not_before(limit),
                               promises_.not_before(queued.entry.partition, inside_of(queued)));
    return earliest(shape.demand, limit, shape.nodes(), index_, profile_, work_, from);
  }

  // Whether it is known without a search that none of that limit starts.
  bool is_blocked(Shape& shape, std::optional<Seconds> limit) {
    if (shape.known_blocked(limit) || work_.exhausted() || !shape.candidates.problem.empty())
      return true;
    if (!shape.still_blocked(index_)) return false;
    work_.spend(shape.nodes().nodes.size());  // as much as whoever does not remember it
    shape.blocked = true;
    return true;
  }

  std::optional<Placement> place(Shape& shape, std::optional<Seconds> limit) {
    if (is_blocked(shape, limit)) return std::nullopt;
    auto placement = fit_on(shape.demand, shape.nodes(), index_, Against::free_now, work_);
    if (!placement) {
      shape.blocked = true;
      shape.note_blocked(index_);
      shape.plugged_out = shape.demand.plugged && shape.fits_unplugged(index_, Against::free_now);
      return std::nullopt;
    }
    if (!promised(*placement, profile_) && !reserved(shape.demand, *placement, index_))
      return placement;
    placement = fit_between(shape.demand, shape.nodes(), index_, profile_, now_,
                            Profile::end_of(now_, limit), work_);
    if (!placement) shape.note_promise(limit);
    if (!placement && !profile_.any_promise()) shape.kept_out = true;
    return placement;
  }

  // Those who ask for reservations wait in a line of their own. The record of a steady job, which asks for none, is not read.
  static const Promises::Inside& inside_of(const Queued& queued) {
    static const Promises::Inside kNowhere;
    return queued.steady ? kNowhere : queued.entry.job->spec->reservations;
  }

  // It cannot start now: say why, and promise it a start if the partition's rule is so.
  void block(Queued& queued, Shape& shape) {
    const QueueEntry& entry = queued.entry;
    if (refusal_) return say(queued, std::exchange(refusal_, nullptr));  // in nobody's way
    if (!work_.exhausted()) {
      if (PendingPtr why = memory_.shapes.impossible(shape, index_, budget_.details)) {
        say(queued, std::move(why));
        return;
      }
    }
    if (preempting_.concerns(entry.partition) && !work_.exhausted()) {
      if (!queued.steady && entry.job->spec->partitions.size() > 1)
        late_.push_back(&queued);
      else if (make_room(queued, shape))
        return;
    }
    const Promises::Inside& inside = inside_of(queued);
    const bool first = promises_.waits(entry.partition, inside);
    const bool last_choice =
        queued.steady || entry.choice + 1 == entry.job->spec->partitions.size();
    if (work_.exhausted()) {
      say(queued, make_info(first ? Reason::resources : Reason::priority,
                            "not looked at in this pass: its budget was spent"));
      return;
    }
    // A job of several partitions waits for its last: it may still start there.
    if (last_choice && promises_.grant(entry.partition, inside)) {
      bool made = false;
      say(queued, promise(*turn_text(shape, first), queued, &made));
      if (!made && !work_.exhausted()) promises_.refund(entry.partition, inside);
      return;
    }
    if (last_choice && blocked_.size() < budget_.estimates) blocked_.push_back(&queued);
    say(queued, turn_text(shape, first));
    if (promises_.closed(entry.partition, inside)) shape.blocked = true;
    if (!budget_.details && blocked_.size() >= budget_.estimates &&
        promises_.spent(entry.partition, inside) && !shape.kept_out && !shape.plugged_out &&
        !preempting_.concerns(entry.partition))
      shape.settled_in = pass_;
  }

  // Shared by all jobs of the shape, so that saying it again costs nothing.
  PendingPtr turn_text(Shape& shape, bool first) {
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
      text =
          make_info(first ? Reason::resources : Reason::priority, explain_blocked(shape, index_));
    return text;
  }

  // Says when and where the job is going to start, and keeps that free.
  PendingPtr promise(PendingInfo info, const Queued& queued, bool* made = nullptr) {
    const std::optional<Seconds> limit = queued.limit;
    const Partition* partition = queued.entry.partition;
    Shape* chosen = queued.shape;
    auto found =
        first_start(chosen, limit, [&](Shape& one) { return earliest_of(queued, one, limit); });
    Shape& shape = *chosen;
    if (made) *made = found.has_value();
    if (found) {
      shape.note_start(limit, found->at);
      promises_.note_start(partition, found->at, inside_of(queued));
    }
    if (found) keep_for(shape.demand, limit, index_, profile_, *found);
    if (found) profile_.reserve(found->placement, found->at, limit);
    if (found && witness_) witness_->promised(queued.entry, *found);
    if (found && found->at < profile_.horizon()) {  // else when something without limit ends
      info.expected_start = found->at;
      info.expected_nodes.clear();
      for (const PlacedShare& share : found->placement)
        info.expected_nodes.push_back(index_.nodes()[share.node].node->id);
    }
    return std::make_shared<const PendingInfo>(std::move(info));
  }

  // Nothing starts any more: as if all that wait were promised their turn one after the other.
  void estimate() {
    for (Queued* queued : blocked_) {
      const JobKey& key = queued->entry.job->key;
      if (started_.contains(key) || earmarked_.contains(key)) continue;
      if (waits_with_gang(*queued->entry.job)) {
        gangs_.estimate(*queued,
                        [&](Queued& member, const PendingPtr& info) { say(member, info); });
        continue;
      }
      const auto choice = choices_.find(key);
      const PendingPtr now_said = choice == choices_.end() ? queued->said : choice->second;
      if (!now_said) continue;
      PendingPtr said = promise(*now_said, *queued);
      if (choice == choices_.end())
        say(*queued, std::move(said));
      else
        choice->second = std::move(said);
    }
  }

  void say(Queued& queued, PendingPtr info) {
    if (queued.said == info) return;
    const Job& job = *queued.entry.job;
    if (!queued.steady &&
        job.spec->partitions.size() > 1) {  // which of them says most shows at the end of the pass
      const auto [found, added] = choices_.try_emplace(job.key, info);
      if (!added && says_more(*info, *found->second)) found->second = std::move(info);
      return;
    }
    if (!queued.said || *queued.said != *info) memory_.said.set(job.key, info);
    queued.said = std::move(info);
  }

  void settle_choices() {
    for (auto& [key, info] : choices_) {
      const PendingInfo* before = memory_.said.find(key);
      if (!before || *before != *info) memory_.said.set(key, std::move(info));
    }
  }

  Memory& memory_;
  const ClusterState& state_;
  ClusterIndex& index_;
  const Budget budget_;
  Time now_;
  Turns turns_;
  Profile profile_;
  LicensePool licenses_;
  Promises promises_;
  Work work_;
  Preempting preempting_;
  std::map<JobKey, PendingPtr> earmarked_;  // what is said of those that others end for
  std::vector<Queued*> late_;  // of several partitions: before others end they are all tried
  Witness* const witness_;
  std::uint64_t pass_ = 0;
  Plan plan_;
  ArrayStarts array_starts_;
  std::map<JobKey, IntervalSet::Iterator> next_task_;  // of arrays: those before have started
  std::set<JobKey> started_;
  std::map<JobKey, PendingPtr> choices_;  // of jobs with several partitions
  std::vector<Queued*> blocked_;
  GangTurns gangs_;
  PendingPtr refusal_;  // of a start that was about to be made
};

Planner::Planner() = default;
Planner::~Planner() = default;

Plan Planner::plan(const ClusterState& state, const Policy& policy, Budget budget, Time now,
                   Witness* witness) {
  const bool usable = memory_ && memory_->networks == policy.networks &&
                      memory_->plugins == policy.plugins &&
                      memory_->seen.partitions.shares_all_with(state.partitions) &&
                      memory_->seen.reservations.shares_all_with(state.reservations) &&
                      memory_->index.update(memory_->seen, state, memory_->given);
  if (usable) {
    memory_->releases.update(memory_->seen, state, memory_->index);
    memory_->queue.update(memory_->seen, state, memory_->ranking,
                          [&](const JobKey& key) { memory_->said.erase(key); });
    if (memory_->ranking.update(memory_->seen, state, policy, memory_->index, now))
      memory_->queue.rank_again(memory_->ranking);
    if (memory_->mixed) memory_->mix.update(memory_->seen, state, memory_->index);
    memory_->seen = state;
    memory_->given.clear();
  } else {
    memory_ = std::make_unique<Memory>(state, policy, now);
  }
  Plan plan = Pass(*memory_, memory_->seen, policy, budget, now, witness).run();
  // What the record itself says is worth repeating only to those who ask for everything.
  if (budget.details)
    state.pending.for_each([&](const JobKey& key, Lsn) {
      const Job* job = state.jobs.find(key);
      if (auto why = job ? kept_back(*job) : std::nullopt) plan.pending.set(key, *std::move(why));
    });
  return plan;
}

Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now) {
  return Planner().plan(state, policy, budget, now);
}

}  // namespace ares::core
