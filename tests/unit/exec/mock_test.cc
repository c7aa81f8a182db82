// Tests: exec/adapter/backend, exec/adapter/convert, exec/adapter/open_plugin, exec/adapter/found_node
// Tests: node_file
// The mock plugin behind the exec interface, driven by a node agent like in aresd.
#include "exec/mock/mock.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "exec/mock/node_file.h"
#include "exec/mock/simulated_tree.h"
#include "node/memory_spool.h"
#include "unit/exec/real_node.h"

namespace ares::exec {
namespace {

class Mock : public ::testing::Test, private node::Uplink, private node::Users {
 protected:
  void start(const std::string& options) {
    node::AgentSetup setup;
    setup.name = "n1";
    setup.boot_id = "boot";
    node::Uplink& uplink = *this;
    node::Users& users = *this;
    agent = std::make_unique<node::NodeAgent>(setup, spool, users, uplink);
    plugin = std::move(*OpenPlugin::open(*mock_plugin(), options, none));
    executor = std::move(*plugin->add_node({"n1", "", "boot"}, spool, *agent));
    ASSERT_TRUE(agent->recover(*executor, real_now()));
    agent->connected(real_now());
  }
  void tell(ToNodeBody body) { agent->receive({"n1", Epoch(1), std::move(body)}, real_now()); }
  Prepare job(std::uint64_t id, const std::string& script) {
    auto spec = std::make_shared<JobSpec>();
    Prepare prepare;
    prepare.launch.attempt = {{JobId(id), TaskIndex{}}, AttemptNo(1)};
    prepare.launch.fence = Fence(id);
    prepare.launch.spec = spec;
    prepare.launch.share.incarnation = agent->incarnation();
    prepare.script = std::make_shared<std::string>(script);
    return prepare;
  }
  AttemptReport report(const AttemptKey& key) {
    for (const AttemptReport& r : agent->attempts())
      if (r.attempt == key) return r;
    return {};
  }
  bool until(const AttemptKey& key, AttemptPhase phase) {
    const BootTime deadline = os::boot_now() + Seconds(10);
    while (report(key).phase != phase && os::boot_now() < deadline) {
      if (const auto next = plugin->next_deadline(); next && *next > os::boot_now()) ::usleep(1000);
      plugin->dispatch(real_now());
    }
    return report(key).phase == phase;
  }
  AttemptReport run(const Prepare& prepare) {
    const AttemptKey& key = prepare.launch.attempt;
    tell(prepare);
    EXPECT_TRUE(until(key, AttemptPhase::ready));
    tell(Go{key, prepare.launch.fence});
    EXPECT_TRUE(until(key, AttemptPhase::done));
    return report(key);
  }

  node::MemorySpool spool;
  std::unique_ptr<node::NodeAgent> agent;
  NoNodes none;
  std::unique_ptr<OpenPlugin> plugin;
  std::unique_ptr<node::Executor> executor;

