// Tests: gpu_constraint, cpu_layouts, shared_text
// Which devices of a node a share gets, compared with brute force: random jobs start and end on recorded machines.
#include "core/sched/place/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/topology/cpus.h"
#include "core/topology/parsed_topology.h"
#include "unit/topology/machines.h"
#include "unit/topology/reference.h"

namespace ares::core::sched {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace topology;

GpuSet set_of(const std::vector<GpuIndex>& gpus) {
  GpuSet set;
  for (const GpuIndex gpu : gpus) set.insert(gpu.value());
  return set;
}

// A cluster of one node, whose index is updated like in the planner.
class OneNodeCluster {
 public:
  explicit OneNodeCluster(Inventory inventory)
      : state_(with(std::move(inventory))), index_(state_) {}

  // Starts a job with so many GPUs of the first types and so many CPUs.
  NodeShare start(std::vector<std::int64_t> gpus, std::int64_t cpus,
                  GpuConstraint constraint = {}) {
    PlacedShare share{0, 1, Amounts(index_.stride(), 0)};
    share.amounts[kCpus] = cpus;
    std::copy(gpus.begin(), gpus.end(), share.amounts.begin() + kFirstGpu);
    NodeShare chosen = choose_devices(index_.nodes()[0], share, constraint, index_);
    charge(chosen);
    return chosen;
  }
  // Ends the n-th of the running jobs, in order of their start.
  void end(std::size_t nth) {
    Node node = *state_.nodes.find(NodeId(1));
    node.charges.erase(node.charges.begin() + static_cast<std::ptrdiff_t>(nth));
    put(std::move(node));
  }
  std::size_t running() const { return state_.nodes.find(NodeId(1))->charges.size(); }

  std::int64_t most_together(GpuConstraint constraint, bool exclusive = false,
                             GpusOf which = GpusOf::free_now) const {
    Demand demand;
    demand.gpu_constraint = constraint;
    demand.exclusive = exclusive;
    const IndexedNode& node = index_.nodes()[0];
    Amounts row = which == GpusOf::node ? node.total : node.free;
    cap_gpus(demand, node, which, index_, row);
    return row[kFirstGpu];
  }
  const IndexedNode& node() const { return index_.nodes()[0]; }
  void tell_layout(const std::string& text) {
    Node node = *state_.nodes.find(NodeId(1));
    node.inventory.cpu_layout = SharedText(text);
    put(std::move(node));
  }
  std::uint32_t threads_per_core(const Partition& partition) const {
    return index_.threads_per_core(partition);
  }
  void tell(GpuTopology topology) {
    Node node = *state_.nodes.find(NodeId(1));
    node.inventory.gpu_topology = std::move(topology);
    put(std::move(node));
  }
  std::uint64_t generation() const { return index_.generation(); }

 private:
  static ClusterState with(Inventory inventory) {
    ClusterState state;
    Node node;
    node.id = NodeId(1);
    node.name = "n1";
    node.contact = Contact::registered;
    node.inventory = std::move(inventory);
    state.node_ids.set(node.name, node.id);
    state.nodes.set(node.id, std::move(node));
    return state;
  }
  void charge(const NodeShare& share) {
    Node node = *state_.nodes.find(NodeId(1));
    node.charges.push_back({{JobKey{JobId(++jobs_), {}}, AttemptNo(1)},
                            Fence(jobs_),
                            share.cpus,
                            share.memory,
                            share.gpus,
                            share.cpu_ids});
    put(std::move(node));
  }
  void put(Node node) {
    ClusterState after = state_;
    after.nodes.set(NodeId(1), std::move(node));
    const NodeIndex given[] = {0};
    ASSERT_TRUE(index_.update(state_, after, given));
    state_ = std::move(after);
  }

