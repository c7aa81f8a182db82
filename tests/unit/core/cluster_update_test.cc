// Tests: decide_config, decide_partition, job/partition_fields
// Changes of partitions by command, and application of another configuration while jobs run.
#include <gmock/gmock.h>

#include "core/cluster/inventory.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

ApplyConfig same_config(const Cluster& c) {
  ApplyConfig config;
  config.hash = 7;
  c.state().partitions.for_each(
      [&](const std::string&, const Partition& p) { config.partitions.push_back(p); });
  c.state().nodes.for_each(
      [&](NodeId, const Node& n) { config.nodes.emplace_back(n.name, n.configured); });
  return config;
}

UpdatePartition set(std::vector<std::string> fields, const std::function<void(Partition&)>& change,
                    std::string name = "main") {
  UpdatePartition update;
  update.names = {std::move(name)};
  update.fields = std::move(fields);
  change(update.values);
  return update;
}

const Partition& partition(const Cluster& c, const std::string& name = "main") {
  return *c.state().partitions.find(name);
}

TEST(UpdatePartition, LimitsTheCpusOfItsJobsOnANode) {
  Cluster c;
  c.user(kRoot, set({"max_cpus_per_node"}, [](Partition& p) { p.max_cpus_per_node = 2; }));
  const JobKey first = c.submit(), second = c.submit(), third = c.submit();
  c.plan({c.group(first, {1}), c.group(second, {1}), c.group(third, {1})});
  EXPECT_EQ(c.job(first).state, JobState::configuring);
  EXPECT_EQ(c.job(second).state, JobState::configuring);
  EXPECT_EQ(c.job(third).state, JobState::pending) << "more than the partition may have";
  c.plan({c.group(third, {1})});
  EXPECT_EQ(c.job(third).state, JobState::pending) << "counted with those that run";
  c.plan({c.group(third, {2})});
  EXPECT_EQ(c.job(third).state, JobState::configuring);

  JobSpec wide = Cluster::spec();
  wide.cpus_per_task = 3;
  EXPECT_THAT(c.try_submit(wide).error.message, HasSubstr("has is 2 (MaxCPUsPerNode)"));
  JobSpec whole = Cluster::spec();
  whole.exclusive = true;
  EXPECT_THAT(c.try_submit(whole).error.message,
              HasSubstr("0 of partition main could take their share; whole nodes have more than "
                        "the 2 CPUs that its jobs may have of a node (MaxCPUsPerNode)"));
  c.user(kRoot, set({"max_cpus_per_node"}, [](Partition& p) { p.max_cpus_per_node.reset(); }));
  EXPECT_FALSE(c.try_submit(wide).failed);
}

// GPUs are never taken at once: jobs may use them.
TEST(Reconfigure, ChangeOfANodeThatIsTakenBackLosesNothing) {
  Cluster c(1);
  const Inventory whole = c.node(1).inventory;
  ApplyConfig config = same_config(c);
  Inventory& configured = config.nodes.front().second;
  configured.cpus = 2;
  configured.memory = Bytes::mib(2000);
  configured.gpus = {{GpuIndex{0}, "h100", {}}};
  c.run({config});
  EXPECT_EQ(c.node(1).inventory.cpus, 2u);
  EXPECT_EQ(c.node(1).inventory.memory, Bytes::mib(2000));
  EXPECT_EQ(c.node(1).inventory.gpus, whole.gpus);

  configured.cpus = 3;
  c.run({config});
  EXPECT_EQ(c.node(1).inventory.cpus, 3u);

  configured = whole;
  c.run({config});
  EXPECT_EQ(c.node(1).inventory, whole);
  EXPECT_FALSE(c.node(1).reported);

  configured.cpus = 64;
  c.run({config});
  EXPECT_EQ(c.node(1).inventory, whole) << "no more than it reported";
}

TEST(Reconfigure, WhatAConfigurationCutAtARegistrationComesBackWithTheNext) {
  Cluster c(1);
  const Inventory whole = c.node(1).inventory;
  ApplyConfig config = same_config(c);
  Inventory& configured = config.nodes.front().second;
  configured.cpus = 2;
  configured.gpus = {{GpuIndex{0}, "a100", {}}, {GpuIndex{1}, "h100", {}}};
  c.run({config});
  c.register_node(1);  // as it was: its daemon has not read the file again
  EXPECT_EQ(c.node(1).inventory.gpus.size(), 1u);
  EXPECT_EQ(c.node(1).reason, "Low gres/gpu count (1 < 2)");
  const std::size_t events = c.events.size();
  c.register_node(1);
  EXPECT_EQ(c.events.size(), events) << "it says the same";

  configured = whole;
  c.run({config});
  EXPECT_EQ(c.node(1).inventory, whole);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
}

