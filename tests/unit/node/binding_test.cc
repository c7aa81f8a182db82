// What an attempt uses of its CPUs, and where its memory comes from.
#include "node/binding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "node/step_spec.h"

namespace ares::node {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

IntervalSet set(const std::string& text) {
  return text.empty() ? IntervalSet() : parse_interval_set(text).value();
}

// Two sockets of four cores with two threads each: core 0 is CPUs 0 and 8.
CpuLayout two_sockets() {
  return parse_cpu_layout("0.0:0-3/8-11;1.1:4-7/12-15").value();
}

struct Request {
  std::string cpus;
  JobBinding options{};
  std::vector<GpuIndex> gpus{};
};

LaunchSpec launch(const Request& request) {
  auto spec = std::make_shared<JobSpec>();
  spec->binding = request.options;
  LaunchSpec launch;
  launch.spec = spec;
  for (const std::uint32_t cpu : set(request.cpus)) launch.share.cpu_ids.push_back(cpu);
  launch.share.gpus = request.gpus;
  return launch;
}

// GPU 0 is at NUMA node 0, GPU 1 at node 1, GPU 2 at a node without CPUs.
StepBinding bind(const Request& request, const CpuLayout& layout = two_sockets()) {
  return bind_step(launch(request), layout,
                   {{GpuIndex(0), set("0")}, {GpuIndex(1), set("1")}, {GpuIndex(2), set("7")}});
}

JobBinding hint(const char* word) {
  return {word, 0, "", "", "", ""};
}
JobBinding cpu_bind(const char* text) {
  return {"", 0, text, "", "", ""};
}
JobBinding mem_bind(const char* text) {
  return {"", 0, "", text, "", ""};
}

TEST(StepBinding, NomultithreadLeavesOneThreadOfEachCore) {
  EXPECT_EQ(bind({"0-1,8-9", hint("nomultithread")}).usable_cpus, set("0-1"));
  EXPECT_EQ(bind({"0-1,8-9", hint("compute_bound")}).usable_cpus, set("0-1"));
  EXPECT_EQ(bind({"0-1,9-10", hint("nomultithread")}).usable_cpus, set("0-1,10"))
      << "a core of which the job has only the second thread";
  EXPECT_EQ(bind({"0-1,8-9", {"", 1, "", "", "", ""}}).usable_cpus, set("0-1"));
  EXPECT_TRUE(bind({"0-1,8-9", {"", 2, "", "", "", ""}}).usable_cpus.empty()) << "all";
  EXPECT_TRUE(bind({"0-1,8-9", hint("multithread")}).usable_cpus.empty()) << "all";
  EXPECT_TRUE(bind({"0-3", hint("nomultithread")}).usable_cpus.empty()) << "all are alone already";
}

TEST(StepBinding, MemoryBoundLeavesOneCoreOfEachSocket) {
  EXPECT_EQ(bind({"0-15", hint("memory_bound")}).usable_cpus, set("0,4"));
  EXPECT_EQ(bind({"9-11", hint("memory_bound")}).usable_cpus, set("9"));
}

TEST(StepBinding, CpusOutsideOfTheLayoutAreKept) {
  EXPECT_EQ(bind({"0,8,20", hint("nomultithread")}).usable_cpus, set("0,20"));
}

TEST(StepBinding, HintIsNotedWhereItCannotBeFollowed) {
  const StepBinding unknown = bind({"0-3", hint("nomultithread")}, CpuLayout());
  EXPECT_THAT(unknown.notes,
              ElementsAre("all hardware threads are used, because the layout of this "
                          "node's CPUs is not known"));
  EXPECT_TRUE(unknown.usable_cpus.empty());
  EXPECT_THAT(bind({"", hint("nomultithread")}).notes,
              ElementsAre(HasSubstr("did not choose CPUs by their numbers")));
  EXPECT_THAT(bind({"0-3"}, CpuLayout()).notes, IsEmpty()) << "nothing was asked for";
}

TEST(StepBinding, ScriptGetsTheFirstItemOfAListWithinItsCpus) {
  EXPECT_EQ(bind({"0-3", cpu_bind("map_cpu:2,3")}).script_cpus, set("2"));
  EXPECT_EQ(bind({"0-3", cpu_bind("mask_cpu:0xf6")}).script_cpus, set("1-2"))
      << "CPUs of others are left out";
  EXPECT_EQ(bind({"0-7", cpu_bind("map_ldom:1")}).script_cpus, set("4-7"));
  EXPECT_EQ(bind({"0-7", cpu_bind("mask_ldom:0x2,0x1")}).script_cpus, set("4-7"));
  EXPECT_TRUE(bind({"0-3", cpu_bind("mask_cpu:0xf")}).script_cpus.empty()) << "all of them";
  const StepBinding none = bind({"0-3", cpu_bind("map_cpu:9")});
  EXPECT_TRUE(none.script_cpus.empty());
  EXPECT_THAT(none.notes,
              ElementsAre(HasSubstr("the job has none of the CPUs that it names; it has "
                                    "0-3")));
}

TEST(StepBinding, RulesForTasksDoNotConcernTheScript) {
  for (const char* kind : {"cores", "threads", "sockets", "ldoms", "rank", "rank_ldom"})
    EXPECT_EQ(bind({"0-3", cpu_bind(kind)}), bind({"0-3"})) << kind;
  EXPECT_TRUE(bind({"0-3", cpu_bind("none")}).unbound);
}

TEST(StepBinding, MemoryIsPreferredNearTheCpusAndGpus) {
  const StepBinding cpus = bind({"4-5"});
  EXPECT_EQ(cpus.policy, MemoryPolicy::prefer);
  EXPECT_EQ(cpus.memory_nodes, set("1"));
  const StepBinding both = bind({"4-5", {}, {GpuIndex(0)}});
  EXPECT_EQ(both.policy, MemoryPolicy::none) << "all nodes of the machine";
  EXPECT_EQ(bind({"4-5", {}, {GpuIndex(1), GpuIndex(2)}}).memory_nodes, set("1"))
      << "memory near GPU 2 is not the machine's";
  EXPECT_EQ(bind({"0-3"}, parse_cpu_layout("0.0:0-3").value()).policy, MemoryPolicy::none)
      << "one node only";
  EXPECT_EQ(bind({"0-3"}, CpuLayout()).policy, MemoryPolicy::none);
}

TEST(StepBinding, MemBindChoosesTheNodes) {
  const StepBinding local = bind({"4-5", mem_bind("local"), {GpuIndex(0)}});
  EXPECT_EQ(local.policy, MemoryPolicy::bind);
  EXPECT_EQ(local.memory_nodes, set("1")) << "of its CPUs only";
  EXPECT_EQ(bind({"4-5", mem_bind("prefer,local")}).policy, MemoryPolicy::prefer);
  EXPECT_EQ(bind({"4-5", mem_bind("map_mem:0,1")}).memory_nodes, set("0"));
  EXPECT_EQ(bind({"4-5", mem_bind("mask_mem:0x6")}).memory_nodes, set("1"));
  EXPECT_EQ(bind({"4-5", mem_bind("none")}).policy, MemoryPolicy::none);
  EXPECT_EQ(bind({"4-5", mem_bind("rank")}).memory_nodes, set("1"))
      << "for tasks; the default here";
  const auto allowed = [](const char* text) {
    return allowed_memory(bind({"4-5", mem_bind(text)}), mem_bind(text));
  };
  EXPECT_EQ(allowed("map_mem:1,0"), set("0-1")) << "later tasks have other items";
  EXPECT_EQ(allowed("local"), set("1"));
  EXPECT_EQ(allowed("prefer,map_mem:0"), IntervalSet());
  EXPECT_THAT(bind({"4-5", mem_bind("map_mem:5")}).notes,
              ElementsAre(HasSubstr("none of the NUMA nodes that it names; it has 0-1")));
  EXPECT_THAT(bind({"4-5", mem_bind("local")}, CpuLayout()).notes,
              ElementsAre(HasSubstr("--mem-bind has no effect")));
}

TEST(StepBinding, LocalMemoryFollowsTheScriptsCpus) {
  EXPECT_EQ(bind({"0-7", {"", 0, "map_ldom:1", "local", "", ""}}).memory_nodes, set("1"));
}

TEST(StepBinding, IsShownToTheUser) {
  Request request{"4-5,12-13", {"nomultithread", 0, "verbose", "local", "", ""}};
  const StepBinding binding = bind(request);
  EXPECT_TRUE(binding.verbose);
  EXPECT_EQ(describe(launch(request).share, binding), "CPUs 4-5, memory from NUMA node 1 only");
  EXPECT_THAT(usable_cpus(launch(request).share, binding), ElementsAre(4, 5));
  EXPECT_EQ(describe(launch({"4-5"}).share, bind({"4-5"})),
            "CPUs 4-5, memory from NUMA node 1 first");
  EXPECT_EQ(describe(launch({"0"}).share, bind({"0", cpu_bind("none")})),
            "not bound to CPUs, memory from NUMA node 0 first");
}

TEST(StepBinding, TravelsInTheSpec) {
  StepSpec spec;
  spec.launch = launch({"4-5", {"nomultithread", 0, "verbose", "local", "closest", "block"}});
  spec.launch.cluster_name = spec.launch.node_name = "n";
  spec.launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n"}, std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1});
  spec.binding = {set("4"), set("4"), true, MemoryPolicy::bind, set("1"), {"a note"}, true};
  const Result<StepSpec> read = decode_step_spec(encode(spec));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->binding, spec.binding);
  EXPECT_EQ(read->launch.spec->binding, spec.launch.spec->binding);
}

}  // namespace
}  // namespace ares::node
