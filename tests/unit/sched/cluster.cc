#include "unit/sched/cluster.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/cluster/preemptible.h"
#include "core/job/gang.h"
#include "core/state/indexes.h"

namespace ares::core::sched {

void TestCluster::put(Node node) {
  const NodeId id = node.id;
  state.node_ids.set(node.name, id);
  state.nodes.set(id, std::move(node));
}

Node TestCluster::node(const std::string& name) const {
  return *state.nodes.find(*state.node_ids.find(name));
}

void TestCluster::add_node(const std::string& name, std::uint32_t cpus, Bytes memory) {
  Node made;
  made.id = state.next_node_id;
  state.next_node_id = made.id.next();
  made.name = name;
  made.inventory.cpus = cpus;
  made.inventory.memory = memory;
  made.incarnation = 7;
  made.contact = Contact::registered;
  made.version = Lsn(++version_);
  put(std::move(made));
  Partition main = state.partitions.find("main") ? *state.partitions.find("main") : Partition{};
  main.name = "main";
  main.is_default = true;
  main.nodes.push_back(name);
  put(std::move(main));
}

void TestCluster::add_gpus(const std::string& name, const std::string& type, std::uint32_t count) {
  Node changed = node(name);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint16_t>(changed.inventory.gpus.size());
    changed.inventory.gpus.push_back({GpuIndex(index), type, {}});
  }
  put(std::move(changed));
}

void TestCluster::put(Partition partition) {
  const std::string name = partition.name;
  state.partitions.set(name, std::move(partition));
}

JobSpec TestCluster::spec(std::uint32_t tasks, std::uint32_t nodes) {
  JobSpec made;
  made.name = "test";
  made.tasks = tasks;
  made.min_nodes = made.max_nodes = nodes;
  made.partitions = {"main"};
  return made;
}

Job TestCluster::job(JobSpec spec) {
  Job made;
  made.key = JobKey{JobId(next_job_++), TaskIndex{}};
  made.own_id = made.key.job;
  made.time_limit = spec.time_limit;
  if (spec.array) {
    made.array.emplace();
    made.array->waiting = *spec.array;
    made.array->throttle = spec.array_throttle;
  }
  made.spec = std::make_shared<const JobSpec>(std::move(spec));
  made.submitted = made.eligible = kNow - std::chrono::hours(1);
  made.version = Lsn(++version_);
  return made;
}

void TestCluster::put(Job job) {
  const JobKey key = job.key;
  if (is_queued(job))
    state.pending.set(key, job.version);
  else
    state.pending.erase(key);
  state.next_job_id = std::max(state.next_job_id, key.job.next());
  if (job.spec->gang) {
    if (job.gang == JobId{0}) job.gang = open_gang_of(state, *job.spec).value_or(key.job);
    const GangMember member{job.spec->uid, job.spec->gang->name, job.gang, key};
    if (gang_member(job))
      state.gangs.set(member, Lsn{});
    else
      state.gangs.erase(member);
  }
  const bool licensed = !job.spec->licenses.empty();
  const Job* before = state.jobs.find(key);
  const bool kept = job.expedited || (before && before->expedited);
  if (has_preemption_claim(job))
    state.preemption_claims.set(key, Lsn{});
  else
    state.preemption_claims.erase(key);
  if (is_resumable(job))
    state.resumable.set(key, Lsn{});
  else
    state.resumable.erase(key);
  count_current_usage(state, state.jobs.find(key), &job);
  state.jobs.set(key, std::move(job));
  if (licensed || kept) rebuild_indexes(state);
}

JobKey record_of(const PlanGroup& group, const Start& start) {
  for (const auto& [key, version] : group.jobs)
    if (key == start.key) return key;
  return group.jobs.front().first;
}

