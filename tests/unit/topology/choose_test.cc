// Tests: gpu_constraint, topology/search, topology/constraint
// Which GPUs a request gets: examples that a user could check by hand, and all sets of every machine against the slow reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/topology/choose.h"
#include "unit/topology/machines.h"
#include "unit/topology/reference.h"

namespace ares::core::topology {
namespace {

using testing::HasSubstr;

std::string chosen(const MachineTopology& machine, const std::string& free, unsigned count,
                   Constraint constraint = {}) {
  const GpuSet set = parse_gpu_set(free).value_or(GpuSet());
  const auto choice = choose_gpus(machine, set, {count, constraint});
  return choice ? format_gpu_set(choice->gpus)
                : explain(choice.error(), machine, set, {count, constraint}).message;
}

TEST(Choose, MaximisesTheSlowestLink) {
  const MachineTopology mesh = machine_of(dgx1());
  EXPECT_EQ(chosen(mesh, "0-7", 2), "0,3") << "joined by two NVLinks";
  EXPECT_EQ(chosen(mesh, "1,3,4,7", 2), "4,7");
  EXPECT_EQ(chosen(mesh, "0-7", 4), "0-3");
  EXPECT_EQ(chosen(mesh, "0,2,3,4,5,6,7", 4), "4-7");
  const MachineTopology pairs = machine_of(bridge_pairs());
  EXPECT_EQ(chosen(pairs, "1,2,4,5", 2), "4-5");
  EXPECT_EQ(chosen(pairs, "0-7", 4), "0-3") << "two bridges of one NUMA node";
}

TEST(Choose, LeavesWellConnectedGpusForTheNextRequest) {
  const MachineTopology tree = machine_of(pcie_tree());
  EXPECT_EQ(chosen(tree, "0,1,3", 1), "3") << "0 and 1 stay a pair";
  EXPECT_EQ(chosen(tree, "0-7,9,14,15", 1), "9");
  EXPECT_EQ(chosen(tree, "0-3,6,7", 2), "6-7") << "four below one host bridge stay together";
  EXPECT_EQ(chosen(tree, "1-15", 3), "1-3") << "the broken four is used up first";
}

TEST(Choose, BehindSwitchesNumaNodesAndNumbersDecide) {
  const MachineTopology machine = machine_of(dgx2());
  EXPECT_EQ(chosen(machine, "0-15", 3), "0-2");
  EXPECT_EQ(chosen(machine, "5-15", 4), "8-11") << "of one NUMA node";
  EXPECT_EQ(chosen(machine, "6-15", 2), "6-7") << "uses up the smaller rest";
  const auto any = choose_gpus(machine, GpuSet::first(16), {8, {}});
  EXPECT_EQ(any->bottleneck, Bandwidth{150});
  EXPECT_EQ(any->total, Bandwidth{28 * 150});
  for (unsigned count = 1; count <= 8; ++count)
    EXPECT_EQ(choose_gpus(machine, GpuSet::first(16), {count, {}})->steps, 0u) << count;
}

TEST(Choose, OneGpuHasNoBottleneck) {
  const MachineTopology machine = machine_of(dgx1());
  const auto one = choose_gpus(machine, GpuSet::first(8), {1, {Shape::nvswitch, 6}});
  ASSERT_TRUE(one);
  EXPECT_FALSE(one->bottleneck);
  EXPECT_EQ(one->total, Bandwidth{0});
}

TEST(Choose, MeetsConstraintsOrReportsThePossibleNumber) {
  const MachineTopology mesh = machine_of(dgx1());
  EXPECT_EQ(chosen(mesh, "0-7", 6, {Shape::nvlink, 0}), "0-5") << "over one another";
  EXPECT_EQ(chosen(mesh, "0-7", 2, {Shape::any, 2}), "0,3");
  EXPECT_THAT(chosen(mesh, "0-7", 5, {Shape::any, 1}),
              HasSubstr("--min-nvlink=1 allows at most 4 of this machine's GPUs together"));
  EXPECT_EQ(chosen(mesh, "0-7", 2, {Shape::nvswitch, 0}), "0,3") << "of the job's GPUs, not of all";
  EXPECT_EQ(chosen(mesh, "0-2", 2, {Shape::nvswitch, 0}), "1-2");
  EXPECT_THAT(chosen(mesh, "0-7", 3, {Shape::nvswitch, 0}), HasSubstr("at most 2 of this"));
  EXPECT_THAT(chosen(mesh, "0,5,6", 2, {Shape::nvlink, 0}) + "!", HasSubstr("5-6!"));
  EXPECT_THAT(chosen(mesh, "0,5", 2, {Shape::nvlink, 0}),
              HasSubstr("allows at most 1 of the free GPUs 0,5 together; wait"));
  const MachineTopology tree = machine_of(pcie_tree());
  EXPECT_EQ(chosen(tree, "0,2,4,5", 2, {Shape::pcie_switch, 0}), "4-5");
  EXPECT_EQ(chosen(tree, "0-6,8-15", 8, {Shape::numa_node, 0}), "8-15");
  EXPECT_THAT(chosen(tree, "0-15", 3, {Shape::pcie_switch, 0}), HasSubstr("at most 2"));
  EXPECT_THAT(chosen(tree, "0-15", 2, {Shape::nvlink, 2}),
              HasSubstr("--gpu-topology=nvlink and --min-nvlink=2 allows at most 1"));
  EXPECT_EQ(chosen(machine_of(dgx2()), "3-9", 5, {Shape::nvswitch, 6}), "3-7");
}

TEST(Choose, ImpossibleRequestsAreRefused) {
  const MachineTopology mesh = machine_of(mesh4());
  const auto refused = [&](GpuSet free, unsigned count) {
    const auto choice = choose_gpus(mesh, free, {count, {}});
    return choice ? std::nullopt : std::optional(choice.error());
  };
  EXPECT_EQ(refused(GpuSet::first(4), 0), Refusal::none_asked);
  EXPECT_EQ(refused(GpuSet::first(4), 5), Refusal::never);
  EXPECT_EQ(refused(GpuSet::first(2), 3), Refusal::too_few_free);
  EXPECT_EQ(refused(GpuSet(0xff00), 1), Refusal::too_few_free) << "GPUs that the machine lacks";
  EXPECT_THAT(chosen(mesh, "0-3", 5), HasSubstr("but the machine has 4; ask for fewer"));
  EXPECT_THAT(chosen(mesh, "0-1", 3), HasSubstr("3 GPUs asked for, 2 of 4 free; wait"));
  EXPECT_EQ(explain(Refusal::too_few_free, mesh, GpuSet(), {1, {}}).code,
            ErrorCode::resource_exhausted);
  EXPECT_FALSE(choose_gpus(mesh, GpuSet::first(4), {2, {Shape::any, 1000}}));
}

std::vector<Constraint> constraints(const MachineTopology& machine) {
  std::vector<Constraint> all;
  for (const GpuShapeName& name : gpu_shape_names()) all.push_back({name.shape, 0});
  all.push_back({Shape::any, 1});
  all.push_back({Shape::numa_node, 2});
  if (!machine.nvlink_domains().empty() && machine.nvlink_domains()[0].even)
    all.push_back({Shape::any, *machine.nvlink_domains()[0].even});
  return all;
}

// Every size, every constraint, one set of free GPUs. Returns the maximum of steps of a search.
unsigned compare(const std::string& name, const MachineTopology& machine,
                 const Reference& reference, GpuSet free) {
  unsigned steps = 0;
  for (const Constraint& constraint : constraints(machine)) {
    const auto expected = reference.best(free, constraint);
    for (unsigned count = 1; count <= free.count(); ++count) {
      const auto choice = choose_gpus(machine, free, {count, constraint});
      const std::string where =
          name + ": " + std::to_string(count) + " of " + format_gpu_set(free) + " " +
          std::string(to_string(constraint.shape)) + " " + std::to_string(constraint.min_nvlinks);
      EXPECT_EQ(choice.has_value(), expected[count].has_value()) << where;
      if (!choice || !expected[count]) continue;
      EXPECT_EQ(format_gpu_set(choice->gpus), format_gpu_set(*expected[count])) << where;
      EXPECT_TRUE(choice->proven) << where;
      EXPECT_TRUE(fulfils(machine, choice->gpus, constraint)) << where;
      steps = std::max(steps, choice->steps);
    }
  }
  return steps;
}

unsigned compare_random(const NamedMachine& named, unsigned rounds, std::uint32_t seed) {
  std::mt19937_64 random(seed);
  const Reference reference(named.machine);
  unsigned steps = compare(named.name, named.machine, reference, named.machine.gpus());
  for (unsigned round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    const GpuSet free =
        named.machine.gpus() & GpuSet(round % 3 == 0 ? random() | random() : random());
    steps = std::max(steps, compare(named.name, named.machine, reference, free));
  }
  return steps;
}

TEST(ChooseProperty, EqualsTheBestOfAllSetsOnKnownMachines) {
  for (const NamedMachine& named : known_machines()) {
    const unsigned rounds = named.machine.gpus().count() > 8 ? 12 : 100;
    EXPECT_LT(compare_random(named, rounds, 1), 5000u) << named.name;
  }
}

TEST(ChooseProperty, EqualsTheBestOfAllSetsOnRecordedMachines) {
  const auto machines = recorded_machines();
  ASSERT_GE(machines.size(), 30u);
  for (const NamedMachine& named : machines) {
    EXPECT_LT(compare_random(named, 100, 2), 5000u) << named.name;
    if (HasFailure()) return;
  }
}

TEST(ChooseProperty, EqualsTheBestOfAllSetsOnIrregularMachines) {
  for (std::uint32_t seed = 0; seed < 150 && !HasFailure(); ++seed) {
    const unsigned gpus = 2 + seed % 9;
    compare_random({"irregular " + std::to_string(seed), machine_of(irregular(gpus, seed))}, 4,
                   seed);
  }
}

// No such machine is known; the search must still end, with a set that meets the constraint.
TEST(Choose, TerminatesOnALargeIrregularMachine) {
  const MachineTopology machine = machine_of(irregular(64, 7));
  for (const unsigned count : {2u, 8u, 24u, 32u, 63u, 64u}) {
    const auto choice = choose_gpus(machine, machine.gpus(), {count, {}});
    ASSERT_TRUE(choice) << count;
    EXPECT_EQ(choice->gpus.count(), count);
    EXPECT_LT(choice->steps, 1'000'000u);
  }
}

TEST(GpuShapes, AreReadByName) {
  for (const GpuShapeName& name : gpu_shape_names()) {
    EXPECT_EQ(*parse_gpu_shape(name.word), name.shape);
    EXPECT_EQ(to_string(name.shape), name.word);
  }
  EXPECT_THAT(
      parse_gpu_shape("ring").error().message,
      HasSubstr("\"ring\" is no topology of GPUs; there are any, nvlink, switch, pix, node"));
}

}  // namespace
}  // namespace ares::core::topology
