// The CPUs nearest to chosen GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/topology/cpus.h"
#include "core/topology/place.h"
#include "unit/topology/machines.h"

namespace ares::core::topology {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two GPUs at each of two processors: CPUs 0-7 and 8-15; CPUs 16-19 are near to none.
MachineTopology two_processors() {
  return machine_of(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tPIX\tSYS\tSYS\t0-7\t0\n"
      "GPU1\tPIX\t X \tSYS\tSYS\t0-7\t0\n"
      "GPU2\tSYS\tSYS\t X \tPIX\t8-15\t1\n"
      "GPU3\tSYS\tSYS\tPIX\t X \t8-15\t1\n");
}

Bitset all_but(std::initializer_list<std::size_t> busy) {
  Bitset free(20, true);
  for (const std::size_t cpu : busy) free.reset(cpu);
  return free;
}

TEST(Cpus, LowestNearCpusAreTaken) {
  const MachineTopology machine = two_processors();
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(2), all_but({9}), 3), ElementsAre(8, 10, 11));
}

TEST(Cpus, AreTakenForEachGpuInTurn) {
  const MachineTopology machine = two_processors();
  EXPECT_THAT(choose_cpus(machine, GpuSet(0b0101), all_but({}), 4), ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(choose_cpus(machine, GpuSet(0b0101), all_but({8, 9, 10, 11, 12, 13, 14}), 4),
              ElementsAre(0, 1, 2, 15));
}

TEST(Cpus, CpusNearOtherGpusAreTakenLast) {
  const MachineTopology machine = two_processors();
  const Bitset free = all_but({2, 3, 4, 5, 6, 7});
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(0), free, 7), ElementsAre(0, 1, 8, 16, 17, 18, 19));
  EXPECT_THAT(choose_cpus(machine, GpuSet(), free, 5), ElementsAre(0, 16, 17, 18, 19));
}

TEST(Cpus, AreNotMoreThanAreFree) {
  const MachineTopology machine = two_processors();
  EXPECT_EQ(choose_cpus(machine, GpuSet::of(0), Bitset(20, true), 99).size(), 20u);
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(3), Bitset(4, true), 2), ElementsAre(0, 1))
      << "the node has fewer processors than the matrix names";
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(3), Bitset(), 2), IsEmpty());
}

TEST(Cpus, GpuWithoutAffinityUsesItsNumaNode) {
  const MachineTopology machine = machine_of(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV4\t\t1\nGPU1\tNV4\t X \t4-7\t1\n");
  EXPECT_EQ(format_interval_set(near_cpus(machine, GpuSet::of(0))), "4-7");
  EXPECT_TRUE(near_cpus(machine_of(pcie_tree()), GpuSet()).empty());
  EXPECT_TRUE(near_cpus(machine_of("\tGPU0\nGPU0\t X \n"), GpuSet::of(0)).empty());
}

// Two sockets of five cores with two threads: core 0 is CPUs 0 and 10.
CpuLayout with_threads() {
  return parse_cpu_layout("0.0:0-4/10-14;1.1:5-9/15-19").value();
}

// GPUs 0 and 1 at the first socket, GPUs 2 and 3 at the second one.
MachineTopology two_sockets() {
  return machine_of(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tPIX\tSYS\tSYS\t0-4,10-14\t0\n"
      "GPU1\tPIX\t X \tSYS\tSYS\t0-4,10-14\t0\n"
      "GPU2\tSYS\tSYS\t X \tPIX\t5-9,15-19\t1\n"
      "GPU3\tSYS\tSYS\tPIX\t X \t5-9,15-19\t1\n");
}

TEST(WholeCores, AreTakenWhileThereAreEnough) {
  const CpuLayout layout = with_threads();
  EXPECT_THAT(lowest_cpus(all_but({}), 4, &layout), ElementsAre(0, 1, 10, 11));
  EXPECT_THAT(lowest_cpus(all_but({0}), 4, &layout), ElementsAre(1, 2, 11, 12))
      << "halves of two cores are not better";
  EXPECT_THAT(lowest_cpus(all_but({}), 4, nullptr), ElementsAre(0, 1, 2, 3)) << "not known";
}

TEST(WholeCores, OddRestComesFromACoreThatIsInUse) {
  const CpuLayout layout = with_threads();
  EXPECT_THAT(lowest_cpus(all_but({13}), 3, &layout), ElementsAre(0, 3, 10));
  EXPECT_THAT(lowest_cpus(all_but({13}), 1, &layout), ElementsAre(3));
  EXPECT_THAT(lowest_cpus(all_but({}), 1, &layout), ElementsAre(0)) << "there is none in use";
}

TEST(WholeCores, AllFreeThreadsCountWhereNoCoreIsFree) {
  const CpuLayout layout = with_threads();
  const Bitset free = all_but({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_THAT(lowest_cpus(free, 4, &layout), ElementsAre(10, 11, 12, 13));
  EXPECT_EQ(lowest_cpus(free, 99, &layout).size(), 10u);
}

TEST(WholeCores, AreTakenForGpusOfBothSocketsInTurn) {
  const CpuLayout layout = with_threads();
  const MachineTopology machine = two_sockets();
  EXPECT_THAT(choose_cpus(machine, GpuSet::first(4), all_but({}), 4, &layout),
              ElementsAre(0, 5, 10, 15))
      << "not both for the GPUs of one socket";
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(2), all_but({}), 4, &layout),
              ElementsAre(5, 6, 15, 16));
  EXPECT_THAT(choose_cpus(machine, GpuSet::of(2), all_but({5}), 3, &layout),
              ElementsAre(6, 15, 16));
  EXPECT_THAT(choose_cpus(machine, GpuSet(0b0101), all_but({}), 2, &layout), ElementsAre(0, 5))
      << "half a core for each rather than none for one";
}

TEST(WholeCores, NodeWithFewerOrMoreCpusThanTheLayoutIsServed) {
  const CpuLayout layout = with_threads();
  EXPECT_THAT(lowest_cpus(Bitset(5, true), 3, &layout), ElementsAre(0, 1, 2));
  EXPECT_THAT(lowest_cpus(Bitset(22, true), 99, &layout).size(), 22u);
}

TEST(TextPosition, GivesGpusAndTheirCpus) {
  const auto placed =
      place(two_processors(), GpuSet(0b1110), {2, {Shape::numa_node, 0}}, all_but({8}), 3);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->gpus, ElementsAre(GpuIndex(2), GpuIndex(3)));
  EXPECT_THAT(placed->cpus, ElementsAre(9, 10, 11));
  const auto refused =
      place(two_processors(), GpuSet(0b0110), {2, {Shape::numa_node, 0}}, all_but({}), 3);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), Refusal::not_among_free);
}

TEST(TextPosition, ListedGpusWithTheSameCpusAreNear) {
  const std::vector<Gpu> listed = {{GpuIndex(0), "a", {0, 1}},
                                   {GpuIndex(1), "a", {2, 3}},
                                   {GpuIndex(2), "a", {2, 3}},
                                   {GpuIndex(3), "a", {}},
                                   {GpuIndex(70), "a", {}}};
  const MachineTopology machine(matrix_of(listed));
  EXPECT_EQ(machine.gpus(), GpuSet(0b1111));
  EXPECT_EQ(choose_gpus(machine, machine.gpus(), {2, {}})->gpus, GpuSet(0b0110));
  EXPECT_EQ(format_interval_set(near_cpus(machine, GpuSet::of(1))), "2-3");
  EXPECT_TRUE(MachineTopology(matrix_of({})).gpus().empty());
}

}  // namespace
}  // namespace ares::core::topology