  std::uint64_t jobs_ = 0;
  ClusterState state_;
  ClusterIndex index_;
};

Inventory machine(const std::string& text, std::uint32_t cpus = 16) {
  ParsedTopology parsed = read_topology(text, "a100").value();
  return {cpus, Bytes::gib(64), std::move(parsed.gpus), {}, std::move(parsed.topology)};
}

TEST(Devices, BestLinkedGpusAreAllocated) {
  OneNodeCluster mesh(machine(text_of(mesh4()), 32));
  EXPECT_EQ(set_of(mesh.start({2}, 1).gpus),
            choose_gpus(machine_of(mesh4()), GpuSet::first(4), {2, {}})->gpus);
  OneNodeCluster pairs(machine(text_of(bridge_pairs())));
  EXPECT_THAT(pairs.start({1}, 1).gpus, ElementsAre(GpuIndex(0)));
  EXPECT_THAT(pairs.start({2}, 1).gpus, ElementsAre(GpuIndex(2), GpuIndex(3)));
  EXPECT_THAT(pairs.start({1}, 1).gpus, ElementsAre(GpuIndex(1))) << "it has lost its partner";
}

TEST(Devices, NearestCpusAreAllocated) {
  OneNodeCluster node(
      machine("\tGPU0\tGPU1\tCPU Affinity\n"
              "GPU0\tX\tSYS\t8-15\n"
              "GPU1\tSYS\tX\t0-7\n"));
  EXPECT_THAT(node.start({0}, 2).cpu_ids, ElementsAre(0, 1)) << "without GPUs the lowest";
  EXPECT_THAT(node.start({1}, 3).cpu_ids, ElementsAre(8, 9, 10));
  EXPECT_THAT(node.start({1}, 7).cpu_ids, ElementsAre(2, 3, 4, 5, 6, 7, 11));
}

TEST(Devices, WholeCoresAreAllocatedWhereTheLayoutIsKnown) {
  Inventory inventory = machine(
      "\tGPU0\tGPU1\tCPU Affinity\n"
      "GPU0\tX\tSYS\t4-7,12-15\n"
      "GPU1\tSYS\tX\t0-3,8-11\n");
  inventory.cpu_layout = SharedText("0.0:0-3/8-11;1.1:4-7/12-15");
  OneNodeCluster node(inventory);
  EXPECT_THAT(node.start({1}, 4).cpu_ids, ElementsAre(4, 5, 12, 13));
  EXPECT_THAT(node.start({0}, 3).cpu_ids, ElementsAre(0, 1, 8));
  EXPECT_THAT(node.start({0}, 1).cpu_ids, ElementsAre(9)) << "the rest of a core";
  EXPECT_THAT(node.start({1}, 4).cpu_ids, ElementsAre(2, 3, 10, 11));
}

TEST(Devices, LayoutThatCannotBeReadIsNotUsed) {
  Inventory inventory = machine(text_of(bridge_pairs()));
  inventory.cpu_layout = SharedText("of a newer release");
  OneNodeCluster node(inventory);
  EXPECT_EQ(node.node().layout, nullptr);
  EXPECT_THAT(node.start({0}, 2).cpu_ids, ElementsAre(0, 1));
}

TEST(Devices, WithoutAMatrixTheLowestAreAllocated) {
  Inventory inventory = machine(text_of(bridge_pairs()));
  inventory.gpu_topology = {};
  OneNodeCluster node(inventory);
  EXPECT_THAT(node.start({1}, 1).gpus, ElementsAre(GpuIndex(0)));
  const NodeShare two = node.start({2}, 2);
  EXPECT_THAT(two.gpus, ElementsAre(GpuIndex(1), GpuIndex(2)));
  EXPECT_THAT(two.cpu_ids, ElementsAre(1, 2));
  EXPECT_EQ(node.most_together({}), 5);
  EXPECT_EQ(node.most_together({Shape::numa_node, 0}), 1);
}

// GPUs of each type are chosen separately; GPUs that the matrix does not contain are taken last.
TEST(Devices, TypesAreSeparateAndGpusBeyondTheMatrixComeLast) {
  Inventory inventory = machine(text_of(bridge_pairs()));
  for (Gpu& gpu : inventory.gpus) gpu.type = gpu.index.value() % 2 == 0 ? "a100" : "h100";
  inventory.gpus.push_back({GpuIndex(64), "h100", {}});
  OneNodeCluster node(inventory);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}), 1) << "no two of one type have a bridge";
  EXPECT_THAT(node.start({1, 5}, 1).gpus, ElementsAre(GpuIndex(0), GpuIndex(1), GpuIndex(3),
                                                      GpuIndex(5), GpuIndex(7), GpuIndex(64)));
  EXPECT_THAT(node.start({3, 0}, 1).gpus, ElementsAre(GpuIndex(2), GpuIndex(4), GpuIndex(6)));
}

