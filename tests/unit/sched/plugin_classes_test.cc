// Plugins in the scheduler's stages: which jobs are refused, their reasons, and how often plugins
// are called.
#include "core/sched/place/plugin_classes.h"

#include <gtest/gtest.h>

#include <set>

#include "core/sched/why/explanation.h"
#include "unit/sched/cluster.h"
#include "unit/sched/test_plugins.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

class PluggedTest : public ::testing::Test {
 protected:
  PluggedTest() {
    for (int i = 1; i <= 4; ++i) cluster.add_node("n" + std::to_string(i));
  }

  std::shared_ptr<const TestPlugins> use(std::vector<TestPlugin> plugins) {
    auto made = std::make_shared<const TestPlugins>(std::move(plugins));
    cluster.policy.plugins = {made};
    return made;
  }

  static TestPlugin refusing(std::set<std::string> names, std::string plugin = "picky") {
    TestPlugin out;
    out.facts.name = std::move(plugin);
    out.allows = [names](const PluginJob&, const PluginNode& node) {
      return !names.contains(node.node->name);
    };
    out.words = "too old";
    return out;
  }

  std::vector<std::string> nodes_of(const Plan& plan, const JobKey& key) {
    const Start* start = start_of(plan, key);
    return start ? node_names(cluster.state, *start) : std::vector<std::string>();
  }

  TestCluster cluster;
};

TEST_F(PluggedTest, JobsGoOnlyWhereThePluginAllows) {
  use({refusing({"n1", "n3"})});
  const JobKey wide = cluster.submit(TestCluster::spec(2, 2));
  const JobKey one = cluster.submit(TestCluster::spec(1, 1));
  const Plan plan = cluster.plan();
  EXPECT_EQ(nodes_of(plan, wide), (std::vector<std::string>{"n2", "n4"}));
  EXPECT_EQ(nodes_of(plan, one), (std::vector<std::string>{"n2"}));
}

TEST_F(PluggedTest, HasNoEffectInOtherPartitions) {
  TestPlugin plugin = refusing({"n1", "n2", "n3", "n4"});
  plugin.facts.partitions = {"debug"};
  use({plugin});
  const JobKey key = cluster.submit(TestCluster::spec());
  EXPECT_NE(start_of(cluster.plan(), key), nullptr);
}

TEST_F(PluggedTest, RefusalOnEmptyNodesIsReportedWithThePluginsName) {
  use({refusing({"n1", "n2", "n3", "n4"})});
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  const PendingInfo* info = pending_of(plan, key);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->reason, Reason::plugin);
  EXPECT_EQ(info->detail, "even on empty nodes plugin picky refuses 4 nodes: too old");
  EXPECT_FALSE(info->expected_start);
}

TEST_F(PluggedTest, EachPluginGetsOnlyNodesThatEarlierOnesAccepted) {
  use({refusing({"n1", "n2"}, "first"), refusing({"n2", "n3", "n4"}, "second")});
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  EXPECT_EQ(pending_of(plan, key)->detail,
            "even on empty nodes plugin first refuses 2 nodes: too old; plugin second refuses 2 "
            "nodes: too old");
}

// Requires a node to be half free, whatever the job needs.
TestPlugin half_free() {
  TestPlugin plugin;
  plugin.facts = {"half", {}, looks_of({PluginLook::node_free}), false, false, false};
  plugin.allows = [](const PluginJob&, const PluginNode& node) {
    return node.free_cpus * 2 >= node.inventory->cpus;
  };
  plugin.words = "less than half is free";
  return plugin;
}

