// The example plugin, loaded from its shared object, compared with all subsets of the free GPUs.
#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"
#include "sched/adapter/plugin_set.h"

namespace ares::sched {
namespace {

constexpr unsigned kGpus = 8;

// Random links between eight GPUs, in the format of nvidia-smi.
struct Machine {
  unsigned links[kGpus][kGpus] = {};

  explicit Machine(Random& dice) {
    for (unsigned a = 0; a < kGpus; ++a)
      for (unsigned b = 0; b < a; ++b)
        links[a][b] = links[b][a] = dice.percent(25) ? 1 + dice.upto(3) : 0;
  }
  std::string text() const {
    std::string out;
    for (unsigned b = 0; b < kGpus; ++b) out += "\tGPU" + std::to_string(b);
    for (unsigned a = 0; a < kGpus; ++a) {
      out += "\nGPU" + std::to_string(a);
      for (unsigned b = 0; b < kGpus; ++b)
        out += a == b ? "\tX" : links[a][b] > 0 ? "\tNV" + std::to_string(links[a][b]) : "\tSYS";
    }
    return out + "\n";
  }
  // Whether each GPU of the set is connected by `wanted` links to another one of the set.
  bool joined(unsigned set, unsigned wanted) const {
    for (unsigned a = 0; a < kGpus; ++a) {
      bool any = (set >> a & 1) == 0;
      for (unsigned b = 0; b < kGpus; ++b) any = any || ((set >> b & 1) && links[a][b] >= wanted);
      if (!any) return false;
    }
    return true;
  }
  bool possible(unsigned free, unsigned count, unsigned wanted) const {
    for (unsigned set = 0; set < 1u << kGpus; ++set)
      if ((set & ~free) == 0 && std::popcount(set) == static_cast<int>(count) &&
          joined(set, wanted))
        return true;
    return false;
  }
};

PluginSet::Loaded load(const std::string& links) {
  PluginSource source{"min_nvlink", ARES_MIN_NVLINK_PLUGIN, {}, {{"links", links}}, "min_nvlink -"};
  return PluginSet::load({source}, nullptr);
}

struct Asked {
  JobSpec spec;
  Job job;
  Partition partition;
  Node node;

  Asked() {
    partition.name = "main";
    node.name = "n1";
    for (std::uint16_t i = 0; i < kGpus; ++i)
      node.inventory.gpus.push_back({GpuIndex(i), "a100", {}});
  }
  PluginJob told(unsigned count) {
    spec.gpus_per_node = {{"a100", count}};
    job.spec = std::make_shared<const JobSpec>(spec);
    return {&job, &partition};
  }
};

TEST(MinNvlink, FilterAgreesWithAllSubsets) {
  const auto set = load("2");
  ASSERT_TRUE(set) << set.error().error.message;
  int possible = 0, impossible = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random dice(seed);
    const Machine machine(dice);
    Asked asked;
    asked.node.inventory.gpu_topology = GpuTopology(machine.text());
    const unsigned free = dice.upto(255);
    std::vector<GpuIndex> used;
    for (std::uint16_t i = 0; i < kGpus; ++i)
      if ((free >> i & 1) == 0) used.emplace_back(i);
    const bool own = dice.percent(30);
    asked.spec.comment = own ? "x min_nvlink=3 y" : "";
    for (unsigned count = 1; count <= kGpus; ++count) {
      const PluginNode row{&asked.node, &asked.node.inventory, 8, 0, used, nullptr};
      Bitset allowed(1, true);
      (*set)->filter(0, asked.told(count), {&row, 1}, allowed, nullptr);
      const bool expected = count < 2 || machine.possible(free, count, own ? 3 : 2);
      ASSERT_EQ(allowed.test(0), expected) << "seed " << seed << " count " << count;
      (expected ? possible : impossible) += count > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(possible, 200);
  EXPECT_GT(impossible, 200);
}

TEST(MinNvlink, PermitChecksTheAllocatedGpus) {
  const auto set = load("1");
  ASSERT_TRUE(set);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random dice(seed);
    const Machine machine(dice);
    Asked asked;
    asked.node.inventory.gpu_topology = GpuTopology(machine.text());
    const PluginNode row{&asked.node, &asked.node.inventory, 8, 0, {}, nullptr};
    const unsigned chosen = dice.upto(255);
    NodeShare share;
    for (std::uint16_t i = 0; i < kGpus; ++i)
      if (chosen >> i & 1) share.gpus.emplace_back(i);
    const PluginPlacement placement{asked.told(2), {&share, 1}, {&row, 1}};
    std::string why;
    ASSERT_EQ((*set)->permit(0, {&placement, 1}, why),
              share.gpus.size() < 2 || machine.joined(chosen, 1))
        << "seed " << seed << " " << why;
  }
}

TEST(MinNvlink, ReportsMissingLinksAndRefusesNodesWithUnknownLinks) {
  const auto set = load("4");
  ASSERT_TRUE(set);
  Asked asked;
  const PluginNode row{&asked.node, &asked.node.inventory, 8, 0, {}, nullptr};
  Bitset allowed(1, true);
  std::string why;
  (*set)->filter(0, asked.told(2), {&row, 1}, allowed, &why);
  EXPECT_FALSE(allowed.test(0));
  EXPECT_EQ(why, "no 2 free GPUs of which each is joined to another by 4 NVLinks");
}

TEST(MinNvlink, NeverMixesTypes) {
  const auto set = load("1");
  ASSERT_TRUE(set);
  Random dice(1);
  Machine machine(dice);
  for (auto& row : machine.links)
    for (unsigned& links : row) links = 4;
  Asked asked;
  for (std::uint16_t i = 1; i < kGpus; ++i) asked.node.inventory.gpus[i].type = "h100";
  asked.node.inventory.gpu_topology = GpuTopology(machine.text());
  const PluginNode row{&asked.node, &asked.node.inventory, 8, 0, {}, nullptr};
  Bitset allowed(1, true);
  (*set)->filter(0, asked.told(2), {&row, 1}, allowed, nullptr);
  EXPECT_FALSE(allowed.test(0));  // only one a100
}

}  // namespace
}  // namespace ares::sched
