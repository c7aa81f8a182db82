// Tests: decide_node_life, cluster/node_reboot
// Reboots of nodes by request, and nodes that join and leave without a change of the configuration.
#include "core/cluster/node_reboot.h"

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using namespace std::chrono_literals;

RebootNodes reboot(std::vector<std::string> names, bool asap = false,
                   AfterReboot after = AfterReboot::as_before) {
  RebootNodes c;
  c.names = std::move(names);
  c.asap = asap;
  c.after = after;
  c.reason = "new kernel";
  return c;
}

TEST(RebootNode, IsIssuedWhenTheNodeIsIdleAndOverWhenItRegistersFromANewBoot) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  ASSERT_FALSE(c.user(kOperator, reboot({"n1"})).failed);
  EXPECT_TRUE(takes_jobs(c.node(1))) << "without asap jobs start until it happens to be idle";
  c.tick(1s);
  EXPECT_EQ(c.sent<Reboot>(1), 0u);
  c.progress(1, key, AttemptPhase::done);
  c.tick(1s);
  ASSERT_TRUE(c.node(1).reboot && c.node(1).reboot->issued_at);
  EXPECT_EQ(c.sent<Reboot>(1), 1u);
  EXPECT_FALSE(takes_jobs(c.node(1)));
  c.from_node(1, Heartbeat{1, {}});
  EXPECT_EQ(c.sent<Reboot>(1), 2u) << "repeated until it has rebooted";
  c.register_node(1);
  EXPECT_TRUE(c.node(1).reboot) << "only its daemon was restarted";
  ++c.incarnation[1];
  c.register_node(1);
  EXPECT_FALSE(c.node(1).reboot);
  EXPECT_TRUE(takes_jobs(c.node(1)));
}

TEST(RebootNode, AsapStartsNoJobThereBefore) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  c.user(kOperator, reboot({"n1"}, true));
  EXPECT_FALSE(takes_jobs(c.node(1)));
  EXPECT_EQ(c.job(key).state, JobState::running);
}

TEST(RebootNode, TheStateAfterwardsIsTheOneRequested) {
  Cluster c;
  c.user(kOperator, UpdateNode{{"n1", "n2", "n3"}, AdminState::drain, "kernel"});
  c.user(kOperator, reboot({"n1"}));
  c.user(kOperator, reboot({"n2"}, false, AfterReboot::up));
  c.user(kOperator, reboot({"n3"}, false, AfterReboot::down));
  c.tick(1s);
  for (int n : {1, 2, 3}) {
    ++c.incarnation[n];
    c.register_node(n);
  }
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(2).admin, AdminState::up);
  EXPECT_EQ(c.node(3).admin, AdminState::down);
  EXPECT_EQ(c.node(3).reason, "new kernel");
}

TEST(RebootNode, ANodeThatDoesNotComeBackInTimeIsDownUntilItRegisters) {
  Policy policy = Cluster::default_policy();
  policy.resume_timeout = Seconds(100);
  Cluster c(2, policy);
  c.user(kOperator, reboot({"n1"}));
  c.tick(1s);
  c.tick(99s);
  EXPECT_EQ(c.node(1).admin, AdminState::up);
  c.tick(1s);
  EXPECT_EQ(c.node(1).admin, AdminState::down);
  EXPECT_EQ(c.node(1).reason, "did not register within 00:01:40 after its reboot (resume_timeout)");
  EXPECT_FALSE(c.node(1).reboot);
  ++c.incarnation[1];
  c.register_node(1);
  EXPECT_EQ(c.node(1).admin, AdminState::up) << "return_to_service is 1";
}

TEST(RebootNode, IsRefusedWithTheReason) {
  Cluster c;
  EXPECT_EQ(c.user(kAlice, reboot({"n1"})).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.user(kOperator, reboot({"n99"})).error.code, ErrorCode::not_found);
  RebootNodes cancel = reboot({"n1"});
  cancel.cancel = true;
  EXPECT_EQ(c.user(kOperator, cancel).error.message, "no reboot of node n1 is requested");
  c.user(kOperator, reboot({"n1"}, true));
  EXPECT_FALSE(c.user(kOperator, cancel).failed);
  EXPECT_TRUE(takes_jobs(c.node(1)));
  c.user(kOperator, reboot({"n1"}));
  c.tick(1s);
  EXPECT_EQ(c.user(kOperator, cancel).error.message, "node n1 reboots already");
}

Policy with_dynamic_nodes(std::uint32_t most = 0) {
  Policy policy = Cluster::default_policy();
  policy.dynamic_nodes = {{{"d1", "d2", "d3"}, {"main"}, most}};
  return policy;
}

Reply join(Cluster& c, const std::string& name, std::uint64_t incarnation = 1, bool joins = true) {
  Register r;
  r.name = name;
  r.incarnation = incarnation;
  r.incarnation_tag = name + "/" + std::to_string(incarnation);
  r.inventory = Cluster::machine();
  r.can_freeze = true;
  r.joins = joins;
  NodeCommand command;
  command.message = {name, incarnation, r};
  command.address = "10.0.1.1";
  return c.run({command});
}

