#include "unit/sched/random_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {

using std::chrono::minutes;

void add_placement(TestCluster& cluster, Random& dice) {
  Partition main = cluster.partition();
  const auto strategy = [&] { return static_cast<PlacementStrategy>(dice.upto(2)); };
  main.placement = {strategy(), strategy()};
  cluster.policy.networks = {};
  main.topology.clear();
  if (dice.percent(60)) {
    NetworkSpec network{"net", dice.percent(50) ? NetworkKind::tree : NetworkKind::block, {}};
    std::vector<std::string> leaves;
    for (std::size_t at = 0; at < main.nodes.size();) {
      leaves.push_back("leaf" + std::to_string(at));
      NetworkDomain& leaf = network.domains.emplace_back(NetworkDomain{leaves.back(), {}, {}});
      for (std::uint32_t n = 1 + dice.upto(2); n > 0 && at < main.nodes.size(); --n)
        leaf.nodes.push_back(main.nodes[at++]);
    }
    if (network.kind == NetworkKind::tree) {
      network.domains.push_back({"spine", {}, leaves});
      dice.shuffle(network.domains);
    }
    cluster.policy.networks = std::vector{network};
    main.topology = "net";
  }
  cluster.put(main);
}

void add_nodes(TestCluster& cluster, Random& dice) {
  const std::uint32_t nodes = 1 + dice.upto(7);
  for (std::uint32_t i = 1; i <= nodes; ++i) {
    const std::string name = "n" + std::to_string(i);
    cluster.add_node(name, 1 + dice.upto(7), Bytes::mib(1000 + 1000 * dice.upto(3)));
    if (dice.percent(40)) cluster.add_gpus(name, "a100", 1 + dice.upto(3));
    if (dice.percent(30)) cluster.add_gpus(name, "h100", 1 + dice.upto(3));
    Node node = cluster.node(name);
    node.inventory.features = {dice.percent(50) ? "r1" : "r2"};
    cluster.put(node);
  }
  add_placement(cluster, dice);
}

// Two or three alternative GPUs, some of them at a cost.
void add_alternatives(JobSpec& spec, Random& dice) {
  spec.gpus_per_node.clear();
  spec.gpus_total.clear();
  spec.gpus_per_task.clear();
  spec.alternatives_per = static_cast<GpusPer>(dice.upto(2));
  const char* const types[] = {"a100", "h100", ""};
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (i == 2 && dice.percent(60)) break;
    GpuAlternative& one = spec.gpu_alternatives.emplace_back();
    one.gpus = {{types[i], 1 + dice.upto(2)}};
    if (spec.alternatives_per == GpusPer::node && dice.percent(25))
      one.gpus = {{types[i], 0, 100 + 100 * dice.upto(8)}};
    if (dice.percent(40)) one.cost = 500 + 250 * dice.upto(8);
  }
  if (dice.percent(50)) std::swap(spec.gpu_alternatives[0], spec.gpu_alternatives[1]);
  spec.*gpu_list(spec.alternatives_per) = spec.gpu_alternatives[0].gpus;
}

// A part of a GPU instead of whole ones.
void add_part(JobSpec& spec, Random& dice) {
  spec.gpu_alternatives.clear();
  spec.gpus_per_node.clear();
  spec.gpus_total.clear();
  spec.gpus_per_task.clear();
  const GpuRequest part{dice.percent(50) ? "" : "a100", 0, 50 + 50 * dice.upto(18)};
  const bool one_node = spec.max_nodes == 1 || (spec.max_nodes == 0 && spec.tasks == 1);
  (one_node && dice.percent(30) ? spec.gpus_total : spec.gpus_per_node) = {part};
}

bool part_asked(const JobSpec& spec) {
  return part_request(spec) ||
         std::any_of(spec.gpu_alternatives.begin(), spec.gpu_alternatives.end(),
                     [](const GpuAlternative& one) { return one.gpus.front().part > 0; });
}

