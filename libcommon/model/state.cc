#include "model/state.h"

#include <algorithm>

namespace ares {

bool is_queued(const Job& job) {
  return job.state == JobState::pending && (!job.array || !job.array->waiting.empty());
}

std::vector<JobId> awaited_jobs(const Job& job) {
  std::vector<JobId> targets;
  // A failed dependency stays failed whatever becomes of its target, so nothing is awaited any more.
  if (job.waiting_for.empty() || job.dependency_failed || !is_queued(job)) return targets;
  for (const Dependency& d : job.waiting_for) targets.push_back(d.target.job);
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

std::optional<Timer> timer_of(const Job& job) {
  if (job.state == JobState::configuring && job.allocation) {
    return Timer{TimerKind::preparing, job.allocation->at, job.key};
  }
  if (job.state == JobState::running && job.allocation && job.started) {
    const auto waits = [](const NodeShare& s) { return s.phase == SharePhase::ready; };
    if (std::any_of(job.allocation->nodes.begin(), job.allocation->nodes.end(), waits)) {
      return Timer{TimerKind::starting, *job.started, job.key};
    }
  }
  if (is_terminal(job.state) && job.ended && job.key.task.is_none()) {
    return Timer{TimerKind::finished, *job.ended, job.key};
  }
  return std::nullopt;
}

void put_partition(ClusterState& state, Partition partition) {
  for (const std::string& node : partition.nodes)
    state.members.set({partition.name, node}, Lsn{});
  const std::string name = partition.name;
  state.partitions.set(name, std::move(partition));
}

void rebuild_indexes(ClusterState& state) {
  state.members = {};
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    for (const std::string& node : partition.nodes) state.members.set({name, node}, Lsn{});
  });
  state.pending = {};
  state.dependents = {};
  state.timers = {};
  state.request_ages = {};
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (is_queued(job)) state.pending.set(key, job.version);
    for (JobId target : awaited_jobs(job)) {
      const std::vector<JobKey>* waiting = state.dependents.find(target);
      std::vector<JobKey> keys = waiting ? *waiting : std::vector<JobKey>{};
      keys.push_back(key);  // visited in ascending order
      state.dependents.set(target, std::move(keys));
    }
    if (const auto timer = timer_of(job)) state.timers.set(*timer, Lsn{});
  });
  state.requests.for_each([&](const RequestKey& key, const Request& request) {
    state.request_ages.set({request.expires, key}, Lsn{});
  });
}

}  // namespace ares