TEST_F(PluggedTest, ReportsThatOnlyThePluginBlocksItAndItsExpectedStart) {
  use({half_free()});
  for (int i = 0; i < 4; ++i) {
    JobSpec spec = TestCluster::spec(3, 1);
    spec.time_limit = minutes(10);
    cluster.submit(spec);
  }
  cluster.take(cluster.plan(), kNow);
  const JobKey key = cluster.submit(TestCluster::spec());
  const Plan plan = cluster.plan();
  ASSERT_EQ(start_of(plan, key), nullptr);
  const PendingInfo* info = pending_of(plan, key);
  EXPECT_EQ(info->reason, Reason::plugin);
  EXPECT_NE(info->detail.find("4 nodes refused by plugins; plugin half refuses 4 nodes: less than "
                              "half is free"),
            std::string::npos)
      << info->detail;
  ASSERT_TRUE(info->expected_start);
  EXPECT_EQ(*info->expected_start, kNow + minutes(10));

  const Job& job = *cluster.state.jobs.find(key);
  const JobExplanation why = explain_job(cluster.state, cluster.policy, job, info, kNow);
  ASSERT_EQ(why.causes.size(), 1u);
  EXPECT_EQ(why.causes[0].reason, Reason::plugin);
  EXPECT_NE(why.causes[0].text.find("plugin half refuses 4 nodes"), std::string::npos);
  EXPECT_EQ(why.start, info->expected_start);
}

TEST_F(PluggedTest, PluginsSeeAllocationsOfThePass) {
  use({half_free()});
  std::vector<JobKey> keys;
  for (int i = 0; i < 5; ++i) keys.push_back(cluster.submit(TestCluster::spec(3, 1)));
  const Plan plan = cluster.plan();
  std::set<std::string> used;
  for (int i = 0; i < 4; ++i) used.insert(nodes_of(plan, keys[static_cast<std::size_t>(i)]).at(0));
  EXPECT_EQ(used.size(), 4u);
  const JobKey small = cluster.submit(TestCluster::spec(1, 1));
  EXPECT_EQ(start_of(cluster.plan(), small), nullptr);
}

TEST_F(PluggedTest, ScoresPrecedeThePlacementStrategy) {
  TestPlugin plugin;
  plugin.facts.name = "third";
  plugin.scores = [](const PluginJob&, const PluginNode& node) {
    return std::int64_t{node.node->name == "n3" ? 2 : node.node->name == "n2" ? 1 : 0};
  };
  use({plugin});
  const JobKey one = cluster.submit(TestCluster::spec(4, 1));
  const JobKey two = cluster.submit(TestCluster::spec(2, 2));
  const Plan plan = cluster.plan();
  EXPECT_EQ(nodes_of(plan, one), (std::vector<std::string>{"n3"}));
  EXPECT_EQ(nodes_of(plan, two), (std::vector<std::string>{"n1", "n2"}));
}

TEST_F(PluggedTest, PluginsAreCalledOncePerClassAndAgainOnlyForChangedNodes) {
  TestPlugin plugin = half_free();
  const auto counting = use({plugin});
  Planner planner;
  for (int i = 0; i < 20; ++i) cluster.submit(TestCluster::spec(4, 1));
  Budget budget;
  budget.details = false;
  budget.estimates = 0;
  cluster.take(planner.plan(cluster.state, cluster.policy, budget, kNow), kNow);
  // Free nodes in one call, each once more after an allocation if it still has capacity, and empty
  // nodes.
  EXPECT_LE(counting->filter_calls, 6);
  const int calls = counting->filter_calls;
  planner.plan(cluster.state, cluster.policy, budget, kNow);
  EXPECT_EQ(counting->filter_calls, calls);

  for (const JobKey& key : {JobKey{JobId(1), {}}}) cluster.end(key);
  const std::size_t nodes = counting->filtered_nodes;
  planner.plan(cluster.state, cluster.policy, budget, kNow);
  EXPECT_LE(counting->filtered_nodes - nodes, 2u);
}

TEST_F(PluggedTest, OnlyDeclaredPropertiesSeparateClasses) {
  TestPlugin plugin = refusing({});
  plugin.facts.looks_at = looks_of({PluginLook::comment});
  plugin.allows = [](const PluginJob& job, const PluginNode& node) {
    return job.job->spec->comment == node.node->name;
  };
  const auto counting = use({plugin});
  std::vector<JobKey> keys;
  for (int i = 0; i < 8; ++i) {
    JobSpec spec = TestCluster::spec();
    spec.name = "j" + std::to_string(i);
    spec.comment = i % 2 == 0 ? "n4" : "n2";
    keys.push_back(cluster.submit(spec));
  }
  Budget budget;
  budget.details = false;
  const Plan plan = core::plan(cluster.state, cluster.policy, budget, kNow);
  EXPECT_EQ(nodes_of(plan, keys[0]), (std::vector<std::string>{"n4"}));
  EXPECT_EQ(nodes_of(plan, keys[7]), (std::vector<std::string>{"n2"}));
  // Free and empty nodes are alike for it.
  EXPECT_EQ(counting->filter_calls, 2);
}