TEST(Reconfigure, ANodeOfARecordWithoutWhatItReportedHasWhatIsInForce) {
  Node node;
  node.contact = Contact::registered;
  node.configured = node.inventory = Cluster::machine();
  Inventory less = node.configured;
  less.cpus = 1;
  configure(node, less);
  EXPECT_EQ(node.inventory.cpus, 1u);
  configure(node, Cluster::machine());
  EXPECT_EQ(node.inventory, Cluster::machine());
}

TEST(Reconfigure, NodesKeepCoresForJobsWithGpusFromThenOn) {
  Cluster c(1);
  ApplyConfig config = same_config(c);
  config.hash = 8;
  config.nodes.front().second.restricted_cores_per_gpu = 1;
  c.run({config});
  EXPECT_EQ(c.state().nodes.find(NodeId(1))->inventory.restricted_cores_per_gpu, 1u);

  JobSpec wide = Cluster::spec();
  wide.cpus_per_task = 3;
  EXPECT_THAT(c.try_submit(wide).error.message, HasSubstr("has is 2 (RestrictedCoresPerGPU: "));
  wide.cpus_per_task = 1;
  wide.tasks = 3;
  wide.min_nodes = wide.max_nodes = 1;
  EXPECT_THAT(c.try_submit(wide).error.message,
              HasSubstr("have room for 2 (RestrictedCoresPerGPU"));
  wide.gpus_per_node = {{"a100", 1}};
  EXPECT_FALSE(c.try_submit(wide).failed);

  // CPUs 0 and 1 are kept. A plan is not taken that gives one of them, or leaves open which.
  const JobKey job = c.submit();
  PlanGroup group = c.group(job, {1});
  const auto on = [&](std::vector<std::uint32_t> cpus) {
    PlanGroup changed = group;
    changed.starts.front().nodes.change_each([&](NodeShare& share) { share.cpu_ids = cpus; });
    c.plan({changed});
    return c.job(job).state;
  };
  EXPECT_EQ(on({}), JobState::pending);
  EXPECT_EQ(on({1}), JobState::pending);
  EXPECT_EQ(on({2}), JobState::configuring);
  c.register_node(1);
  EXPECT_EQ(c.state().nodes.find(NodeId(1))->inventory.restricted_cores_per_gpu, 1u)
      << "what the node registers does not change it";
}

TEST(UpdatePartition, ChangesNamedFieldsOnly) {
  Cluster c;
  const Reply reply = c.user(kRoot, set({"max_time", "tier"}, [](Partition& p) {
                               p.max_time = Seconds{7200};
                               p.tier = 4;
                               p.priority = 99;
                             }));
  EXPECT_FALSE(reply.failed) << reply.error.message;
  EXPECT_EQ(partition(c).max_time, Seconds{7200});
  EXPECT_EQ(partition(c).tier, 4);
  EXPECT_EQ(partition(c).priority, 10u);
  EXPECT_EQ(c.happened<PartitionModified>(), 1u);
  EXPECT_FALSE(c.user(kRoot, set({"tier"}, [](Partition& p) { p.tier = 4; })).failed);
  EXPECT_EQ(c.happened<PartitionModified>(), 1u) << "says so already";
}

TEST(UpdatePartition, IsForAdministrators) {
  Cluster c;
  for (const UserId who : {kAlice, kOperator}) {
    EXPECT_EQ(c.user(who, set({"up"}, [](Partition& p) { p.up = false; })).error.code,
              ErrorCode::permission_denied);
  }
  EXPECT_TRUE(partition(c).up);
}