void TestCluster::take(const Plan& plan, Time now) {
  for (const PlanGroup& group : plan.groups) {
    if (group.resume) resume(group.resume->job, now);
    for (const Start& start : group.starts) {
      Job running = *state.jobs.find(record_of(group, start));
      if (running.array) {
        Job array = running;
        array.array->waiting.erase(start.key.task.value);
        ++array.array->active;
        ++array.array->holding;
        put(std::move(array));
        running.array.reset();
        running.key = start.key;
      }
      running.state = JobState::running;
      running.preemption_claim.reset();
      running.preempted.reset();
      running.expedited.reset();
      running.attempt = running.attempt.next();
      running.started = now;
      running.allocation = Allocation{Fence(++version_), start.partition,  now,
                                      start.nodes,       start.time_limit, start.licenses};
      running.allocation->alternative = start.alternative;
      running.allocation->priority = start.priority;
      running.version = Lsn(version_);
      for (const NodeShare& share : start.nodes) {
        Node node = *state.nodes.find(share.node);
        node.charges.push_back({{running.key, running.attempt},
                                Fence(version_),
                                share.cpus,
                                share.memory,
                                share.gpus,
                                share.cpu_ids,
                                running.spec->uid,
                                running.spec->exclusive_user,
                                share.gpu_part});
        node.charges.back().tmp_disk = running.spec->tmp_disk;
        node.charges.back().cpu_thousandths = share.cpu_thousandths;
        put(std::move(node));
      }
      put(std::move(running));
    }
  }
}

void TestCluster::evict(const Plan& plan, Time now) {
  for (const PlanGroup& group : plan.groups) {
    for (std::size_t i = 0; i < group.claims.size(); ++i) {
      const auto& [key, claim] = group.claims[i];
      Job job = *state.jobs.find(group.jobs[i].first);
      if (job.array) {
        Job array = job;
        array.array->waiting.erase(key.task.value);
        ++array.array->active;
        put(std::move(array));
        job.array.reset();
        job.key = key;
      }
      job.preemption_claim = claim;
      job.version = Lsn(++version_);
      put(std::move(job));
    }
    if (group.claims.empty()) continue;
    const auto& [key, claim] = group.claims.front();
    const UserId user = state.jobs.find(key)->spec->uid;
    for (const AttemptKey& victim : claim.victims) {
      state.evictions.set({now, victim}, user);
      if (releases_only_cpus(state, *state.jobs.find(victim.job))) {
        suspend(victim.job, now, key);
        continue;
      }
      Job ending = *state.jobs.find(victim.job);
      ending.state = JobState::completing;
      ending.ending = eviction_of(state, policy, ending, key, now);
      ending.version = Lsn(++version_);
      put(std::move(ending));
    }
  }
}

void TestCluster::charge_cpus(const Job& job) {
  for (const NodeShare& share : job.allocation->nodes) {
    Node node = *state.nodes.find(share.node);
    for (Charge& charge : node.charges) {
      if (charge.attempt.job != job.key) continue;
      charge.cpus = job.allocation->cpus_released ? 0 : share.cpus;
      charge.cpu_thousandths = job.allocation->cpus_released ? 0 : share.cpu_thousandths;
      charge.cpu_ids = job.allocation->cpus_released ? std::vector<std::uint32_t>{} : share.cpu_ids;
    }
    put(std::move(node));
  }
}

void TestCluster::suspend(const JobKey& key, Time now, std::optional<JobKey> preempted_by) {
  Job job = *state.jobs.find(key);
  job.state = JobState::suspended;
  job.allocation->suspension = Suspension{now, std::nullopt, {}, preempted_by};
  job.allocation->cpus_released = true;
  job.version = Lsn(++version_);
  charge_cpus(job);
  put(std::move(job));
}

void TestCluster::resume(const JobKey& key, Time now) {
  Job job = *state.jobs.find(key);
  job.state = JobState::running;
  job.allocation->suspended += now - job.allocation->suspension->at;
  job.allocation->suspension.reset();
  job.allocation->cpus_released = false;
  job.version = Lsn(++version_);
  charge_cpus(job);
  put(std::move(job));
}

void TestCluster::end(const JobKey& key) {
  Job ended = *state.jobs.find(key);
  for (const NodeShare& share : ended.allocation ? ended.allocation->nodes : NodeShares()) {
    Node node = *state.nodes.find(share.node);
    std::erase_if(node.charges, [&](const Charge& charge) { return charge.attempt.job == key; });
    put(std::move(node));
  }
  ended.state = JobState::completed;
  put(std::move(ended));
}

const Start* start_of(const Plan& plan, const JobKey& key) {
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts)
      if (start.key == key) return &start;
  return nullptr;
}