TEST(Devices, ConstraintLimitsGpusThatCanBeTogether) {
  OneNodeCluster node(machine(text_of(bridge_pairs())));
  EXPECT_EQ(node.most_together({}), 8);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}), 2);
  EXPECT_EQ(node.most_together({Shape::any, 4}), 2);
  EXPECT_EQ(node.most_together({Shape::any, 5}), 1);
  EXPECT_EQ(node.most_together({Shape::numa_node, 0}), 4);
  EXPECT_EQ(node.most_together({Shape::numa_node, 0}, true), 0) << "whole nodes have GPUs of both";
  for (int i = 0; i < 4; ++i) node.start({1}, 1);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}), 2) << "single GPUs took whole pairs first";
  for (int i = 0; i < 3; ++i) node.start({1}, 1);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}), 1);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}, false, GpusOf::node), 2);
  node.start({1}, 1);
  EXPECT_EQ(node.most_together({Shape::nvlink, 0}), 0);
  OneNodeCluster switched(machine(text_of(dgx2())));
  EXPECT_EQ(switched.most_together({Shape::nvswitch, 6}, true), 16);
}

TEST(Devices, ChangedTopologyChangesTheGeneration) {
  OneNodeCluster node(machine(text_of(bridge_pairs())));
  const std::uint64_t before = node.generation();
  const auto* machine = node.node().machine;
  node.start({1}, 1);
  EXPECT_EQ(node.generation(), before);
  EXPECT_EQ(node.node().machine, machine);
  node.tell(GpuTopology(text_of(dgx1())));
  EXPECT_GT(node.generation(), before);
  node.tell({});
  EXPECT_EQ(node.node().machine, nullptr);
}

TEST(Devices, ChangedLayoutChangesTheGenerationAndTheThreadsOfThePartition) {
  OneNodeCluster node(machine(text_of(bridge_pairs())));
  Partition partition;
  partition.name = "main";
  partition.nodes = {"n1", "unknown"};
  EXPECT_EQ(node.threads_per_core(partition), 1u);
  const std::uint64_t before = node.generation();
  node.tell_layout("0.0:0-7/8-15");
  EXPECT_GT(node.generation(), before);
  EXPECT_EQ(node.threads_per_core(partition), 2u);
}

// Devices of two jobs never overlap; each job gets the best set of the GPUs that were free.
void come_and_go(const std::string& name, const std::string& text, std::uint32_t seed, int steps) {
  SCOPED_TRACE(name);
  std::mt19937 dice(seed);
  const MachineTopology machine = machine_of(text);
  const Reference reference(machine);
  OneNodeCluster node(sched::machine(text, 64));
  const auto& shapes = gpu_shape_names();
  std::vector<GpuSet> running;
  GpuSet free = machine.gpus();
  for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
    const GpuConstraint constraint{shapes[dice() % shapes.size()].shape, dice() % 4 == 0 ? 1u : 0u};
    const auto best = reference.best(free, constraint);
    unsigned most = 0;
    for (unsigned count = 1; count <= free.count(); ++count)
      if (best[count]) most = count;
    ASSERT_EQ(node.most_together(constraint), most) << format_gpu_set(free);
    const unsigned count = most == 0 ? 0 : 1 + dice() % most;
    if (!running.empty() && (count == 0 || dice() % 2 == 0)) {
      const std::size_t nth = dice() % running.size();
      node.end(nth);
      free = free | running[nth];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(nth));
      continue;
    }
    if (count == 0) continue;
    const NodeShare share = node.start({count}, 1, constraint);
    const GpuSet got = set_of(share.gpus);
    ASSERT_EQ(format_gpu_set(got), format_gpu_set(*best[count]))
        << count << " of " << format_gpu_set(free) << " " << to_text(constraint);
    ASSERT_EQ(share.gpus.size(), count);
    free = free - got;
    running.push_back(got);
    ASSERT_EQ(node.running(), running.size());
  }
}

TEST(DevicesProperty, EqualTheBestSetOnKnownMachines) {
  for (const NamedMachine& named : known_machines())
    come_and_go(named.name, format_matrix(named.machine.matrix()), 1,
                named.machine.gpus().count() > 8 ? 12 : 150);
}

TEST(DevicesProperty, EqualTheBestSetOnRecordedMachines) {
  const auto machines = recorded_machines();
  ASSERT_GE(machines.size(), 30u);
  for (const NamedMachine& named : machines) {
    come_and_go(named.name, format_matrix(named.machine.matrix()), 2, 200);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ares::core::sched