const Node* named(const Cluster& c, const std::string& name) {
  const NodeId* id = c.state().node_ids.find(name);
  return id ? c.state().nodes.find(*id) : nullptr;
}

PlanGroup group_on(Cluster& c, const JobKey& key, const Node& node) {
  PlanGroup group = c.group(key, {});
  group.starts[0].nodes.push_back(Cluster::share(c.state(), node.id));
  return group;
}

TEST(DynamicNode, JoinsByARuleAndRunsJobsOfItsPartitions) {
  Cluster c(2, with_dynamic_nodes());
  ASSERT_FALSE(join(c, "d1").failed);
  const Node* node = named(c, "d1");
  ASSERT_TRUE(node);
  EXPECT_TRUE(takes_jobs(*node));
  EXPECT_EQ(node->inventory.cpus, 4u);
  EXPECT_TRUE(c.state().members.find({"main", "d1"}));
  const JobKey key = c.submit();
  c.plan({group_on(c, key, *node)});
  EXPECT_EQ(c.job(key).state, JobState::configuring);
}

TEST(DynamicNode, JoinsByAPrefixAndItsFeatures) {
  Policy policy = Cluster::default_policy();
  policy.dynamic_nodes = {
      {.names = {}, .partitions = {"main"}, .most = 0, .prefix = "k-", .features = {"gpu"}},
      {.names = {}, .partitions = {"main"}, .most = 1, .prefix = "k-a", .features = {}}};
  Cluster c(2, policy);
  ASSERT_FALSE(join(c, "k-a1").failed)
      << "by the second rule: it has not the features of the first";
  const Reply full = join(c, "k-a2");
  EXPECT_EQ(full.error.code, ErrorCode::resource_exhausted);
  EXPECT_NE(join(c, "k-b").error.message.find("has not the features"), std::string::npos);
  EXPECT_EQ(join(c, "k-").error.code, ErrorCode::not_found) << "a name is longer than its prefix";
  EXPECT_EQ(join(c, "x").error.code, ErrorCode::not_found);
}

TEST(DynamicNode, IsRefusedWithoutARuleWithoutRoomAndUnlessItAsks) {
  Cluster c(2, with_dynamic_nodes(2));
  EXPECT_EQ(join(c, "x1").error.code, ErrorCode::not_found);
  EXPECT_EQ(join(c, "d1", 1, false).error.code, ErrorCode::not_found);
  EXPECT_FALSE(join(c, "d1").failed);
  EXPECT_FALSE(join(c, "d2").failed);
  EXPECT_EQ(join(c, "d3").error.code, ErrorCode::resource_exhausted);
  EXPECT_FALSE(join(c, "d1").failed) << "it is there already";
}

TEST(DynamicNode, LeavesWhenNothingIsChargedThereAndMayComeBack) {
  Cluster c(2, with_dynamic_nodes(1));
  join(c, "d1");
  EXPECT_EQ(c.user(kAlice, DeleteNodes{{"d1"}}).error.code, ErrorCode::permission_denied);
  EXPECT_EQ(c.user(kOperator, DeleteNodes{{"n1"}}).error.code, ErrorCode::failed_precondition);
  EXPECT_FALSE(c.user(kOperator, DeleteNodes{{"d1"}}).failed);
  EXPECT_FALSE(named(c, "d1"));
  EXPECT_FALSE(c.state().members.find({"main", "d1"}));
  const auto& nodes = c.state().partitions.find("main")->nodes;
  EXPECT_EQ(nodes, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_FALSE(join(c, "d2").failed) << "the room is free again";
}

TEST(DynamicNode, ANodeWithJobsIsNotDeleted) {
  Cluster c(2, with_dynamic_nodes());
  join(c, "d1");
  const JobKey key = c.submit();
  c.plan({group_on(c, key, *named(c, "d1"))});
  EXPECT_EQ(c.user(kOperator, DeleteNodes{{"d1"}}).error.message,
            "jobs run on node d1: drain it with actl drain --wait first");
}

TEST(DynamicNode, SurvivesAConfigurationThatDoesNotNameIt) {
  Cluster c(2, with_dynamic_nodes());
  join(c, "d1");
  ApplyConfig config;
  config.hash = 8;
  Partition main = *c.state().partitions.find("main");
  main.nodes = {"n1", "n2"};
  config.partitions = {main};
  for (const char* name : {"n1", "n2"}) config.nodes.emplace_back(name, Cluster::machine());
  c.run({config});
  ASSERT_TRUE(named(c, "d1"));
  EXPECT_FALSE(named(c, "d1")->leaving);
  EXPECT_TRUE(c.state().members.find({"main", "d1"}));

  config.hash = 9;
  config.nodes.emplace_back("d1", Cluster::machine());
  config.partitions[0].nodes.push_back("d1");
  c.run({config});
  EXPECT_TRUE(named(c, "d1")->joined.empty()) << "it is configured now";
}

}  // namespace
}  // namespace ares::core
