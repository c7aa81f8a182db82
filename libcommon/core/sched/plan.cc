#include "core/sched/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/sched/admit.h"
#include "core/sched/backfill.h"
#include "core/sched/cluster_index.h"
#include "core/sched/devices.h"
#include "core/sched/explain.h"
#include "core/sched/order.h"
#include "core/sched/profile.h"
#include "core/sched/shapes.h"

namespace ares::core {
namespace {

using namespace sched;

// Beyond the promised ones, so many waiting jobs a pass are told when they may start.
constexpr std::size_t kEstimates = 16;

// One pass over the queue. Lives for one call of plan().
class Pass {
 public:
  Pass(const ClusterState& state, const Policy& policy, Budget budget, Time now)
      : state_(state),
        now_(now),
        index_(state),
        profile_(state, index_, now),
        shapes_(index_),
        work_(budget.units) {
    plan_.seen = state.lsn;
    plan_.budget = budget.units;
    plan_.config_hash = policy.config_hash;
  }

  Plan run() {
    for (const QueueEntry& entry : order(state_)) consider(entry);
    estimate();
    plan_.pending.reserve(waiting_.size());
    for (auto& [key, info] : waiting_) plan_.pending.emplace_back(key, std::move(info));
    return std::move(plan_);
  }

 private:
  struct Blocked {
    QueueEntry entry;
    Shape* shape;
    std::optional<Seconds> limit;
  };

  void consider(const QueueEntry& entry) {
    const JobKey& key = entry.job->key;
    if (started_.contains(key)) return;
    const Admission admission = admit(state_, entry, array_starts_, now_);
    if (admission.wake)
      plan_.wake = std::min(plan_.wake.value_or(*admission.wake), *admission.wake);
    if (admission.refused) {
      wait(entry, *admission.refused);
      return;
    }
    Shape& shape = shapes_.of(entry, work_);
    const auto limit = time_limit_of(*entry.job, *entry.partition);
    if (entry.job->array ? start_tasks(entry, shape, limit)
                         : start_one(entry, key.task, shape, limit))
      return;
    if (entry.job->array && throttle_room(state_, *entry.job, array_starts_) == 0) {
      wait(entry, {Reason::job_array_task_limit, "as many tasks of the array run as it allows",
                   std::nullopt, 0});
      return;
    }
    block(entry, shape, limit);
  }

  // Whether every waiting task could be started.
  bool start_tasks(const QueueEntry& entry, Shape& shape, std::optional<Seconds> limit) {
    const std::uint32_t room = throttle_room(state_, *entry.job, array_starts_);
    std::uint32_t count = 0;
    for (const std::uint32_t task : entry.job->array->waiting) {
      if (count == room || !start_one(entry, TaskIndex{task}, shape, limit)) return false;
      ++count;
    }
    return true;
  }

  bool start_one(const QueueEntry& entry, TaskIndex task, Shape& shape,
                 std::optional<Seconds> limit) {
    const auto placement = place(shape, limit);
    if (!placement) return false;
    const Job& job = *entry.job;
    PlanGroup group;
    group.jobs.emplace_back(job.key, job.version);
    Start start{{job.key.job, task}, entry.partition->name, limit, {}};
    for (const PlacedShare& share : *placement) {
      IndexedNode& node = index_.nodes()[share.node];
      group.nodes.emplace_back(node.node->id, node.node->version);
      start.nodes.push_back(choose_devices(node, share, index_));
    }
    group.starts.push_back(std::move(start));
    plan_.groups.push_back(std::move(group));
    profile_.start(*placement, limit);
    if (!task.is_none()) ++array_starts_[job.key.job];
    if (!job.array) started_.insert(job.key);
    waiting_.erase(job.key);
    return true;
  }

  std::optional<Placement> place(Shape& shape, std::optional<Seconds> limit) {
    if (shape.known_blocked(limit) || work_.exhausted() || !shape.candidates.problem.empty())
      return std::nullopt;
    auto placement = fit_on(shape.demand, shape.nodes(), index_, Against::free_now, work_);
    if (!placement) {
      shape.blocked = true;
      return std::nullopt;
    }
    if (!promised(shape.nodes(), profile_)) return placement;
    placement = fit_between(shape.demand, shape.nodes(), index_, profile_, now_,
                            Profile::end_of(now_, limit), work_);
    if (!placement) shape.note_promise(limit);
    return placement;
  }

  // It cannot start now: say why, and promise it a start if it is the first of its partition.
  void block(const QueueEntry& entry, Shape& shape, std::optional<Seconds> limit) {
    if (!work_.exhausted() && !shapes_.possible(shape, work_)) {
      wait(entry, *shape.impossible);
      return;
    }
    std::uint32_t& ahead = ahead_[entry.partition];
    PendingInfo info{Reason::priority, {}, std::nullopt, ahead++};
    const bool last_choice = entry.choice + 1 == entry.job->spec->partitions.size();
    if (info.jobs_ahead == 0) info.reason = Reason::resources;
    if (work_.exhausted()) {
      info.detail = "not looked at in this pass: its budget was spent";
    } else {
      if (shape.detail.empty()) shape.detail = explain_blocked(shape, index_);
      info.detail = shape.detail;
      // A job of several partitions waits for its last: it may still start there.
      if (last_choice && promised_.insert(entry.partition).second)
        info.expected_start = promise(shape, limit);
      else if (last_choice && blocked_.size() < kEstimates)
        blocked_.push_back({entry, &shape, limit});
    }
    wait(entry, std::move(info));
  }

  std::optional<Time> promise(const Shape& shape, std::optional<Seconds> limit) {
    const auto found = earliest(shape.demand, limit, shape.nodes(), index_, profile_, work_);
    if (!found) return std::nullopt;
    profile_.reserve(found->placement, found->at, limit);
    if (found->at >= profile_.horizon()) return std::nullopt;  // when something without limit ends
    return found->at;
  }

  // Nothing starts any more: as if all that wait were promised their turn one after the other.
  void estimate() {
    for (const Blocked& blocked : blocked_) {
      const auto found = waiting_.find(blocked.entry.job->key);
      if (found == waiting_.end()) continue;
      found->second.expected_start = promise(*blocked.shape, blocked.limit);
    }
  }

  // Of several partitions the one where it only waits its turn says most.
  void wait(const QueueEntry& entry, PendingInfo info) {
    const auto [found, added] = waiting_.try_emplace(entry.job->key, info);
    const auto turn = [](Reason r) { return r == Reason::resources || r == Reason::priority; };
    if (!added && turn(info.reason) && !turn(found->second.reason)) found->second = std::move(info);
  }

  const ClusterState& state_;
  Time now_;
  ClusterIndex index_;
  Profile profile_;
  Shapes shapes_;
  Work work_;
  Plan plan_;
  ArrayStarts array_starts_;
  std::set<JobKey> started_;
  std::map<JobKey, PendingInfo> waiting_;
  std::map<const Partition*, std::uint32_t>
      ahead_;  // only looked up, never walked: order is no matter
  std::set<const Partition*> promised_;
  std::vector<Blocked> blocked_;
};

}  // namespace

Plan plan(const ClusterState& state, const Policy& policy, Budget budget, Time now) {
  return Pass(state, policy, budget, now).run();
}

}  // namespace ares::core