const PendingInfo* pending_of(const Plan& plan, const JobKey& key) {
  return plan.pending.find(key);
}

std::vector<std::string> node_names(const ClusterState& state, const Start& start) {
  std::vector<std::string> names;
  for (const NodeShare& share : start.nodes) names.push_back(state.nodes.find(share.node)->name);
  return names;
}

std::string over_commitment(const ClusterState& state, const Plan& plan) {
  struct Used {
    std::uint64_t cpus = 0;  // thousandths
    Bytes memory{};
    std::map<GpuIndex, std::uint32_t> gpus;  // thousandths
    std::set<std::uint32_t> cpu_ids;
  };
  std::map<NodeId, Used> used;
  std::string wrong;
  const auto charge = [&](NodeId id, std::uint64_t cpus, Bytes memory,
                          const std::vector<GpuIndex>& gpus, std::uint32_t part,
                          const std::vector<std::uint32_t>& ids) {
    Used& node = used[id];
    node.cpus += cpus;
    node.memory += memory;
    if (part > 0 && gpus.size() != 1) wrong = "a part of no GPU, or of several";
    for (const GpuIndex gpu : gpus)
      if ((node.gpus[gpu] += part > 0 ? part : 1000) > 1000)
        wrong = "more than all of a GPU given on " + state.nodes.find(id)->name;
    for (const std::uint32_t cpu : ids)
      if (!node.cpu_ids.insert(cpu).second)
        wrong = "CPU given twice on " + state.nodes.find(id)->name;
  };
  state.nodes.for_each([&](NodeId id, const Node& node) {
    for (const Charge& c : node.charges)
      charge(id, cpu_thousandths_of(c), c.memory, c.gpus, c.gpu_part, c.cpu_ids);
  });
  std::map<NodeId, std::set<std::uint32_t>> users, keepers;
  const auto visit = [&](NodeId id, const std::optional<UserId>& user, bool keeps) {
    users[id].insert(user ? user->value() : ~0u);
    if (keeps) keepers[id].insert(user->value());
  };
  state.nodes.for_each([&](NodeId id, const Node& node) {
    for (const Charge& c : node.charges) visit(id, c.user, c.exclusive_user);
  });
  for (const PlanGroup& group : plan.groups)
    if (group.resume)
      for (const NodeShare& share : state.jobs.find(group.resume->job)->allocation->nodes)
        charge(share.node, cpu_thousandths_of(share), Bytes{}, {}, 0, share.cpu_ids);
  std::set<JobKey> started;
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) {
      if (!started.insert(start.key).second) wrong = "started twice";
      for (const NodeShare& share : start.nodes) {
        const Node& node = *state.nodes.find(share.node);
        if (node.admin != AdminState::up || node.contact != Contact::registered)
          wrong = "start on unusable " + node.name;
        if (share.incarnation != node.incarnation) wrong = "wrong incarnation";
        if (share.tasks == 0) wrong = "share without a task";
        if (share.cpu_thousandths > 0 && (node.inventory.cpu_thousandths == 0 ||
                                          whole_cpus(share.cpu_thousandths) != share.cpus))
          wrong = "a fraction of a CPU given on " + node.name;
        charge(share.node, cpu_thousandths_of(share), share.memory, share.gpus, share.gpu_part,
               share.cpu_ids);
        const JobSpec& spec = *state.jobs.find(record_of(group, start))->spec;
        visit(share.node, spec.uid, spec.exclusive_user);
      }
    }
  for (const auto& [id, keeping] : keepers)
    if (users[id].size() > 1) wrong = state.nodes.find(id)->name + " is kept and shared";
  for (const auto& [id, node] : used) {
    const Inventory& has = state.nodes.find(id)->inventory;
    if (node.cpus > cpu_thousandths_of(has) || node.memory > has.memory)
      wrong = state.nodes.find(id)->name + " over-committed";
    for (const auto& [gpu, part] : node.gpus)
      if (std::none_of(has.gpus.begin(), has.gpus.end(),
                       [&, index = gpu](const Gpu& g) { return g.index == index; }))
        wrong = "GPU that is not there";
  }
  return wrong;
}

}  // namespace ares::core::sched