 private:
  void send(FromNode) override {}
  Result<node::UserIdentity> find(UserId, GroupId gid) override {
    return node::UserIdentity{{}, gid, {}, {}, {}};
  }
};

TEST_F(Mock, RunsAsLongAsTheScriptSleeps) {
  start("");
  const AttemptReport report = run(job(1, "#!/bin/sh\necho x\n  sleep 0.2\nsleep 100\n"));
  const Duration time = *report.ended_at - *report.ran_since;
  EXPECT_GE(time, std::chrono::milliseconds(190));
  EXPECT_LT(time, Seconds(5));
  EXPECT_EQ(report.exit.code, 0);
}

TEST_F(Mock, ConfiguredRunTimePrecedesTheScript) {
  start("run_time_ms 10\n");
  const AttemptReport report = run(job(1, "#!/bin/sh\nsleep 100\n"));
  EXPECT_LT(*report.ended_at - *report.ran_since, Seconds(5));
}

TEST_F(Mock, ConfiguredRateOfJobsFails) {
  start("fail_permille 300\n");
  int failed = 0;
  for (std::uint64_t id = 1; id <= 200; ++id) failed += run(job(id, "#!/bin/sh\n")).exit.code;
  EXPECT_GT(failed, 30);
  EXPECT_LT(failed, 90);
}

TEST_F(Mock, ConfiguredRateOfLaunchesFails) {
  start("launch_fail_permille 1000\n");
  const Prepare prepare = job(1, "#!/bin/sh\n");
  tell(prepare);
  EXPECT_TRUE(until(prepare.launch.attempt, AttemptPhase::never_ran));
}

TEST_F(Mock, SlowNodeDelaysTheLaunch) {
  start("slow_permille 1000\nslow_delay_ms 50\n");
  const BootTime begin = os::boot_now();
  const Prepare prepare = job(1, "#!/bin/sh\n");
  tell(prepare);
  EXPECT_TRUE(until(prepare.launch.attempt, AttemptPhase::ready));
  EXPECT_GE(os::boot_now() - begin, std::chrono::milliseconds(50));
}

TEST_F(Mock, LimitKillAndNeverRanAreLikeThoseOfRealJobs) {
  start("");
  Prepare limited = job(1, "#!/bin/sh\nsleep 100\n");
  limited.launch.time_limit = Seconds(0);
  const AttemptReport late = run(limited);
  EXPECT_TRUE(late.exit.timed_out);
  EXPECT_EQ(late.exit.signal, SIGTERM);

  const Prepare gated = job(2, "#!/bin/sh\nsleep 100\n");
  tell(gated);
  ASSERT_TRUE(until(gated.launch.attempt, AttemptPhase::ready));
  tell(Kill{gated.launch.attempt, gated.launch.fence});
  EXPECT_TRUE(until(gated.launch.attempt, AttemptPhase::never_ran));
  tell(Forget{gated.launch.attempt, gated.launch.fence});
  EXPECT_TRUE(spool.list()->size() == 1u);

  const Prepare quick = job(3, "#!/bin/sh\n");
  tell(quick);
  tell(Kill{quick.launch.attempt, quick.launch.fence});
  EXPECT_TRUE(until(quick.launch.attempt, AttemptPhase::never_ran));
}

// A warning goes to what the script has started, which a simulated job has not.
TEST_F(Mock, WarningDoesNotEndASimulatedJob) {
  start("");
  Prepare warned = job(1, "#!/bin/sh\nsleep 0.2\n");
  auto spec = std::make_shared<JobSpec>();
  spec->warning = WarningSignal{SIGUSR1, kLongestWarning, false};
  warned.launch.spec = spec;
  warned.launch.time_limit = Seconds(60);
  EXPECT_EQ(run(warned).exit, ExitStatus{});
}

TEST(FirstSleep, IsFoundAtTheStartOfALine) {
  EXPECT_EQ(first_sleep("#!/bin/sh\nsleep 3\n"), Duration(Seconds(3)));
  EXPECT_EQ(first_sleep("\tsleep 0.5 # half"), Duration(std::chrono::milliseconds(500)));
  EXPECT_FALSE(first_sleep("echo sleep 3\nsleeping 4\nsleep x\n"));
  EXPECT_FALSE(first_sleep(""));
}

// A plugin that was built when reports ended with the detail.
struct OlderPlugin {
  ares_exec_host host{};
  static void list(void* self, ares_exec_node node) {
    auto& old = *static_cast<OlderPlugin*>(self);
    std::vector<char> report(sizeof(ares_exec_report), 0x7f);
    ares_exec_report known{};
    known.size = offsetof(ares_exec_report, node_problem);
    known.key.node = node;
    known.phase = ARES_EXEC_DONE;
    known.max_rss = 5;
    std::memcpy(report.data(), &known, known.size);
    old.host.changed(old.host.context, reinterpret_cast<const ares_exec_report*>(report.data()));
  }
};

TEST_F(Mock, ReportsOfOlderPluginsAreNotReadBeyondTheirEnd) {
  start("");
  ares_exec_plugin table = *mock_plugin();
  table.open = [](const ares_exec_host* host, char*, size_t) -> void* {
    return new OlderPlugin{*host};
  };
  table.close = [](void* self) { delete static_cast<OlderPlugin*>(self); };
  table.add_node = [](void*, const ares_exec_node_setup*, char*, size_t) -> int32_t {
    return ARES_EXEC_OK;
  };
  table.remove_node = [](void*, ares_exec_node) {};
  table.list = OlderPlugin::list;
  table.set_suspended = nullptr;
  auto old = OpenPlugin::open(table, "", none);
  ASSERT_TRUE(old);
  const auto node = (*old)->add_node({"n1", "", "boot"}, spool, *agent);
  ASSERT_TRUE(node);
  const std::vector<AttemptReport> reports = (*node)->list(real_now());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].usage.max_rss, Bytes(5));
  EXPECT_EQ(reports[0].node_problem, "");
  EXPECT_EQ(reports[0].stopped, Lsn{});
  EXPECT_FALSE((*node)->tells_stopped());
}

