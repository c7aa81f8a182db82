// Tests: aresd/gpu_numa, core/topology/cpus
// Allocations on recorded GPU machines. hwloc finds a synthetic machine with the CPUs and NUMA nodes
// that the recording names; the scheduler's code chooses GPUs and CPUs, the node's code binds. CPUs and
// memory nodes must be those of an independent choice, made from the recorded affinities alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "aresd/gpus/gpu_numa.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/place/devices.h"
#include "core/topology/parsed_topology.h"
#include "node/binding.h"
#include "os/topology/machine_layout.h"
#include "unit/os_topology/synthetic.h"

namespace ares {
namespace {

using Cpu = std::uint32_t;
using Core = std::vector<Cpu>;
using Numbers = std::vector<Cpu>;

// The affinities as a reader of the file finds them.
struct Recorded {
  const char* file;
  // NUMA node = its CPUs; threads of a core are in different ranges, or next to each other.
  std::vector<std::pair<Cpu, const char*>> nodes;
  enum { apart, neighbours } threads_are;
  std::size_t threads;      // of each core
  std::vector<Cpu> of_gpu;  // the NUMA node of each GPU
};

const std::vector<Recorded> kMachines = {
    {"a100x8-nv12-compact.txt",
     {{0, "0-23"}, {1, "24-47"}},
     Recorded::apart,
     1,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"della-a100x2-sys-tabs.txt", {{0, "0-63"}, {1, "64-127"}}, Recorded::apart, 1, {0, 1}},
    {"della-cryoem-a100x4-mlx5.txt", {{0, "0-23"}, {1, "24-47"}}, Recorded::apart, 1, {0, 0, 1, 1}},
    {"desktop-5gpu-sys-phb-node.txt",
     {{0, "0-7,16-23"}, {1, "8-15,24-31"}},
     Recorded::apart,
     2,
     {1, 0, 0, 0, 0}},
    {"dgx1-v100-mlx5-indented.txt",
     {{0, "0-19,40-59"}, {1, "20-39,60-79"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"h100x8-nv18-ht-affinity.txt",
     {{0, "0-51,104-155"}, {1, "52-103,156-207"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"h100x8-thunderkittens.txt",
     {{0, "0-47,96-143"}, {1, "48-95,144-191"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"l40x4-epyc384-2nic.txt",
     {{0, "0-127,256-383"}, {1, "128-255,384-511"}},
     Recorded::apart,
     2,
     {0, 0, 1, 1}},
    {"levante-topo-mp-2nic.txt",
     {{0, "0-15,128-143"},
      {1, "16-31,144-159"},
      {2, "32-47,160-175"},
      {3, "48-63,176-191"},
      {4, "64-79,192-207"},
      {5, "80-95,208-223"},
      {6, "96-111,224-239"},
      {7, "112-127,240-255"}},
     Recorded::apart,
     2,
     {3, 1, 7, 5}},
    {"p3-8xlarge-v100x4.txt", {{0, "0-31"}}, Recorded::apart, 1, {0, 0, 0, 0}},
    {"pcie4-nv12-bridge-pairs.txt",
     {{0, "0-51,104-155"}, {1, "52-103,156-207"}},
     Recorded::apart,
     2,
     {0, 0, 1, 1}},
    {"pcie6-4plus2-pix-node-sys.txt",
     {{0, "0-23,48-71"}, {1, "24-47,72-95"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1}},
    {"pcie8-node-sys-epyc.txt",
     {{0, "0-63,128-191"}, {1, "64-127,192-255"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1, 1, 1}},
    {"polaris-a100x4-nv4-mixed-sep.txt",
     {{0, "0-7,32-39"}, {1, "8-15,40-47"}, {2, "16-23,48-55"}, {3, "24-31,56-63"}},
     Recorded::apart,
     2,
     {3, 2, 1, 0}},
    {"traverse-power9-v100x4-nv3.txt",
     {{0, "0-63"}, {8, "64-127"}},
     Recorded::neighbours,
     4,
     {0, 0, 8, 8}},
    {"v100x8-hybrid-nic0.txt",
     {{0, "0-19,40-59"}, {1, "20-39,60-79"}},
     Recorded::apart,
     2,
     {0, 0, 0, 0, 1, 1, 1, 1}},
};

Numbers numbers_of(const std::string& ranges) {
  Numbers numbers;
  std::istringstream words(ranges);
  for (std::string word; std::getline(words, word, ',');) {
    Cpu first = 0, last = 0;
    char dash = 0;
    std::istringstream range(word);
    if (!(range >> first >> dash >> last)) last = first;
    for (; first <= last; ++first) numbers.push_back(first);
  }
  return numbers;
}

// By NUMA node, in the order of their lowest CPUs.
std::map<Cpu, std::vector<Core>> cores_of(const Recorded& machine) {
  std::map<Cpu, std::vector<Core>> cores;
  for (const auto& [node, ranges] : machine.nodes) {
    const Numbers cpus = numbers_of(ranges);
    const std::size_t count = cpus.size() / machine.threads;
    for (std::size_t core = 0; core < count; ++core) {
      Core made;
      for (std::size_t thread = 0; thread < machine.threads; ++thread)
        made.push_back(machine.threads_are == Recorded::apart
                           ? cpus[thread * count + core]
                           : cpus[core * machine.threads + thread]);
      cores[node].push_back(made);
    }
  }
  return cores;
}

std::string joined(const Numbers& numbers) {
  std::string text;
  for (const Cpu number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// "pack:2 numa:1(indexes=0,8) core:16 pu:4(indexes=...)"
std::string synthetic(const Recorded& machine) {
  const auto cores = cores_of(machine);
  Numbers nodes, cpus;
  for (const auto& [node, its] : cores) {
    nodes.push_back(node);
    for (const Core& core : its) cpus.insert(cpus.end(), core.begin(), core.end());
  }
  const auto one = [](const std::string& level, std::size_t count, const Numbers& indexes) {
    return level + ":" + std::to_string(count) + "(indexes=" + joined(indexes) + ") ";
  };
  return "pack:" + std::to_string(nodes.size()) + " " + one("numa", 1, nodes) +
         "core:" + std::to_string(cores.begin()->second.size()) + " " +
         one("pu", machine.threads, cpus);
}

// --- the independent choice ---------------------------------------------------------------------

// A table of cores that allocations empty. GPUs take whole cores in turn, those of different nodes
// alternating; a rest that is less than a core comes from a core that is in use before, if there is one.
class Reference {
 public:
  explicit Reference(const Recorded& machine) : machine_(machine), cores_(cores_of(machine)) {
    for (const auto& [node, cores] : cores_)
      for (const Core& core : cores) free_.insert(core.begin(), core.end());
  }

  // Precondition: enough CPUs are free near the GPUs.
  Numbers take(const Numbers& gpus, std::size_t count) {
    const Numbers turns = turns_of(gpus);
    Numbers taken;
    std::size_t without = 0;  // GPUs in a row whose node has no whole core
    for (std::size_t turn = 0; count >= machine_.threads && without < turns.size(); ++turn) {
      const Core* core = first_core(turns[turn % turns.size()]);
      without = core ? 0 : without + 1;
      if (!core) continue;
      for (const Cpu cpu : *core) take_one(cpu, taken, count);
    }
    for (const bool used_core : {true, false})
      for (bool any = true; any && count > 0;) {
        any = false;
        for (const Cpu node : turns)
          if (const auto cpu = first_cpu(node, used_core); cpu && count > 0) {
            take_one(*cpu, taken, count);
            any = true;
          }
      }
    std::sort(taken.begin(), taken.end());
    return taken;
  }

  std::set<Cpu> nodes_of(const Numbers& gpus) const {
    std::set<Cpu> nodes;
    for (const Cpu gpu : gpus) nodes.insert(machine_.of_gpu[gpu]);
    return nodes;
  }
  std::size_t free_near(const Numbers& gpus) const {
    std::size_t count = 0;
    for (const Cpu node : nodes_of(gpus))
      for (const Core& core : cores_.at(node))
        for (const Cpu cpu : core) count += free_.count(cpu);
    return count;
  }

 private:
  // The nodes of the GPUs: one GPU of each node, then a second one of each, and so on.
  Numbers turns_of(const Numbers& gpus) const {
    std::map<Cpu, std::size_t> left;
    Numbers order;
    for (const Cpu gpu : gpus) {
      if (left[machine_.of_gpu[gpu]]++ == 0) order.push_back(machine_.of_gpu[gpu]);
    }
    Numbers turns;
    for (bool any = true; any;) {
      any = false;
      for (const Cpu node : order)
        if (left[node] > 0) {
          --left[node];
          turns.push_back(node);
          any = true;
        }
    }
    return turns;
  }
  bool whole(const Core& core) const {
    return std::all_of(core.begin(), core.end(), [&](Cpu cpu) { return free_.count(cpu) > 0; });
  }
  const Core* first_core(Cpu node) const {
    for (const Core& core : cores_.at(node))
      if (whole(core)) return &core;
    return nullptr;
  }
  std::optional<Cpu> first_cpu(Cpu node, bool of_used_core) const {
    std::optional<Cpu> lowest;
    for (const Core& core : cores_.at(node))
      for (const Cpu cpu : core)
        if (free_.count(cpu) > 0 && (!of_used_core || !whole(core)))
          lowest = std::min(lowest.value_or(cpu), cpu);
    return lowest;
  }
  void take_one(Cpu cpu, Numbers& taken, std::size_t& count) {
    free_.erase(cpu);
    taken.push_back(cpu);
    --count;
  }

  const Recorded& machine_;
  std::map<Cpu, std::vector<Core>> cores_;
  std::set<Cpu> free_;
};

// --- the code under test ------------------------------------------------------------------------

std::string text_of(const std::string& file) {
  std::ifstream in(std::string(ARES_SOURCE_DIR "/tests/data/topologies/") + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One node, from which shares are taken one after the other.
class RealNode {
 public:
  explicit RealNode(const Recorded& machine) {
    const os::ReplacedMachine replaced("HWLOC_SYNTHETIC", synthetic(machine));
    layout_ = os::machine_layout().value();
    auto parsed = core::topology::read_topology(text_of(machine.file), "a100").value();
    Node node;
    node.id = NodeId(1);
    node.name = "n1";
    node.contact = Contact::registered;
    node.inventory.cpus = static_cast<std::uint32_t>(layout_.cpus().count());
    node.inventory.memory = Bytes::gib(64);
    node.inventory.gpus = std::move(parsed.gpus);
    node.inventory.gpu_topology = std::move(parsed.topology);
    node.inventory.cpu_layout = SharedText(format_cpu_layout(layout_));
    gpu_nodes_ = aresd::gpu_numa_nodes(node.inventory, layout_);
    state_.node_ids.set(node.name, node.id);
    state_.nodes.set(node.id, std::move(node));
    index_ = std::make_unique<core::sched::ClusterIndex>(state_);
  }

  NodeShare allocate(std::size_t gpus, std::size_t cpus) {
    core::sched::PlacedShare share{0, 1, core::sched::Amounts(index_->stride(), 0)};
    share.amounts[core::sched::kCpus] = static_cast<std::int64_t>(cpus);
    share.amounts[core::sched::kFirstGpu] = static_cast<std::int64_t>(gpus);
    return core::sched::choose_devices(index_->nodes()[0], share, {}, *index_);
  }
  node::StepBinding bind(const NodeShare& share, JobBinding options = {}) const {
    LaunchSpec launch;
    auto spec = std::make_shared<JobSpec>();
    spec->binding = std::move(options);
    launch.spec = spec;
    launch.share = share;
    return node::bind_step(launch, layout_, gpu_nodes_);
  }
  const CpuLayout& layout() const { return layout_; }

 private:
  CpuLayout layout_;
  std::map<GpuIndex, IntervalSet> gpu_nodes_;
  ClusterState state_;
  std::unique_ptr<core::sched::ClusterIndex> index_;
};

Numbers numbers_of(const std::vector<GpuIndex>& gpus) {
  Numbers numbers;
  for (const GpuIndex gpu : gpus) numbers.push_back(gpu.value());
  return numbers;
}
std::set<Cpu> set_of(const IntervalSet& set) {
  return {set.begin(), set.end()};
}

// One allocation on the machine as it is, compared.
void allocate_and_compare(const Recorded& machine, RealNode& real, Reference& reference,
                          std::size_t gpus, std::size_t cpus) {
  const NodeShare share = real.allocate(gpus, cpus);
  const Numbers chosen = numbers_of(share.gpus);
  SCOPED_TRACE(std::string(machine.file) + ": GPUs " + joined(chosen) + ", " +
               std::to_string(cpus) + " CPUs");
  ASSERT_EQ(chosen.size(), gpus);
  ASSERT_LE(cpus, reference.free_near(chosen)) << "the test asks for too much";
  EXPECT_EQ(joined(share.cpu_ids), joined(reference.take(chosen, cpus)));

  const std::set<Cpu> nodes = reference.nodes_of(chosen);
  const node::StepBinding preferred = real.bind(share);
  const node::StepBinding local = real.bind(share, {"", 0, "", "local", "", ""});
  if (nodes.size() == machine.nodes.size()) {
    EXPECT_EQ(preferred.policy, node::MemoryPolicy::none) << "the whole machine";
    EXPECT_EQ(local.policy, node::MemoryPolicy::none);
    return;
  }
  EXPECT_EQ(preferred.policy, node::MemoryPolicy::prefer);
  EXPECT_EQ(set_of(preferred.memory_nodes), nodes);
  EXPECT_EQ(local.policy, node::MemoryPolicy::bind);
  EXPECT_EQ(set_of(local.memory_nodes), nodes);
}

TEST(RecordedBinding, SyntheticMachinesHaveTheRecordedCpus) {
  EXPECT_GE(kMachines.size(), 12u);
  for (const Recorded& machine : kMachines) {
    const RealNode real(machine);
    std::size_t cores = 0;
    for (const auto& [node, its] : cores_of(machine)) {
      cores += its.size();
      for (const Core& core : its) {
        const CpuLayout::Core* found = real.layout().core_of(core.front());
        ASSERT_NE(found, nullptr) << machine.file;
        EXPECT_EQ(found->cpus, core) << machine.file;
        EXPECT_EQ(found->numa, node) << machine.file;
      }
    }
    EXPECT_EQ(real.layout().cores().size(), cores) << machine.file;
  }
}

// 1, 2, half and all GPUs of an idle machine, each with two cores for a GPU, with a CPU less than whole
// cores, and with as many CPUs as there are for each GPU.
TEST(RecordedBinding, CpusAndMemoryOfIdleMachinesAreNearTheGpus) {
  std::size_t compared = 0;
  for (const Recorded& machine : kMachines) {
    const std::size_t all = machine.of_gpu.size();
    std::map<Cpu, std::size_t> gpus_of_node;
    for (const Cpu node : machine.of_gpu) ++gpus_of_node[node];
    std::size_t most = 0;
    for (const auto& [node, count] : gpus_of_node) most = std::max(most, count);
    const std::size_t of_node = cores_of(machine).begin()->second.size() * machine.threads;
    for (const std::size_t gpus : std::set<std::size_t>{1, 2, all / 2, all})
      for (const std::size_t each : {2 * machine.threads, 2 * machine.threads - 1,
                                     of_node / most / machine.threads * machine.threads}) {
        RealNode real(machine);
        Reference reference(machine);
        allocate_and_compare(machine, real, reference, gpus, gpus * each);
        ++compared;
      }
  }
  std::printf("%zu allocations on %zu recorded machines\n", compared, kMachines.size());
  EXPECT_GE(compared, 12u * 4);
}

// Jobs of one GPU each, one after the other, until all GPUs are used: each stays near its own GPU.
TEST(RecordedBinding, JobsBesideEachOtherStayNearTheirGpus) {
  for (const Recorded& machine : kMachines) {
    RealNode real(machine);
    Reference reference(machine);
    for (std::size_t job = 0; job < machine.of_gpu.size(); ++job)
      allocate_and_compare(machine, real, reference, 1, machine.threads + job % 2);
  }
}

// By --hint=nomultithread each of them uses one thread of each core.
TEST(RecordedBinding, OneThreadOfEachCoreIsUsedOnDemand) {
  for (const Recorded& machine : kMachines) {
    RealNode real(machine);
    const NodeShare share = real.allocate(1, 4 * machine.threads);
    const auto used =
        node::usable_cpus(share, real.bind(share, {"nomultithread", 0, "", "", "", ""}));
    EXPECT_EQ(used.size(), 4u) << machine.file;
    std::set<const CpuLayout::Core*> cores;
    for (const Cpu cpu : used) cores.insert(real.layout().core_of(cpu));
    EXPECT_EQ(cores.size(), 4u) << machine.file;
  }
}

}  // namespace
}  // namespace ares