JobSpec random_spec(Random& dice) {
  JobSpec spec = TestCluster::spec(1 + dice.upto(5), 1 + dice.upto(2));
  if (dice.percent(30)) spec.max_nodes = dice.percent(50) ? 0 : spec.min_nodes + dice.upto(3);
  if (dice.percent(30)) spec.cpus_per_task = 1 + dice.upto(2);
  if (dice.percent(20)) spec.tasks_per_node = 1 + dice.upto(2);
  if (dice.percent(30))
    spec.memory_per_node = Bytes::mib(dice.upto(4) * 500);
  else if (dice.percent(30))
    spec.memory_per_cpu = Bytes::mib(100 + 100 * dice.upto(5));
  if (dice.percent(20))
    spec.gpus_per_node = {{dice.percent(50) ? "" : "a100", 1 + dice.upto(2)}};
  else if (dice.percent(15))
    spec.gpus_total = {{dice.percent(50) ? "" : "h100", 1 + dice.upto(4)}};
  if (dice.percent(12)) add_alternatives(spec, dice);
  if (dice.percent(20)) add_part(spec, dice);
  if (!part_asked(spec) && dice.percent(10)) spec.exclusive = true;
  spec.uid = UserId(1 + dice.upto(2));
  if (dice.percent(8)) spec.exclusive_user = true;
  const char* const constraints[] = {"r1", "r1|r2", "[r1|r2]", "r1*1&r2*1"};
  if (dice.percent(15)) spec.features = {constraints[dice.upto(3)]};
  if (dice.percent(5)) spec.node_counts.emplace().insert(1 + dice.upto(1), 2 + dice.upto(2));
  if (spec.node_counts) {
    spec.min_nodes = spec.node_counts->front();
    spec.max_nodes = spec.node_counts->back();
  }
  if (dice.percent(10)) spec.required_nodes = {"n" + std::to_string(1 + dice.upto(3))};
  if (dice.percent(10)) spec.excluded_nodes = {"n" + std::to_string(1 + dice.upto(3))};
  if (dice.percent(80)) spec.time_limit = minutes(1 + dice.upto(100));
  if (dice.percent(10)) {
    spec.array.emplace().insert(0, dice.upto(6));
    spec.array_throttle = dice.upto(3);
  }
  spec.nice = static_cast<std::int32_t>(dice.upto(3));
  // Such a constraint is refused together with limits.
  if (spec.features == std::vector<std::string>{constraints[3]}) return spec;
  if (dice.percent(10)) spec.switches = 1 + dice.upto(1);
  if (spec.switches > 0 && dice.percent(50)) spec.switches_wait = minutes(50 + dice.upto(100));
  if (dice.percent(10)) spec.segment = 1 + dice.upto(1);
  if (dice.percent(10)) spec.prefer = dice.percent(50) ? "r1" : "r1|r2";
  return spec;
}

void submit_random(TestCluster& cluster, Random& dice) {
  if (!dice.percent(12)) {
    cluster.submit(random_spec(dice));
    return;
  }
  const std::uint32_t size = 1 + dice.upto(3);
  const GangRequest gang{"g" + std::to_string(cluster.state.next_job_id.value()), size, 0,
                         std::nullopt};
  const JobSpec alike = random_spec(dice);
  const bool same = dice.percent(60);
  for (std::uint32_t i = dice.percent(15) ? 1 : 0; i < size; ++i) {
    JobSpec spec = same ? alike : random_spec(dice);
    spec.uid = alike.uid;
    spec.array.reset();
    spec.array_throttle = 0;
    spec.gang = gang;
    cluster.submit(spec);
  }
}

std::vector<JobKey> running(const TestCluster& cluster) {
  std::vector<JobKey> keys;
  cluster.state.jobs.for_each([&](const JobKey& key, const Job& job) {
    if (job.state == JobState::running) keys.push_back(key);
  });
  return keys;
}

void disturb(TestCluster& cluster, Random& dice) {
  std::vector<Node> nodes;
  cluster.state.nodes.for_each([&](NodeId, const Node& node) { nodes.push_back(node); });
  Node node = nodes[dice.upto(static_cast<std::uint32_t>(nodes.size()) - 1)];
  switch (dice.upto(3)) {
    case 0: node.admin = AdminState::drain; break;
    case 1: node.admin = AdminState::up; break;
    case 2: node.contact = Contact::lost; break;
    default:
      node.contact = Contact::registered;
      if (!node.inventory.gpus.empty()) node.inventory.gpus.pop_back();
  }
  cluster.put(node);
}

void expect_all_run(TestCluster& cluster, Random& dice, const RandomRun& run) {
  constexpr BackfillKind kKinds[] = {BackfillKind::none, BackfillKind::easy,
                                     BackfillKind::conservative};
  cluster.policy.backfill = {kKinds[dice.upto(2)], 1};
  constexpr std::size_t kJobs = 30;
  std::vector<JobKey> running;
  std::size_t ended = 0;
  Time now = kNow;
  for (std::size_t step = 0; ended < kJobs && step < 10 * kJobs; ++step, now += minutes(1)) {
    if (step < kJobs) cluster.submit(run.next_job());
    if (run.before_plan) run.before_plan();
    const Plan plan = cluster.plan(now);
    ASSERT_EQ(over_commitment(cluster.state, plan), "") << "step " << step;
    if (run.on_plan) run.on_plan(plan, now);
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts) running.push_back(start.key);
    cluster.take(plan, now);
    if (run.after_start) run.after_start();
    if (running.empty() || !dice.percent(70)) continue;
    const std::size_t at = dice.upto(static_cast<std::uint32_t>(running.size() - 1));
    cluster.end(running[at]);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
    ++ended;
  }
  EXPECT_EQ(ended, kJobs);
}

}  // namespace ares::core::sched