TEST(UpdatePartition, RefusesWhatAConfigurationMayNotContain) {
  Cluster c;
  const auto refused = [&](const UpdatePartition& update) {
    const Reply reply = c.user(kRoot, update);
    EXPECT_TRUE(reply.failed);
    return reply.error.message;
  };
  EXPECT_NE(refused(set({"max_time"}, [](Partition& p) { p.max_time = Seconds{60}; }))
                .find("default time limit"),
            std::string::npos);
  EXPECT_NE(refused(set({"nodes"},
                        [](Partition& p) {
                          p.nodes = {"n1", "n9"};
                        }))
                .find("n9"),
            std::string::npos);
  EXPECT_NE(refused(set({"is_default"}, [](Partition& p) { p.is_default = false; }))
                .find("make another the default"),
            std::string::npos);
  EXPECT_NE(refused(set({"name"}, [](Partition&) {})).find("\"name\""), std::string::npos);
  EXPECT_NE(refused(set(
                        {"up"}, [](Partition&) {}, "nowhere"))
                .find("nowhere"),
            std::string::npos);
  EXPECT_EQ(c.happened<PartitionModified>(), 0u);
}

TEST(UpdatePartition, NewDefaultReplacesTheOldOne) {
  Cluster c;
  ApplyConfig config = same_config(c);
  Partition night = config.partitions.front();
  night.name = "night";
  night.is_default = false;
  config.partitions.push_back(night);
  c.run({config});
  EXPECT_FALSE(
      c.user(kRoot, set(
                        {"is_default"}, [](Partition& p) { p.is_default = true; }, "night"))
          .failed);
  EXPECT_TRUE(partition(c, "night").is_default);
  EXPECT_FALSE(partition(c, "main").is_default);
  EXPECT_EQ(c.job(c.submit()).spec->partitions, std::vector<std::string>{"night"});
}

TEST(UpdatePartition, DownStartsNoJobsAndDrainAcceptsNone) {
  Cluster c;
  const JobKey key = c.submit();
  c.user(kRoot, set({"up"}, [](Partition& p) { p.up = false; }));
  EXPECT_EQ(state_text(partition(c)), "DOWN");
  c.plan({c.group(key, {1})});
  EXPECT_EQ(c.job(key).state, JobState::pending);
  c.submit();

  c.user(kRoot, set({"up", "open"}, [](Partition& p) { p.open = false; }));
  EXPECT_EQ(state_text(partition(c)), "DRAIN");
  const Reply refused = c.try_submit(Cluster::spec());
  EXPECT_EQ(refused.error.code, ErrorCode::failed_precondition);
  EXPECT_NE(refused.error.message.find("partition main takes no new jobs now (DRAIN)"),
            std::string::npos)
      << refused.error.message;
  c.allocate(key, {1});
}

TEST(ApplyConfig, RestartUndoesCommandsOnlyIfTheFileChanged) {
  Cluster c;
  ApplyConfig config = same_config(c);
  c.user(kRoot, set({"up"}, [](Partition& p) { p.up = false; }));
  config.keep_changes = true;
  c.run({config});
  EXPECT_FALSE(partition(c).up) << "a restart of the controller";
  config.hash = 8;
  c.run({config});
  EXPECT_TRUE(partition(c).up) << "the file was changed in between";
}

Reconfigure reconfigure(const ApplyConfig& config, Policy policy) {
  policy.config_hash = config.hash;
  return {config, std::make_shared<const Policy>(std::move(policy))};
}

TEST(Reconfigure, AppliesPolicyTogetherWithConfiguration) {
  Cluster c;
  ApplyConfig config = same_config(c);
  config.hash = 9;
  Policy policy = Cluster::default_policy();
  policy.operators = {kBob};
  EXPECT_EQ(c.user(kOperator, reconfigure(config, policy)).error.code,
            ErrorCode::permission_denied);
  const JobKey key = c.submit();
  EXPECT_EQ(c.cancel(key, kBob).error.code, ErrorCode::permission_denied);
  const Reply reply = c.user(kRoot, reconfigure(config, policy));
  EXPECT_FALSE(reply.failed) << reply.error.message;
  EXPECT_EQ(c.state().config_hash, 9u);
  EXPECT_EQ(c.user(kOperator, HoldJobs{Cluster::named(key)}).error.code,
            ErrorCode::permission_denied);
  EXPECT_FALSE(c.cancel(key, kBob).failed) << "an operator now";
}

TEST(Reconfigure, UndoesChangesByCommands) {
  Cluster c;
  const ApplyConfig config = same_config(c);
  c.user(kRoot, set({"up"}, [](Partition& p) { p.up = false; }));
  c.user(kRoot, reconfigure(config, Cluster::default_policy()));
  EXPECT_TRUE(partition(c).up);
}