// --- several nodes of one plugin ----------------------------------------------------------------

// Collects what is told of the attempts of one node.
struct Told final : node::ExecutorEvents {
  std::map<AttemptKey, AttemptReport> last;
  void attempt_changed(const AttemptReport& report, node::Moment) override {
    last[report.attempt] = report;
  }
  void launch_failed(const AttemptKey&, Fence, bool, const std::string&, node::Moment) override {}
};

bool dispatch_until(OpenPlugin& plugin, const std::function<bool()>& condition) {
  const BootTime deadline = os::boot_now() + Seconds(10);
  while (!condition() && os::boot_now() < deadline) {
    plugin.dispatch(real_now());
    ::usleep(1000);
  }
  return condition();
}

TEST(ManyNodes, AnAttemptOfTwoNodesIsTwoParts) {
  NoNodes none;
  const auto plugin = std::move(*OpenPlugin::open(*mock_plugin(), "run_time_ms 1000000\n", none));
  node::MemorySpool spool_a, spool_b;
  Told told_a, told_b;
  auto a = std::move(*plugin->add_node({"a", "", "boot"}, spool_a, told_a));
  auto b = std::move(*plugin->add_node({"b", "", "boot"}, spool_b, told_b));
  node::StepSpec spec;
  spec.launch.attempt = {{JobId(1), TaskIndex{}}, AttemptNo(1)};
  spec.launch.fence = Fence(7);
  spec.launch.spec = std::make_shared<JobSpec>();
  const AttemptKey key = spec.launch.attempt;
  ASSERT_TRUE(a->launch(spec, real_now()));
  ASSERT_TRUE(b->launch(spec, real_now()));
  const auto both = [&](AttemptPhase of_a, AttemptPhase of_b) {
    return dispatch_until(
        *plugin, [&] { return told_a.last[key].phase == of_a && told_b.last[key].phase == of_b; });
  };
  ASSERT_TRUE(both(AttemptPhase::ready, AttemptPhase::ready));
  a->go({key, Fence(7)}, std::nullopt, real_now());
  ASSERT_TRUE(both(AttemptPhase::running, AttemptPhase::ready));
  b->kill({key, Fence(7), true}, real_now());
  ASSERT_TRUE(both(AttemptPhase::running, AttemptPhase::never_ran));
  EXPECT_EQ(a->list(real_now()).size(), 1u);
  b->release(key, real_now());
  EXPECT_EQ(b->list(real_now()).size(), 0u);
}

TEST(ManyNodes, ARemovedNodeTellsNothingMore) {
  NoNodes none;
  const auto plugin = std::move(*OpenPlugin::open(*mock_plugin(), "", none));
  node::MemorySpool spool;
  Told told;
  auto node = std::move(*plugin->add_node({"a", "", "boot"}, spool, told));
  node::StepSpec spec;
  spec.launch.attempt = {{JobId(1), TaskIndex{}}, AttemptNo(1)};
  spec.launch.spec = std::make_shared<JobSpec>();
  ASSERT_TRUE(node->launch(spec, real_now()));
  ASSERT_TRUE(plugin->next_deadline());
  node.reset();
  EXPECT_FALSE(plugin->next_deadline());
  plugin->dispatch(real_now());
  EXPECT_TRUE(told.last.empty());
}

// --- nodes that the plugin finds ----------------------------------------------------------------

struct ToldNodes final : NodeEvents {
  std::map<std::string, FoundNode> nodes;
  std::map<std::string, std::string> removed;  // why
  void node_changed(const FoundNode& node) override { nodes[node.name] = node; }
  void node_removed(const std::string& name, const std::string& why) override {
    nodes.erase(name);
    removed[name] = why;
  }
};

