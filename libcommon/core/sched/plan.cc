#include "core/sched/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/cluster/licenses.h"
#include "core/sched/admit.h"
#include "core/sched/backfill.h"
#include "core/sched/cluster_index.h"
#include "core/sched/devices.h"
#include "core/sched/explain.h"
#include "core/sched/order.h"
#include "core/sched/plugged.h"
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
        witness_(witness) {
    plan_.seen = state.lsn;
    plan_.budget = budget.units;
    plan_.config_hash = policy.config_hash;
  }

  Plan run() {
    const bool dropped = memory_.shapes.begin_pass();
    pass_ = memory_.shapes.pass();
    while (Queued* queued = turns_.next()) {
      if (witness_ && witness_->done()) break;
      if (dropped) queued->shape = nullptr;
      consider(*queued);
    }
    estimate();
    settle_choices();
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
    const QueueEntry& entry = queued.entry;
    if (witness_ && witness_->is_about(queued.entry.job->key))
      return witness_->turn({entry, index_, profile_, licenses_, array_starts_,
                             promises_.closed(entry.partition, inside_of(queued)),
                             work_.exhausted()});
    if (!queued.steady) {
      consider_unsteady(queued);
      return;
    }
    Shape& shape = shape_of(queued, false);
    if (promises_.closed(entry.partition) || !start_one(queued, TaskIndex{}, shape))
      block(queued, shape);
  }

  Shape& shape_of(Queued& queued, bool relaxed) {
    if (queued.shape && queued.shape->relaxed != relaxed) queued.shape = nullptr;
    Shape& shape = queued.shape ? memory_.shapes.again(*queued.shape, index_)
                                : memory_.shapes.of(queued.entry, index_, relaxed);
    queued.shape = &shape;
    return shape;
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
    const auto placement = place(*job.spec, shape, limit);
    if (!placement || !permitted(queued, task, *placement)) return false;
    PlanGroup group;
    group.jobs.emplace_back(job.key, job.version);
    Start start{{job.key.job, task}, queued.entry.partition->name, limit, {}, *licenses};
    licenses_.take(*job.spec, *licenses);
    for (const PlacedShare& share : *placement) {
      IndexedNode& node = index_.nodes()[share.node];
      group.nodes.emplace_back(node.node->id, node.node->version);
      start.nodes.push_back(choose_devices(node, share, job.spec->gpu_constraint, index_));
      memory_.given.push_back(share.node);
      node.guests.arrive(job.spec->uid, job.spec->exclusive_user);
      index_.note_given(share.node);
    }
    group.starts.push_back(std::move(start));
    plan_.groups.push_back(std::move(group));
    profile_.start(*placement, limit, *job.spec);
    turns_.took(*job.spec, *placement);
    if (!task.is_none()) ++array_starts_[job.key.job];
    if (!job.array) {
      started_.insert(job.key);
      unsay(queued);
    }
    return true;
  }

  // Whether plugins let the job start there; if not, `refusal_` says so.
  bool permitted(const Queued& queued, TaskIndex task, const Placement& placement) {
    const Partition* partition = queued.entry.partition;
    if (!index_.plugged() || !index_.plugged()->permits(*partition)) return true;
    const Leaving leaving{queued.entry.job, task, partition, &placement};
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
        promises_.spent(entry.partition, inside) && !shape.kept_out && !shape.plugged_out)
      shape.settled_in = pass_;
  }

  // Shared by all jobs of the shape, so that saying it again costs nothing.
  PendingPtr turn_text(Shape& shape, bool first) {
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
    Shape& shape = *queued.shape;
    const std::optional<Seconds> limit = queued.limit;
    const Partition* partition = queued.entry.partition;
    const Time from =
        std::max(shape.not_before(limit), promises_.not_before(partition, inside_of(queued)));
    auto found = earliest(shape.demand, limit, shape.nodes(), index_, profile_, work_, from);
    if (made) *made = found.has_value();
    if (found) {
      shape.note_start(limit, found->at);
      promises_.note_start(partition, found->at, inside_of(queued));
    }
    if (found && shape.demand.caller.alone)  // nobody else is to come before it has
      for (PlacedShare& share : found->placement) share.amounts = index_.nodes()[share.node].total;
    if (found) keep_even_shares(shape.demand, index_, found->placement);
    if (found) keep_all_gpus(shape.demand, *found, limit);
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

  // Whether GPUs that are linked as asked are free then, no count can tell. So nobody else is promised, or given, any that are free
  // there from then on: sooner or later the right ones are among them. What plugins go by may be anything that is free.
  void keep_all_gpus(const Demand& demand, EarliestStart& promise, std::optional<Seconds> limit) {
    const bool plugged = demand.plugged && demand.plugged->changes();
    if (demand.gpu_constraint.none() && !plugged) return;
    Amounts free(index_.stride());
    for (PlacedShare& share : promise.placement) {
      profile_.least(share.node, promise.at, Profile::end_of(promise.at, limit), free);
      for (std::size_t column = plugged ? 0 : kFirstGpu; column < free.size(); ++column)
        if (plugged || share.amounts[column] > 0)
          share.amounts[column] = std::max(share.amounts[column], free[column]);
    }
  }

  // Nothing starts any more: as if all that wait were promised their turn one after the other.
  void estimate() {
    for (Queued* queued : blocked_) {
      const JobKey& key = queued->entry.job->key;
      if (started_.contains(key)) continue;
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
  Witness* const witness_;
  std::uint64_t pass_ = 0;
  Plan plan_;
  ArrayStarts array_starts_;
  std::map<JobKey, IntervalSet::Iterator> next_task_;  // of arrays: those before have started
  std::set<JobKey> started_;
  std::map<JobKey, PendingPtr> choices_;  // of jobs with several partitions
  std::vector<Queued*> blocked_;
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
