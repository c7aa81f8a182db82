// Cost of finding victims for one job: a full pass over a full cluster, and the same without preemptible jobs.
//   bench_preempt [NODES JOBS_A_NODE NODES_WANTED]...
// Default sizes: 1000 8 1, 1000 8 64 and 10000 8 64. Times are CPU time of this thread, the minimum of five passes.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "core/sched/pass/plan.h"

namespace ares::core {
namespace {

constexpr Time kNow{std::chrono::hours(400'000)};

struct Size {
  std::uint32_t nodes = 0, jobs = 0, wanted = 0;
};

Partition partition(const std::string& name, std::int32_t tier, std::uint32_t nodes) {
  Partition out;
  out.name = name;
  out.tier = tier;
  for (std::uint32_t i = 1; i <= nodes; ++i) out.nodes.push_back("n" + std::to_string(i));
  return out;
}

ClusterState full_cluster(const Size& size, bool preemptible) {
  ClusterState state;
  Partition low = partition("low", 1, size.nodes);
  if (preemptible) low.preempt_mode = PreemptMode::requeue;
  state.partitions.set("low", low);
  state.partitions.set("high", partition("high", 2, size.nodes));
  std::mt19937_64 random(1);
  std::uint64_t id = 0;
  auto spec = std::make_shared<JobSpec>();
  spec->partitions = {"low"};
  for (std::uint32_t n = 1; n <= size.nodes; ++n) {
    Node node;
    node.id = NodeId(n);
    node.name = "n" + std::to_string(n);
    node.inventory.cpus = 8 * size.jobs;
    node.inventory.memory = Bytes::gib(512);
    node.contact = Contact::registered;
    for (std::uint32_t j = 0; j < size.jobs; ++j) {
      Job job;
      job.key = {JobId(++id), {}};
      job.spec = spec;
      job.state = JobState::running;
      job.attempt = AttemptNo(1);
      job.started = kNow - Seconds(100 + static_cast<int>(random() % 100'000));
      NodeShare share;
      share.node = node.id;
      share.cpus = 8;
      job.allocation = Allocation{Fence(id), "low", *job.started, {share}, Seconds(500'000)};
      node.charges.push_back({{job.key, job.attempt}, Fence(id), 8, {}, {}, {}, UserId(1)});
      const auto job_key = job.key;
      state.jobs.set(job_key, std::move(job));
    }
    state.node_ids.set(node.name, node.id);
    const auto node_id = node.id;
    state.nodes.set(node_id, std::move(node));
  }
  Job waits;
  waits.key = {JobId(++id), {}};
  auto wide = std::make_shared<JobSpec>();
  wide->partitions = {"high"};
  wide->min_nodes = wide->max_nodes = wide->tasks = size.wanted;
  wide->cpus_per_task = 4 * size.jobs;  // half of each node
  wide->time_limit = Seconds(3600);
  waits.time_limit = wide->time_limit;
  waits.spec = wide;
  waits.version = Lsn(1);
  state.pending.set(waits.key, waits.version);
  const auto waits_key = waits.key;
  state.jobs.set(waits_key, std::move(waits));
  return state;
}

double seconds_of_pass(const ClusterState& state, const Policy& policy, std::size_t& victims) {
  const auto cpu = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  Planner planner;
  const Budget budget{.units = ~std::uint64_t{0}, .estimates = 0, .details = false};
  double best = 1e9;
  planner.plan(state, policy, budget, kNow);  // fills the caches that last between passes
  for (int i = 0; i < 5; ++i) {
    const double begin = cpu();
    const Plan plan = planner.plan(state, policy, budget, kNow);
    best = std::min(best, cpu() - begin);
    victims = 0;
    for (const PlanGroup& group : plan.groups)
      if (!group.claims.empty()) victims += group.claims.front().claim.victims.size();
  }
  return best;
}

void measure(const Size& size) {
  Policy policy;
  policy.preemption.per_hour = policy.preemption.per_day = 0;
  std::size_t victims = 0, none = 0;
  const double with = seconds_of_pass(full_cluster(size, true), policy, victims);
  const double without = seconds_of_pass(full_cluster(size, false), policy, none);
  std::printf(
      "%u nodes, %u running, job of %u nodes: %zu victims, %.2f ms a pass; without %.2f ms\n",
      size.nodes, size.nodes * size.jobs, size.wanted, victims, 1e3 * with, 1e3 * without);
}

}  // namespace
}  // namespace ares::core

int main(int argc, char** argv) {
  using ares::core::Size;
  std::vector<Size> sizes;
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::atoi(argv[i])); };
  for (int i = 1; i + 2 < argc; i += 3) sizes.push_back({number(i), number(i + 1), number(i + 2)});
  if (sizes.empty()) sizes = {{1000, 8, 1}, {1000, 8, 64}, {10000, 8, 64}};
  for (const Size& size : sizes) ares::core::measure(size);
}
