#include "core/state/indexes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/state/timers.h"

namespace ares {

JobKey prerequisite(const Job& job, const Dependency& dependency) {
  if (dependency.kind == DependencyKind::singleton) return {job.key.job, kFirstOfName};
  const JobKey& target = dependency.target;
  if (!target.task.is_none()) return target;
  if (dependency.kind == DependencyKind::after) return {target.job, kAllStarted};
  if (dependency.kind != DependencyKind::after_corr || !job.spec->array) return target;
  return {target.job, job.key.task.is_none() ? kEachTask : job.key.task};
}

std::vector<JobKey> prerequisites(const Job& job) {
  std::vector<JobKey> targets;
  // A failed dependency stays failed whatever its target does, so there is nothing to wait for.
  if (job.waiting_for.empty() || job.dependency_failed || !is_queued(job)) return targets;
  for (const Dependency& d : job.waiting_for) targets.push_back(prerequisite(job, d));
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

bool has_dependents(const ClusterState& state, JobId target) {
  bool found = false;
  const JobKey first{target, TaskIndex{0}};
  state.dependents.for_each_from(DependencyEdge{first, JobKey{JobId{0}, TaskIndex{0}}},
                                 [&](const DependencyEdge& key, const Lsn&) {
                                   found = key.first.job == target;
                                   return false;
                                 });
  return found;
}

void put_partition(ClusterState& state, Partition partition) {
  for (const std::string& node : partition.nodes) state.members.set({partition.name, node}, Lsn{});
  const std::string name = partition.name;
  state.partitions.set(name, std::move(partition));
}

std::optional<GangMember> gang_member(const Job& job) {
  if (!job.spec->gang || is_terminal(job.state)) return std::nullopt;
  return GangMember{job.spec->uid, job.spec->gang->name, job.gang, job.key};
}

const std::vector<LicenseRequest>& licenses_held(const Job& job) {
  static const std::vector<LicenseRequest> none;
  if (!holds_resources(job.state) || !job.allocation) return none;
  return job.allocation->licenses;
}

std::uint64_t name_hash(const JobSpec& spec) {
  // FNV-1a.
  std::uint64_t value = 0xcbf29ce484222325ULL;
  const auto mix = [&](unsigned char c) { value = (value ^ c) * 0x100000001b3ULL; };
  for (std::uint32_t uid = spec.uid.value(), i = 0; i < 4; ++i, uid >>= 8)
    mix(static_cast<unsigned char>(uid & 0xff));
  for (const char c : spec.name) mix(static_cast<unsigned char>(c));
  return value;
}

const Job* first_of_name(const ClusterState& state, const JobSpec& spec) {
  const std::uint64_t hash = name_hash(spec);
  const Job* first = nullptr;
  state.names.for_each_from(NameKey{hash, JobId{}}, [&](const NameKey& key, const Lsn&) {
    if (key.first != hash) return false;
    const Job* job = state.jobs.find(JobKey{key.second, {}});
    if (job && job->spec->uid == spec.uid && job->spec->name == spec.name) first = job;
    return first == nullptr;
  });
  return first;
}

void count_current_usage(ClusterState& state, const Job* before, const Job* after) {
  const auto counts = [](const Job* job) { return job && !is_terminal(job->state); };
  const bool was = counts(before), is = counts(after);
  if (!was && !is) return;
  const auto same_waiting = [&] {
    return !before->array || before->array->waiting.count() == after->array->waiting.count();
  };
  // Fast path: most changes of a record do not affect its usage.
  if (was && is && before->spec == after->spec &&
      before->array.has_value() == after->array.has_value() && same_waiting() &&
      holds_resources(before->state) == holds_resources(after->state) &&
      before->attempt == after->attempt &&
      before->accrues.has_value() == after->accrues.has_value())
    return;
  const CurrentUsage had = was ? current_usage_of(*before) : CurrentUsage{},
                     has = is ? current_usage_of(*after) : CurrentUsage{};
  const auto change = [&](const Job& job, const auto& how) {
    const UsageKey usage_key = usage_key_of(job);
    const CurrentUsage* found = state.current_usage.find(usage_key);
    CurrentUsage usage = found ? *found : CurrentUsage{};
    how(usage);
    if (usage.empty())
      state.current_usage.erase(usage_key);
    else
      state.current_usage.set(usage_key, std::move(usage));
  };
  if (!has.empty())
    change(*after, [&](CurrentUsage& usage) {
      usage.submitted += has.submitted;
      usage.running += has.running;
      usage.accruing += has.accruing;
      add_tres(usage.tres, has.tres);
    });
  if (!had.empty())
    change(*before, [&](CurrentUsage& usage) {
      usage.submitted -= had.submitted;
      usage.running -= had.running;
      usage.accruing -= had.accruing;
      subtract_tres(usage.tres, had.tres);
    });
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
  state.request_loads = {};
  state.licenses_used = {};
  state.names = {};
  state.preemption_claims = {};
  state.kept_nodes = {};
  state.gangs = {};
  state.resumable = {};
  state.current_usage = {};
  state.jobs.for_each([&](const JobKey& key, const Job& job) {
    count_current_usage(state, nullptr, &job);
    if (is_queued(job)) state.pending.set(key, job.version);
    for (const JobKey& target : prerequisites(job)) state.dependents.set({target, key}, Lsn{});
    if (const auto timer = timer_of(job)) state.timers.set(*timer, Lsn{});
    if (const auto timer = deadline_timer_of(job)) state.timers.set(*timer, Lsn{});
    if (const auto timer = notice_timer_of(job)) state.timers.set(*timer, Lsn{});
    if (const auto timer = gang_timer_of(job)) state.timers.set(*timer, Lsn{});
    if (const auto timer = kept_timer_of(job)) state.timers.set(*timer, Lsn{});
    if (job.expedited)
      for (const NodeId node : job.expedited->nodes) state.kept_nodes.set(node, key);
    if (const auto member = gang_member(job)) state.gangs.set(*member, Lsn{});
    for (const LicenseRequest& r : licenses_held(job)) {
      const std::uint32_t* used = state.licenses_used.find(r.name);
      state.licenses_used.set(r.name, (used ? *used : 0) + r.count);
    }
    if (has_preemption_claim(job)) state.preemption_claims.set(key, Lsn{});
    if (is_resumable(job)) state.resumable.set(key, Lsn{});
    if (is_named(job)) state.names.set({name_hash(*job.spec), key.job}, Lsn{});
  });
  state.watched = {};
  state.nodes.for_each([&](NodeId id, const Node& node) {
    if (is_watched(node)) state.watched.set(id, Lsn{});
  });
  std::map<UserId, RequestLoad> loads;
  state.requests.for_each([&](const RequestKey& key, const Request& request) {
    state.request_ages.set({request.expires, key}, Lsn{});
    RequestLoad& load = loads[key.uid];
    ++load.count;
    load.bytes += remembered_bytes(request);
  });
  for (const auto& [user, load] : loads) state.request_loads.set(user, load);
}

std::uint64_t remembered_bytes(const Request& request) {
  // Size of the record and of its map entries; two of them hold the id.
  constexpr std::uint64_t kEach = 400;
  return kEach + 2 * request.key.id.size() + request.error.message.size() + request.text.size() +
         request.jobs.size() * sizeof(JobKey);
}

void drop_request(ClusterState& state, const RequestKey& key) {
  const Request* request = state.requests.find(key);
  if (!request) return;
  state.request_ages.erase({request->expires, key});
  if (const RequestLoad* found = state.request_loads.find(key.uid)) {
    const RequestLoad load{found->count - 1, found->bytes - remembered_bytes(*request)};
    if (load.count == 0)
      state.request_loads.erase(key.uid);
    else
      state.request_loads.set(key.uid, load);
  }
  state.requests.erase(key);
}

void put_request(ClusterState& state, Request request) {
  drop_request(state, request.key);
  state.request_ages.set({request.expires, request.key}, Lsn{});
  const RequestLoad* found = state.request_loads.find(request.key.uid);
  RequestLoad load = found ? *found : RequestLoad{};
  ++load.count;
  load.bytes += remembered_bytes(request);
  state.request_loads.set(request.key.uid, load);
  const RequestKey key = request.key;
  state.requests.set(key, std::move(request));
}

}  // namespace ares
