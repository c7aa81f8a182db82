// Tests: decide_submit, core/job/checks/default_memory, feasible, gpu_types_text, resource_checks, submit_checks, text_check, decide/decision
// Refusals at submission, with the messages that users and wrappers of sbatch know.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

struct Bad {
  std::string name;
  std::function<void(JobSpec&)> change;
  std::string says;
};

IntervalSet every_second(std::uint32_t count) {
  IntervalSet set;
  for (std::uint32_t i = 0; i < count; ++i) set.insert(2 * i + 1);
  return set;
}

// AC-019: p1 permits a job one node, p2 two.
TEST(Submit, LimitsOfPartitionsAreEnforcedAsTheSiteSays) {
  for (const auto& [enforced, two, three] : {std::tuple{PartitionLimits::any, true, false},
                                             std::tuple{PartitionLimits::all, false, false},
                                             std::tuple{PartitionLimits::none, true, true}}) {
    Policy policy = Cluster::default_policy();
    policy.enforce_partition_limits = enforced;
    Cluster c(4, policy);
    ApplyConfig config;
    config.hash = 8;
    for (int i = 1; i <= 4; ++i)
      config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
    for (const std::uint32_t most : {1U, 2U}) {
      Partition partition = *c.state().partitions.find("main");
      partition.name = "p" + std::to_string(most);
      partition.max_nodes = most;
      partition.max_time = Seconds{3600};
      partition.is_default = false;
      config.partitions.push_back(std::move(partition));
    }
    c.run({config});
    JobSpec spec = Cluster::spec();
    spec.partitions = {"p1", "p2"};
    spec.time_limit = Seconds{60};
    for (const auto& [nodes, accepted] : {std::pair{2U, two}, std::pair{3U, three}}) {
      spec.min_nodes = spec.max_nodes = spec.tasks = nodes;
      const Reply reply = c.try_submit(spec);
      EXPECT_EQ(!reply.failed, accepted) << static_cast<int>(enforced) << " " << nodes;
    }
    spec.min_nodes = spec.max_nodes = spec.tasks = 1;
    spec.time_limit = Seconds{7200};
    EXPECT_EQ(!c.try_submit(spec).failed, three);
    spec.min_nodes = spec.max_nodes = spec.tasks = 5;
    EXPECT_TRUE(c.try_submit(spec).failed) << "no limit: there are not so many nodes";
  }
}

// Without a type the GPUs of a node are of one type, however many of others it has.
TEST(Submit, RefusalOfGpusOfAnyTypeSaysWhichTypesANodeHas) {
  Cluster c(3);
  ApplyConfig config;
  config.hash = 8;
  config.partitions = {*c.state().partitions.find("main")};
  Inventory mixed = Cluster::machine();
  for (std::uint16_t i = 2; i < 4; ++i) mixed.gpus.push_back({GpuIndex{i}, "h100", {}});
  config.nodes = {{"n1", Cluster::machine()}, {"n2", Cluster::machine()}, {"n3", mixed}};
  c.run({config});
  c.register_node(3, {}, mixed);
  JobSpec spec = Cluster::spec();
  const auto refusal = [&](const GpuRequest& wanted) {
    spec.gpus_per_node = {wanted};
    return c.try_submit(spec).error.message;
  };
  EXPECT_NE(refusal({"", 3}).find("needs 3 GPUs on one node; the most a node of partition main has "
                                  "is 2 of one type; n3 has 4 of 2 types: gpu:a100:2,gpu:h100:2"),
            std::string::npos)
      << refusal({"", 3});
  EXPECT_TRUE(refusal({"a100", 3}).ends_with("has is 2")) << refusal({"a100", 3});
}