TEST(FoundNodes, FollowTheFile) {
  TemporaryDirectory directory;
  const std::string file = directory / "nodes";
  const auto write = [&](const std::string& text) {
    std::ofstream(file + ".new") << text;
    std::filesystem::rename(file + ".new", file);
  };
  ToldNodes told;
  const auto plugin =
      std::move(*OpenPlugin::open(*mock_plugin(), "nodes_file " + file + "\n", told));
  const auto follows = [&](const std::function<bool()>& condition) {
    return dispatch_until(*plugin, condition);
  };
  plugin->dispatch(real_now());
  EXPECT_TRUE(told.nodes.empty()) << "there is no file yet";

  write(
      "# two nodes\nk1 uid-1 3 4 1000 zone-a,fast a100,a100\nk2 uid-2 1 8 2000 - - cordoned by "
      "hand\n");
  ASSERT_TRUE(follows([&] { return told.nodes.size() == 2; }));
  const FoundNode& first = told.nodes["k1"];
  EXPECT_EQ(first.identity, "uid-1");
  EXPECT_EQ(first.incarnation, 3u);
  EXPECT_EQ(first.inventory.cpus, 4u);
  EXPECT_EQ(first.inventory.memory, Bytes::mib(1000));
  EXPECT_EQ(first.inventory.features, (std::vector<std::string>{"zone-a", "fast"}));
  ASSERT_EQ(first.inventory.gpus.size(), 2u);
  EXPECT_EQ(first.inventory.gpus[1].index, GpuIndex(1));
  EXPECT_EQ(first.inventory.gpus[1].type, "a100");
  EXPECT_EQ(first.problem, "");
  EXPECT_EQ(told.nodes["k2"].problem, "cordoned by hand");

  write("k1 uid-1 3 2 1000 - -\n");
  ASSERT_TRUE(follows([&] { return told.removed.contains("k2"); }));
  EXPECT_EQ(told.nodes["k1"].inventory.cpus, 2u);
  EXPECT_NE(told.removed["k2"].find(file), std::string::npos);

  write("k1 uid-1 3 none 1000 - -\n");
  write("k1 uid-9 4 2 1000 - -\n");
  ASSERT_TRUE(follows([&] { return told.nodes["k1"].identity == "uid-9"; }));
}

TEST(FoundNodes, ALineThatIsWrongIsNamed) {
  EXPECT_TRUE(parse_nodes("\n# x\n")->empty());
  for (const char* line : {"k1", "k1 u 0 4 100 - -", "k1 u 1 0 100 - -", "k1 u 1 4 0 - -",
                           "k1 u 1 4 x - -", "k1 u 1 4 99999999999999 - -"}) {
    const auto nodes = parse_nodes(std::string("k0 u 1 1 1 - -\n") + line);
    ASSERT_FALSE(nodes) << line;
    EXPECT_NE(nodes.error().message.find("line 2"), std::string::npos);
  }
}

TEST(FoundNodes, AnInventoryPassesTheInterface) {
  Inventory inventory;
  inventory.cpus = 3;
  inventory.memory = Bytes::mib(5);
  inventory.features = {"zone-a", "with space\n"};
  inventory.gpus = {{GpuIndex(0), "a100", {}}, {GpuIndex(1), "h100", {}}};
  inventory.gpu_topology = GpuTopology("\tGPU0\tGPU1\nGPU0\tX\tNV1\n");
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).value(), inventory);
  inventory.max_attempts = 0;
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).value(), inventory);
  inventory.tmp_disk = Bytes::gib(100);
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).value(), inventory);
  inventory.cpu_thousandths = 3920;
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).value(), inventory);
  inventory.gpus[1].memory = Bytes::gib(80);
  EXPECT_EQ(decode_inventory(encode_inventory(inventory)).value(), inventory);
  EXPECT_FALSE(decode_inventory("cpus 1\nmemory 1\ngpu a100\ngpu a100\ngpu_memory 1\n"));
  EXPECT_FALSE(decode_inventory("cpus 0\nmemory 1\n"));
  EXPECT_FALSE(decode_inventory("cpus 1\nmemory -1\n"));
  EXPECT_TRUE(decode_inventory("cpus 1\nmemory 1\ncpu_thousandths 500\n"));
  EXPECT_FALSE(decode_inventory("cpus 2\nmemory 1\ncpu_thousandths 500\n"));
  EXPECT_FALSE(decode_inventory("cpus 4\nmemory 1\ncpu_thousandths 3920\n"));
  EXPECT_FALSE(decode_inventory("cpus 1\nmemory 1\ngpu \n"));
  EXPECT_FALSE(decode_inventory("memory 1\n"));
}

}  // namespace
}  // namespace ares::exec
