#include "core/job/apply/records.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/state/indexes.h"
#include "core/state/timers.h"

namespace ares::core {
namespace {

// The counters of its array that a task's record contributes to; at most two of them are 1.
struct Counted {
  int active = 0, holding = 0, completed = 0, unsuccessful = 0;
  friend bool operator==(const Counted&, const Counted&) = default;
};

Counted counted(const Job* task) {
  if (!task) return {};
  if (!is_terminal(task->state)) return {1, holds_resources(task->state) ? 1 : 0, 0, 0};
  const bool ok = task->state == JobState::completed;
  return {0, 0, ok ? 1 : 0, ok ? 0 : 1};
}

void count_in_array(ClusterState& state, const JobKey& task, Counted before, Counted after,
                    Lsn lsn) {
  if (before == after) return;
  const JobKey array_key{task.job, {}};
  const Job* found = state.jobs.find(array_key);
  if (!found || !found->array) return;
  Job array = *found;
  const auto add = [](std::uint32_t& counter, int change) {
    counter = static_cast<std::uint32_t>(static_cast<int>(counter) + change);
  };
  add(array.array->active, after.active - before.active);
  add(array.array->holding, after.holding - before.holding);
  add(array.array->completed, after.completed - before.completed);
  add(array.array->unsuccessful, after.unsuccessful - before.unsuccessful);
  if (is_terminal(array.state) && array.array->active > 0) {
    // A task of a finished array runs again, so the array is pending again.
    array.state = JobState::pending;
    array.reason = Reason::none;
    array.ended.reset();
    array.ending.reset();
  }
  put_job(state, std::move(array), lsn);
}

void move_timer(ClusterState& state, const std::optional<Timer>& had,
                const std::optional<Timer>& has) {
  if (had == has) return;
  if (had) state.timers.erase(*had);
  if (has) state.timers.set(*has, Lsn{});
}

void count_licenses(ClusterState& state, const Job* before, const Job* after) {
  static const std::vector<LicenseRequest> none;
  const auto& had = before ? licenses_held(*before) : none;
  const auto& has = after ? licenses_held(*after) : none;
  if (had == has) return;
  const auto used = [&](const std::string& name) {
    const std::uint32_t* found = state.licenses_used.find(name);
    return found ? *found : 0;
  };
  for (const LicenseRequest& r : has) state.licenses_used.set(r.name, used(r.name) + r.count);
  for (const LicenseRequest& r : had) {
    if (const std::uint32_t left = used(r.name) - r.count)
      state.licenses_used.set(r.name, left);
    else
      state.licenses_used.erase(r.name);
  }
}

void move_name(ClusterState& state, const Job* before, const Job* after) {
  const bool was = before && is_named(*before), is = after && is_named(*after);
  if (was && is && before->spec == after->spec) return;
  if (was) state.names.erase({name_hash(*before->spec), before->key.job});
  if (is) state.names.set({name_hash(*after->spec), after->key.job}, Lsn{});
}

void move_gang(ClusterState& state, const Job* before, const Job* after) {
  const auto had = before ? gang_member(*before) : std::nullopt;
  const auto has = after ? gang_member(*after) : std::nullopt;
  if (had == has) return;
  if (had) state.gangs.erase(*had);
  if (has) state.gangs.set(*has, Lsn{});
}

// No node is kept for two jobs: see expedite_of().
void move_kept_nodes(ClusterState& state, const Job* before, const Job* after) {
  static const std::vector<NodeId> none;
  const auto& had = before && before->expedited ? before->expedited->nodes : none;
  const auto& has = after && after->expedited ? after->expedited->nodes : none;
  if (had == has) return;
  for (const NodeId node : had) state.kept_nodes.erase(node);
  for (const NodeId node : has) state.kept_nodes.set(node, after->key);
}

void index_job(ClusterState& state, const Job* before, const Job& after) {
  if (is_queued(after)) {
    state.pending.set(after.key, after.version);
  } else if (before && is_queued(*before)) {
    state.pending.erase(after.key);
  }

  const std::vector<JobKey> was = before ? prerequisites(*before) : std::vector<JobKey>{};
  const std::vector<JobKey> is = prerequisites(after);
  if (was != is) {
    for (const JobKey& target : was) {
      if (!std::binary_search(is.begin(), is.end(), target))
        state.dependents.erase({target, after.key});
    }
    for (const JobKey& target : is) {
      if (!std::binary_search(was.begin(), was.end(), target))
        state.dependents.set({target, after.key}, Lsn{});
    }
  }

  move_timer(state, before ? timer_of(*before) : std::nullopt, timer_of(after));
  move_timer(state, before ? deadline_timer_of(*before) : std::nullopt, deadline_timer_of(after));
  move_timer(state, before ? notice_timer_of(*before) : std::nullopt, notice_timer_of(after));
  move_timer(state, before ? gang_timer_of(*before) : std::nullopt, gang_timer_of(after));
  move_timer(state, before ? kept_timer_of(*before) : std::nullopt, kept_timer_of(after));
  move_kept_nodes(state, before, &after);
  count_licenses(state, before, &after);
  move_name(state, before, &after);
  if (has_preemption_claim(after))
    state.preemption_claims.set(after.key, Lsn{});
  else if (before && has_preemption_claim(*before))
    state.preemption_claims.erase(after.key);
  if (is_resumable(after))
    state.resumable.set(after.key, Lsn{});
  else if (before && is_resumable(*before))
    state.resumable.erase(after.key);
  move_gang(state, before, &after);
  count_current_usage(state, before, &after);
}

}  // namespace

void put_job(ClusterState& state, Job after, Lsn lsn) {
  after.version = lsn;
  const Job* before = state.jobs.find(after.key);
  index_job(state, before, after);
  const JobKey key = after.key;
  const Counted was = counted(before), is = counted(&after);
  state.jobs.set(key, std::move(after));
  if (!key.task.is_none()) count_in_array(state, key, was, is, lsn);
}

void drop_job(ClusterState& state, const JobKey& key) {
  const Job* job = state.jobs.find(key);
  if (!job) return;
  if (is_queued(*job)) state.pending.erase(key);
  for (const JobKey& target : prerequisites(*job)) state.dependents.erase({target, key});
  if (const auto timer = timer_of(*job)) state.timers.erase(*timer);
  if (const auto timer = deadline_timer_of(*job)) state.timers.erase(*timer);
  if (const auto timer = notice_timer_of(*job)) state.timers.erase(*timer);
  if (const auto timer = gang_timer_of(*job)) state.timers.erase(*timer);
  if (const auto timer = kept_timer_of(*job)) state.timers.erase(*timer);
  move_kept_nodes(state, job, nullptr);
  count_licenses(state, job, nullptr);
  move_name(state, job, nullptr);
  if (has_preemption_claim(*job)) state.preemption_claims.erase(key);
  if (is_resumable(*job)) state.resumable.erase(key);
  move_gang(state, job, nullptr);
  count_current_usage(state, job, nullptr);
  state.jobs.erase(key);
}

void add_to_partitions(ClusterState& state, const std::string& node,
                       const std::vector<std::string>& partitions) {
  for (const std::string& name : partitions) {
    const Partition* found = state.partitions.find(name);
    if (!found || state.members.find({name, node})) continue;
    Partition partition = *found;
    partition.nodes.push_back(node);
    put_partition(state, std::move(partition));
  }
}

void put_node(ClusterState& state, Node after, Lsn lsn) {
  after.version = lsn;
  const NodeId id = after.id;
  if (is_watched(after))
    state.watched.set(id, Lsn{});
  else
    state.watched.erase(id);
  if (after.leaving && after.charges.empty()) {
    state.watched.erase(id);
    state.nodes.erase(id);
    state.node_ids.erase(after.name);
    return;
  }
  state.nodes.set(id, std::move(after));
}

}  // namespace ares::core