TEST(Submit, AJobOfSeveralPartitionsWaitsForThoseThatAreOpen) {
  for (const auto& [enforced, accepted] :
       {std::pair{PartitionLimits::any, true}, std::pair{PartitionLimits::all, false}}) {
    Policy policy = Cluster::default_policy();
    policy.enforce_partition_limits = enforced;
    Cluster c(2, policy);
    ApplyConfig config;
    config.hash = 8;
    for (int i = 1; i <= 2; ++i)
      config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
    for (const char* name : {"closed", "open"}) {
      Partition partition = *c.state().partitions.find("main");
      partition.name = name;
      partition.open = partition.name == "open";
      partition.is_default = false;
      config.partitions.push_back(std::move(partition));
    }
    c.run({config});
    JobSpec spec = Cluster::spec();
    spec.partitions = {"closed", "open"};
    const Reply reply = c.try_submit(spec);
    ASSERT_EQ(!reply.failed, accepted);
    if (accepted) {
      EXPECT_EQ(c.state().jobs.find(reply.jobs.at(0))->spec->partitions,
                std::vector<std::string>{"open"});
      EXPECT_EQ(reply.text,
                "partition closed takes no new jobs now (DRAIN); the job waits for open");
    }
    spec.partitions = {"closed"};
    EXPECT_TRUE(c.try_submit(spec).failed);
  }
}

TEST(Submit, TasksOfAnOvercommittedJobMayBeMoreThanTheCpusOfANode) {
  Cluster c;
  JobSpec spec = Cluster::spec();
  spec.tasks = spec.tasks_per_node = 8;
  EXPECT_TRUE(c.try_submit(spec).failed);
  spec.overcommit = true;
  EXPECT_FALSE(c.try_submit(spec).failed);
  spec.cpus_per_task = 5;
  spec.memory_per_cpu = Bytes::mib(1000);
  EXPECT_FALSE(c.try_submit(spec).failed) << "the memory of a node, for its CPUs";
  spec.memory_per_cpu = Bytes::mib(1001);
  EXPECT_TRUE(c.try_submit(spec).failed);
}

