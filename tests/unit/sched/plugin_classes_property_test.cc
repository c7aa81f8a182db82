// With plugins a planner with kept state must plan the same as a new one, along random lives,
// whatever the plugins depend on, including plugins that refuse a node because more of it is free.
#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "core/sched/pass/plan_text.h"
#include "unit/sched/cluster.h"
#include "unit/sched/random_cluster.h"
#include "unit/sched/test_plugins.h"

namespace ares::core::sched {
namespace {

using std::chrono::minutes;

std::uint64_t hash(std::uint64_t seed, const std::string& text) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return seed ^ seed >> 29;
}

std::uint64_t hash_of(std::uint64_t seed, const PluginJob& job, const PluginNode& node,
                      PluginLooks looks_at) {
  std::uint64_t out = hash(seed, node.node->name);
  if (looks(looks_at, PluginLook::node_free))
    out = hash(out, std::to_string(node.free_cpus) + "/" + std::to_string(node.gpus_used.size()) +
                        "/" + std::to_string(node.free_memory));
  if (looks(looks_at, PluginLook::user))
    out = hash(out, std::to_string(job.job->spec->uid.value()));
  if (looks(looks_at, PluginLook::job_id))
    out = hash(out, std::to_string(job.job->key.job.value()));
  if (looks(looks_at, PluginLook::time_limit))
    out = hash(out, job.job->time_limit ? std::to_string(job.job->time_limit->count()) : "-");
  return out;
}

// Its answers are a function of their arguments and of `seed`.
TestPlugin random_plugin(Random& dice, std::string name) {
  TestPlugin plugin;
  plugin.facts.name = std::move(name);
  for (const PluginLook look :
       {PluginLook::node_free, PluginLook::user, PluginLook::job_id, PluginLook::time_limit})
    if (dice.percent(50)) plugin.facts.looks_at |= static_cast<PluginLooks>(look);
  const std::uint64_t seed = dice.upto(1'000'000);
  const PluginLooks looks = plugin.facts.looks_at;
  const std::uint32_t refused = dice.upto(60);
  plugin.allows = [=](const PluginJob& job, const PluginNode& node) {
    return hash_of(seed, job, node, looks) % 100 >= refused;
  };
  if (dice.percent(50))
    plugin.scores = [=](const PluginJob& job, const PluginNode& node) {
      return static_cast<std::int64_t>(hash_of(seed + 1, job, node, looks) % 3);
    };
  if (dice.percent(50))
    plugin.permits = [=](std::span<const PluginPlacement> all) {
      return hash_of(seed + 2, all[0].job, all[0].nodes[0], looks) % 100 >= refused / 2;
    };
  plugin.words = "so it is";
  return plugin;
}

TEST(PluggedProperty, IncrementalPlanEqualsTheOneFromScratch) {
  int by_plugin = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    cluster.policy.backfill = {static_cast<BackfillKind>(seed % 3), 1 + dice.upto(3)};
    Planner planner;
    Time now = kNow;
    Budget budget;
    budget.details = seed % 2 == 0;
    budget.estimates = seed % 4 < 2 ? 0 : 16;
    if (seed % 5 == 0) budget.units = 20 + dice.upto(400);
    for (int step = 0; step < 20; ++step) {
      if (step == 0 || dice.percent(5)) {
        std::vector<TestPlugin> plugins{random_plugin(dice, "a")};
        if (dice.percent(40)) plugins.push_back(random_plugin(dice, "b"));
        cluster.policy.plugins = {std::make_shared<const TestPlugins>(std::move(plugins))};
      }
      for (std::uint32_t i = dice.upto(4); i > 0; --i) submit_random(cluster, dice);
      if (dice.percent(20)) disturb(cluster, dice);
      const Plan plan = planner.plan(cluster.state, cluster.policy, budget, now);
      ASSERT_EQ(plan_text(plan), plan_text(cluster.plan(now, budget)))
          << "seed " << seed << " step " << step;
      plan.pending.for_each([&](const JobKey&, const PendingInfo& info) {
        by_plugin += info.reason == Reason::plugin ? 1 : 0;
      });
      if (dice.percent(80)) cluster.take(plan, now);
      for (const JobKey& key : running(cluster))
        if (dice.percent(30)) cluster.end(key);
      now += minutes(dice.upto(20));
    }
  }
  EXPECT_GT(by_plugin, 1000);
}

// Every started job was allowed in the state in which it was considered.
TEST(PluggedProperty, NoJobStartsOnARefusedNode) {
  int starts = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random dice(seed);
    TestCluster cluster;
    add_nodes(cluster, dice);
    TestPlugin plugin = random_plugin(dice, "a");
    plugin.facts.looks_at &= ~static_cast<PluginLooks>(PluginLook::node_free);
    const std::uint32_t salt = dice.upto(1000);
    plugin.allows = [=](const PluginJob&, const PluginNode& node) {
      return hash(salt, node.node->name) % 3 != 0;
    };
    cluster.policy.plugins = {std::make_shared<const TestPlugins>(std::vector{plugin})};
    for (int i = 0; i < 15; ++i) submit_random(cluster, dice);
    const Plan plan = cluster.plan();
    ASSERT_EQ(over_commitment(cluster.state, plan), "") << "seed " << seed;
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts)
        for (const std::string& name : node_names(cluster.state, start)) {
          ++starts;
          ASSERT_NE(hash(salt, name) % 3, 0u) << "seed " << seed;
        }
  }
  EXPECT_GT(starts, 100);
}

}  // namespace
}  // namespace ares::core::sched