TEST(Reconfigure, RemovedNodeStaysUntilItsJobsEnd) {
  Cluster c;
  const JobKey running = c.submit();
  c.start(running, {4});
  JobSpec s = Cluster::spec();
  s.required_nodes = {"n4"};
  const JobKey waiting = c.submit(s);
  ApplyConfig config = same_config(c);
  config.hash = 10;
  config.nodes.pop_back();
  config.partitions.front().nodes.pop_back();
  c.user(kRoot, reconfigure(config, Cluster::default_policy()));
  const NodeId id = c.id_of(4);
  ASSERT_TRUE(c.state().nodes.find(id));
  EXPECT_TRUE(c.state().nodes.find(id)->leaving);
  EXPECT_EQ(c.job(running).state, JobState::running);
  c.plan({c.group(waiting, {4})});
  EXPECT_EQ(c.job(waiting).state, JobState::pending) << "nothing starts there";

  const std::size_t applied = c.happened<ConfigApplied>();
  config.keep_changes = true;
  c.run({config});
  EXPECT_EQ(c.happened<ConfigApplied>(), applied) << "a restart meanwhile finds nothing new";

  c.progress(4, running, AttemptPhase::done);
  EXPECT_EQ(c.job(running).state, JobState::completed);
  EXPECT_FALSE(c.state().nodes.find(id));
  EXPECT_FALSE(c.state().node_ids.find("n4"));
}

TEST(Reconfigure, NodeAddedAgainWhileLeavingStays) {
  Cluster c;
  const JobKey running = c.submit();
  c.start(running, {4});
  const ApplyConfig whole = same_config(c);
  ApplyConfig without = whole;
  without.hash = 10;
  without.nodes.pop_back();
  without.partitions.front().nodes.pop_back();
  c.user(kRoot, reconfigure(without, Cluster::default_policy()));
  c.user(kRoot, reconfigure(whole, Cluster::default_policy()));
  EXPECT_FALSE(c.node(4).leaving);
  c.progress(4, running, AttemptPhase::done);
  EXPECT_TRUE(c.state().node_ids.find("n4"));
}

TEST(Reconfigure, SmallerNodeKeepsItsRunningJobs) {
  Cluster c;
  const JobKey key = c.submit();
  c.plan({c.group(key, {1}, 4)});
  ASSERT_EQ(c.job(key).state, JobState::configuring);
  ApplyConfig config = same_config(c);
  config.hash = 11;
  for (auto& [name, inventory] : config.nodes) inventory.cpus = 2;
  c.user(kRoot, reconfigure(config, Cluster::default_policy()));
  EXPECT_EQ(c.job(key).state, JobState::configuring);
  EXPECT_EQ(c.node(1).inventory.cpus, 2u);
  const JobKey next = c.submit();
  c.plan({c.group(next, {1})});
  EXPECT_EQ(c.job(next).state, JobState::pending);
}

TEST(Reconfigure, RepeatedRequestKeepsThePolicyOfTheFirst) {
  Cluster c;
  ApplyConfig config = same_config(c);
  config.hash = 12;
  c.user(kRoot, reconfigure(config, Cluster::default_policy()), "again");
  config.hash = 13;  // the file was edited between the two requests
  Policy other = Cluster::default_policy();
  other.operators = {kBob};
  EXPECT_FALSE(c.user(kRoot, reconfigure(config, other), "again").failed);
  EXPECT_EQ(c.state().config_hash, 12u);
  EXPECT_TRUE(c.user(kBob, HoldJobs{Cluster::named(c.submit())}).failed);
}

TEST(UpdateNode, UndrainNeedsADrainedNodeAndAReasonNeedsOneOutOfService) {
  Cluster c;
  const auto update = [&](AdminState admin, const std::string& reason, bool drained, bool alone) {
    return c.user(kOperator, UpdateNode{{"n1"}, admin, reason, drained, alone});
  };
  EXPECT_TRUE(update(AdminState::up, "why", false, true).failed) << "it is in service";
  EXPECT_FALSE(update(AdminState::drain, "fan", false, false).failed);
  EXPECT_FALSE(update(AdminState::up, "fan, ordered", false, true).failed);
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "fan, ordered");
  EXPECT_FALSE(update(AdminState::up, "", true, false).failed);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  EXPECT_FALSE(update(AdminState::down, "gone", false, false).failed);
  EXPECT_EQ(update(AdminState::up, "", true, false).error.code, ErrorCode::failed_precondition);
  EXPECT_EQ(c.node(1).admin, AdminState::down);
}

}  // namespace
}  // namespace ares::core