TEST(Submit, ImpossibleRequestsAreRefused) {
  const Bad cases[] = {
      {"partition", [](JobSpec& s) { s.partitions = {"nope"}; },
       "Invalid partition name specified: nope"},
      {"time limit", [](JobSpec& s) { s.time_limit = Seconds{90000}; },
       "Requested time limit is invalid (missing or exceeds some limit)"},
      {"unlimited time", [](JobSpec& s) { s.time_limit = Seconds{0}; },
       "Requested time limit is invalid"},
      {"nodes", [](JobSpec& s) { s.min_nodes = s.max_nodes = 5; },
       "Requested node configuration is not available: needs 5 nodes; 4 of partition main"},
      {"node range",
       [](JobSpec& s) {
         s.min_nodes = 3;
         s.max_nodes = 2;
       },
       "Node count specification invalid"},
      {"cpus", [](JobSpec& s) { s.cpus_per_task = 5; },
       "needs 5 CPUs on one node; the most a node of partition main has is 4"},
      {"tasks", [](JobSpec& s) { s.tasks = 5; },
       "needs 5 tasks of 1 CPUs; 1 nodes of partition main have room for 4"},
      {"memory", [](JobSpec& s) { s.memory_per_node = Bytes::gib(8); },
       "needs 8G of memory on one node"},
      {"gpus",
       [](JobSpec& s) {
         s.gpus_per_node = {{"a100", 3}};
       },
       "needs 3 a100 GPUs on one node; the most a node of partition main has is 2"},
      {"gpu type",
       [](JobSpec& s) {
         s.gpus_per_node = {{"h100", 1}};
       },
       "needs 1 h100 GPU on one node"},
      {"gpus a task, too many",
       [](JobSpec& s) {
         s.gpus_per_task = {{"", 3}};
       },
       "needs 3 GPUs on one node; the most a node of partition main has is 2"},
      {"gpus a task and in all",
       [](JobSpec& s) {
         s.gpus_per_task = {{"", 1}};
         s.gpus_total = {{"", 3}};
         s.tasks = 2;
       },
       "3 GPUs in total do not match 2 tasks of 1"},
      {"gpus a task and a node",
       [](JobSpec& s) {
         s.gpus_per_task = {{"", 1}};
         s.gpus_per_node = {{"", 2}};
         s.tasks_per_node = 1;
       },
       "2 GPUs a node do not match 1 task a node of 1"},
      {"cpus with no gpu", [](JobSpec& s) { s.cpus_per_gpu = 2; }, "no GPUs asked for"},
      {"too many cpus with gpus",
       [](JobSpec& s) {
         s.cpus_per_gpu = 3;
         s.gpus_per_node = {{"", 2}};
       },
       "needs 6 CPUs on one node"},
      {"memory twice",
       [](JobSpec& s) {
         s.memory_per_gpu = Bytes::gib(1);
         s.memory_per_cpu = Bytes::gib(1);
         s.gpus_per_node = {{"", 2}};
       },
       "exclude each other"},
      {"gpus in all with cpus, on two nodes",
       [](JobSpec& s) {
         s.cpus_per_gpu = 1;
         s.gpus_total = {{"", 2}};
         s.min_nodes = s.max_nodes = 2;
       },
       "is for jobs of one node"},
      {"gpus in all",
       [](JobSpec& s) {
         s.gpus_total = {{"", 3}};
       },
       "needs 3 GPUs"},
      {"gpus of all nodes",
       [](JobSpec& s) {
         s.gpus_total = {{"", 9}};
         s.max_nodes = 0;
       },
       "needs 9 GPUs; 4 nodes of partition main have 8"},
      {"feature", [](JobSpec& s) { s.features = {"fast"}; },
       "Requested node configuration is not available: no node of partition main has the features "
       "asked for (invalid feature specification): fast"},
      {"bad constraint", [](JobSpec& s) { s.features = {"fast&"}; },
       "Invalid feature specification: \"fast&\""},
      {"more counted than asked for", [](JobSpec& s) { s.features = {"fast*2"}; },
       "Requested node configuration is not available: 2 nodes with fast asked for"},
      {"counted features",
       [](JobSpec& s) {
         s.features = {"fast*2"};
         s.min_nodes = s.max_nodes = 2;
       },
       "needs 2 nodes with fast; 0 of partition main could take their share"},
      {"node counts",
       [](JobSpec& s) {
         s.node_counts.emplace().insert(0, 2);
         s.max_nodes = 2;
       },
       "Node count specification invalid"},
      {"node name", [](JobSpec& s) { s.required_nodes = {"n9"}; },
       "Invalid node name specified: n9"},
      {"array of too many tasks",
       [](JobSpec& s) {
         s.array.emplace();
         s.array->insert(7, 100'008);
       },
       "100002 tasks; at most 100001 are allowed (policy.max_array_size)"},
      {"aftercorr of more tasks than can be looked up at once",
       [](JobSpec& s) {
         s.array.emplace();
         s.array->insert(0, 99'999);
         for (std::uint64_t id = 1; id <= 11; ++id)
           s.dependencies.push_back({DependencyKind::after_corr, {JobId{id}, {}}});
       },
       "aftercorr of more than 1000000 tasks"},
      {"afterok of nothing",
       [](JobSpec& s) {
         s.dependencies = {{DependencyKind::after_ok, {JobId{99}, {}}}};
       },
       "Job dependency problem: afterok:99"},
      {"control character", [](JobSpec& s) { s.name = "a\x1b[2J"; }, "control character"},
      {"not text", [](JobSpec& s) { s.comment = "\xff\xfe"; }, "not valid UTF-8"},
      {"a C1 control", [](JobSpec& s) { s.name = "c1\u009b31m"; }, "contains a control character"},
      {"bidirectional", [](JobSpec& s) { s.name = "\u202egpj.sh"; },
       "contains a control character"},
      {"array of gaps", [](JobSpec& s) { s.array = every_second(10'001); },
       "10001 separate ranges of tasks; at most 10000 are allowed"},
      {"node counts of gaps", [](JobSpec& s) { s.node_counts = every_second(1001); },
       "1001 separate numbers or ranges; at most 1000 are allowed"},
      {"memory for each GPU that is none",
       [](JobSpec& s) {
         s.gpus_per_node = {{"", 1}};
         s.memory_per_gpu = Bytes{};
       },
       "memory per GPU is 0: give the memory that comes with each GPU"},
      {"memory for each GPU that wraps round to none",
       [](JobSpec& s) {
         s.gpus_per_task = {{"", 2}};
         s.memory_per_gpu = Bytes(std::int64_t{1} << 62);
       },
       "memory per GPU is 4096P; at most 1P can be asked for"},
      {"memory for each GPU, with all of them above any node",
       [](JobSpec& s) {
         s.gpus_per_node = {{"", 2}};
         s.memory_per_gpu = Bytes(std::int64_t{1} << 50);
       },
       "needs 2P of memory on one node"},
      {"memory for each CPU without a bound",
       [](JobSpec& s) { s.memory_per_cpu = Bytes(std::int64_t{1} << 51); },
       "memory per CPU is 2P; at most 1P can be asked for"},
      {"memory of a node without a bound",
       [](JobSpec& s) { s.memory_per_node = Bytes(std::int64_t{1} << 51); },
       "memory per node is 2P; at most 1P can be asked for"},
      {"negative memory", [](JobSpec& s) { s.memory_per_node = Bytes(-1); },
       "memory per node is negative; at most 1P can be asked for"},
      {"gpus without a bound",
       [](JobSpec& s) {
         s.gpus_total = {{"a100", 4'000'000'000}, {"h100", 1}};
       },
       "4000000001 GPUs in total; at most 1000000 can be asked for"},
      {"kinds of gpus",
       [](JobSpec& s) {
         s.gpus_per_node.edit().assign(65, {"a100", 1});
       },
       "65 kinds of GPUs a node; at most 64 can be asked for"},
      {"cpus for each GPU without a bound",
       [](JobSpec& s) {
         s.gpus_per_node = {{"", 2}};
         s.cpus_per_gpu = 1u << 31;
       },
       "2147483648 CPUs for each GPU; at most 1000000 can be asked for"},
      {"tasks a node without a bound", [](JobSpec& s) { s.tasks_per_node = 1u << 31; },
       "2147483648 tasks a node; at most 1000000 can be asked for"},
      {"required twice",
       [](JobSpec& s) {
         s.required_nodes = {"n1", "n2", "n1"};
         s.max_nodes = 3;
       },
       "Invalid node name specified: n1 is required twice"},
      {"excluded twice",
       [](JobSpec& s) {
         s.excluded_nodes = {"n2", "n2"};
       },
       "Invalid node name specified: n2 is excluded twice"},
      {"unknown node excluded", [](JobSpec& s) { s.excluded_nodes = {"n99"}; },
       "Invalid node name specified: n99"},
      {"all excluded",
       [](JobSpec& s) {
         s.excluded_nodes = {"n1", "n2", "n3", "n4"};
       },
       "all nodes of partition main are excluded (-x)"},
      {"too many excluded", [](JobSpec& s) { s.excluded_nodes.edit().assign(10'001, "n1"); },
       "10001 nodes are excluded; at most 10000 can be named"},
      {"too many constraints", [](JobSpec& s) { s.features.edit().assign(257, "a"); },
       "Invalid feature specification: 257 constraints; at most 256 are allowed"},
      {"too many features", [](JobSpec& s) { s.features.edit().assign(86, "a&(b|c)"); },
       "Invalid feature specification: 258 names of features; at most 256 are allowed"},
      {"too many dependencies",
       [](JobSpec& s) {
         s.dependencies.edit().assign(1001, {DependencyKind::after_any, {JobId{99}, {}}});
       },
       "1001 jobs or tasks to wait for; at most 1000 are allowed"},
      {"no name", [](JobSpec& s) { s.name.clear(); }, "no name"},
      {"priority", [](JobSpec& s) { s.priority = 5; },
       "only operators and administrators may set a priority"},
      {"nice", [](JobSpec& s) { s.nice = -1; }, "negative nice"},
  };
  Cluster c;
  for (const Bad& bad : cases) {
    SCOPED_TRACE(bad.name);
    JobSpec s = Cluster::spec();
    bad.change(s);
    const Reply reply = c.try_submit(s);
    EXPECT_TRUE(reply.failed);
    EXPECT_NE(reply.error.message.find(bad.says), std::string::npos) << reply.error.message;
    EXPECT_LT(reply.error.message.size(), 500u);
  }
  EXPECT_EQ(c.state().jobs.size(), 0u);
}

TEST(Submit, RequestsThatFitExactlyAreAccepted) {
  const std::function<void(JobSpec&)> cases[] = {
      [](JobSpec& s) {
        s.min_nodes = s.max_nodes = 4;
        s.tasks = 16;
      },
      [](JobSpec& s) { s.cpus_per_task = 4; },
      [](JobSpec& s) { s.time_limit = Seconds{86400}; },
      [](JobSpec& s) {
        s.gpus_per_node = {{"", 2}};
      },
      [](JobSpec& s) {
        s.min_nodes = s.max_nodes = 2;
        s.gpus_total = {{"a100", 4}};
      },
      [](JobSpec& s) {
        s.array.emplace();
        s.array->insert(1000);
      },
      [](JobSpec& s) {  // Only the number of tasks is bounded.
        s.array.emplace();
        s.array->insert(1'000'000, 1'000'009);
      },
      [](JobSpec& s) {
        s.array.emplace();
        s.array->insert(TaskIndex::kNone - 100'001, TaskIndex::kNone - 1);
      },
      [](JobSpec& s) { s.name = "x'; DROP TABLE jobs; --"; },
      [](JobSpec& s) {
        s.dependencies = {{DependencyKind::after_any, {JobId{99}, {}}}};
      },
      [](JobSpec& s) {
        s.partitions = {"main", "main"};
      },
  };
  Cluster c;
  for (const auto& change : cases) {
    JobSpec s = Cluster::spec();
    change(s);
    const Reply reply = c.try_submit(s);
    EXPECT_FALSE(reply.failed) << reply.error.message;
  }
}

TEST(Submit, SubmissionForAnotherUserIsRefused) {
  Cluster c;
  const Reply reply =
      c.user(kBob, Submit{std::make_shared<const JobSpec>(Cluster::spec(kAlice)), {}});
  EXPECT_EQ(reply.error.code, ErrorCode::permission_denied);
}

TEST(Submit, ScriptSizeIsLimited) {
  Policy policy = Cluster::default_policy();
  policy.max_script_bytes = 100;
  Cluster c(1, policy);
  JobSpec s = Cluster::spec();
  s.script[0] = 1;
  Submit submit{std::make_shared<const JobSpec>(s),
                {{s.script, std::make_shared<const std::string>(101, 'x')}}};
  const Reply reply = c.user(kAlice, submit);
  EXPECT_NE(reply.error.message.find("the script has 101 bytes; at most 100"), std::string::npos);
}

TEST(Submit, AJobThatAsksForNoMemoryHasThatOfItsPartition) {
  Cluster c;
  UpdatePartition update;
  update.names = {"main"};
  update.fields = {"default_memory_per_cpu"};
  update.values.default_memory_per_cpu = Bytes::mib(500);
  ASSERT_FALSE(c.user(kRoot, update).failed);
  EXPECT_EQ(c.job(c.submit()).spec->memory_per_cpu, Bytes::mib(500));
  JobSpec s = Cluster::spec();
  s.memory_per_node = Bytes::mib(100);
  EXPECT_FALSE(c.job(c.submit(s)).spec->memory_per_cpu) << "it asks for other memory";
  s.memory_per_node = Bytes{};
  EXPECT_FALSE(c.job(c.submit(s)).spec->memory_per_cpu) << "it asks for all of the node's";
}

}  // namespace
}  // namespace ares::core