TEST_F(PluggedTest, PermitRefusalDelaysNoOtherJob) {
  TestPlugin plugin;
  plugin.facts.name = "quota";
  plugin.permits = [](std::span<const PluginPlacement> all) {
    return all[0].job.job->spec->account != "broke";
  };
  plugin.words = "account broke has nothing left";
  use({plugin});
  JobSpec poor = TestCluster::spec(16, 4);
  poor.account = "broke";
  const JobKey first = cluster.submit(poor);
  const JobKey second = cluster.submit(TestCluster::spec(16, 4));
  Plan plan = cluster.plan();
  EXPECT_EQ(nodes_of(plan, second).size(), 4u);
  const PendingInfo* info = pending_of(plan, first);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->reason, Reason::plugin);
  EXPECT_EQ(info->detail, "plugin quota: account broke has nothing left");
  EXPECT_FALSE(info->expected_start);

  const JobExplanation why =
      explain_job(cluster.state, cluster.policy, *cluster.state.jobs.find(first), info, kNow);
  EXPECT_FALSE(why.starts_now);
  ASSERT_EQ(why.causes.size(), 1u);
  EXPECT_EQ(why.causes[0].text, "plugin quota: account broke has nothing left");
}

TEST_F(PluggedTest, PermitGetsTheDevicesOfTheJob) {
  cluster.add_gpus("n2", "a100", 4);
  std::vector<GpuIndex> told;
  std::size_t free = 0;
  TestPlugin plugin;
  plugin.facts.name = "looker";
  plugin.permits = [&](std::span<const PluginPlacement> all) {
    told = all[0].shares[0].gpus;
    free = all[0].nodes[0].inventory->gpus.size() - all[0].nodes[0].gpus_used.size();
    return true;
  };
  use({plugin});
  JobSpec spec = TestCluster::spec();
  spec.gpus_per_node = {{"a100", 2}};
  const JobKey key = cluster.submit(spec);
  const Plan plan = cluster.plan();
  ASSERT_NE(start_of(plan, key), nullptr);
  EXPECT_EQ(start_of(plan, key)->nodes[0].gpus, told);
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(free, 4u);
}

TEST_F(PluggedTest, GroupIsPassedInOneCallAndTheIndexIsUnchanged) {
  std::vector<std::uint32_t> free;
  TestPlugin plugin;
  plugin.facts.name = "gangs";
  plugin.permits = [&](std::span<const PluginPlacement> all) {
    for (const PluginPlacement& one : all)
      free.push_back(static_cast<std::uint32_t>(one.nodes[0].free_cpus));
    return all.size() != 2;
  };
  plugin.words = "no pairs";
  use({plugin});
  const Job job = cluster.job(TestCluster::spec(1, 1));
  const Partition main = cluster.partition();
  ClusterIndex index(cluster.state);
  set_plugins(index, cluster.policy.plugins, nullptr);
  const Placement placement = {{0, 1, {1, 0}}};
  const std::vector<ProposedStart> pair(2, {&job, {}, &main, &placement});
  EXPECT_EQ(index.plugin_classes()->refusal(pair, index), "plugin gangs: no pairs");
  EXPECT_EQ(free, (std::vector<std::uint32_t>{4, 3}));
  EXPECT_EQ(index.nodes()[0].free[kCpus], 4);
  EXPECT_EQ(index.nodes()[0].cpus_used.count(), 0u);
  EXPECT_EQ(index.plugin_classes()->refusal({pair.data(), 1}, index), std::nullopt);
}

}  // namespace
}  // namespace ares::core::sched
