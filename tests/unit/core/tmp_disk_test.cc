// Tests: tmp_disk, sorted_names, feasible, start_checks, cluster/inventory
// Temporary storage: refusals and notes at submission, which starts of a plan the engine accepts, what a configuration changes.
#include "core/job/checks/tmp_disk.h"

#include <gmock/gmock.h>

#include "core/cluster/inventory.h"
#include "core/engine/invariants.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Inventory with_storage(std::optional<Bytes> size) {
  Inventory inventory = Cluster::machine();
  inventory.tmp_disk = size;
  return inventory;
}

JobSpec storing(Bytes size) {
  JobSpec spec = Cluster::spec();
  spec.tmp_disk = size;
  return spec;
}

TEST(TmpDiskRequests, MoreThanAnyNodeHasIsRefusedByName) {
  Cluster c(2);
  c.register_node(1, {}, with_storage(Bytes::gib(8)));
  c.register_node(2, {}, with_storage(Bytes::gib(4)));
  const Reply reply = c.try_submit(storing(Bytes::gib(10)));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(reply.error.message,
              HasSubstr("needs 10G of temporary storage on one node (--tmp); the most a node of "
                        "partition main has is 8G"));
  const Reply accepted = c.try_submit(storing(Bytes::gib(8)));
  EXPECT_FALSE(accepted.failed);
  EXPECT_THAT(accepted.text, IsEmpty());
  JobSpec two = storing(Bytes::gib(6));
  two.tasks = two.min_nodes = two.max_nodes = 2;
  EXPECT_THAT(c.try_submit(two).error.message, HasSubstr("needs 2 nodes; 1 of partition main"));
}

// Regression: a job that named a node was accepted if another node of the partition was large enough.
TEST(Submit, WhatANamedNodeCanNeverGiveIsRefused) {
  Cluster c(3);
  Inventory small = with_storage(Bytes::gib(4));
  small.cpus = 2;
  c.register_node(1, {}, small);
  c.register_node(2, {}, with_storage(Bytes::gib(8)));
  const auto reply = [&](std::vector<std::string> nodes, const auto& change) {
    JobSpec spec = storing({});
    spec.required_nodes = std::move(nodes);
    spec.tasks = spec.min_nodes = spec.max_nodes = 2;
    change(spec);
    const Reply answer = c.try_submit(spec);
    return answer.failed ? answer.error.message : std::string();
  };
  const auto cpus = [](JobSpec& spec) { spec.cpus_per_task = 3; };
  EXPECT_THAT(reply({"n1"}, cpus),
              HasSubstr("node n1: needs 3 CPUs on one node; the most a node named by -w has is 2"));
  EXPECT_THAT(reply({"n2", "n1"}, cpus), HasSubstr("node n1: "));
  EXPECT_THAT(reply({"n2"}, cpus), IsEmpty());
  EXPECT_THAT(reply({"n1"}, [](JobSpec& spec) { spec.tmp_disk = Bytes::gib(5); }),
              HasSubstr("node n1: needs 5G of temporary storage on one node (--tmp)"));
  EXPECT_THAT(reply({"n2"}, [](JobSpec& spec) { spec.tmp_disk = Bytes::gib(5); }), IsEmpty());
  EXPECT_THAT(reply({"n1"}, [](JobSpec& spec) { spec.cpus_per_task = 2; }), IsEmpty());
}

TEST(TmpDiskRequests, AmountsThatNoNodeCanHaveAreRefused) {
  Cluster c(1);
  EXPECT_THAT(c.try_submit(storing(Bytes(-1))).error.message,
              HasSubstr("temporary storage on a node is negative"));
  EXPECT_THAT(c.try_submit(storing(Bytes(std::int64_t{1} << 62))).error.message,
              HasSubstr("can be asked for"));
}

TEST(TmpDiskRequests, WhereNoNodeCountsItTheUserIsTold) {
  Cluster c(2);
  const Reply told = c.try_submit(storing(Bytes::gib(900)));
  EXPECT_FALSE(told.failed);
  EXPECT_THAT(told.text, HasSubstr("--tmp has no effect: no node of partition main says"));
  EXPECT_THAT(c.try_submit(storing(Bytes{})).text, IsEmpty());
  c.register_node(1, {}, with_storage(Bytes::gib(8)));
  const Reply counted = c.try_submit(storing(Bytes::gib(900)));
  EXPECT_FALSE(counted.failed) << "the other node takes it";
  EXPECT_THAT(counted.text, IsEmpty());
}

TEST(TmpDiskRequests, ANodeGivesNoMoreThanItHas) {
  Cluster c(2);
  c.register_node(1, {}, with_storage(Bytes::gib(10)));
  const JobKey a = c.submit(storing(Bytes::gib(6))), b = c.submit(storing(Bytes::gib(6))),
               d = c.submit(storing(Bytes::gib(4))), e = c.submit();
  EXPECT_EQ(c.plan({c.group(a, {1}), c.group(b, {1})}).text, "1 of 2 groups taken");
  EXPECT_EQ(c.node(1).charges.front().tmp_disk, Bytes::gib(6));
  EXPECT_EQ(c.plan({c.group(b, {1})}).text, "0 of 1 groups taken") << "beside what is charged";
  EXPECT_EQ(c.plan({c.group(d, {1}), c.group(e, {1})}).text, "2 of 2 groups taken");
  EXPECT_EQ(c.plan({c.group(b, {2})}).text, "1 of 1 groups taken") << "it does not count";
  EXPECT_EQ(c.node(2).charges.front().tmp_disk, Bytes::gib(6)) << "in case it begins to";
  EXPECT_THAT(check_invariants(c.state()), IsEmpty());
}

TEST(TmpDiskRequests, AConfigurationSaysItFromThenOn) {
  Cluster c(1);
  const auto configure_with = [&](std::optional<Bytes> size) {
    Node node = c.node(1);
    Inventory configured = node.configured;
    configured.tmp_disk = size;
    configure(node, configured);
    return node;
  };
  const Node with = configure_with(Bytes::gib(10));
  EXPECT_EQ(with.inventory.tmp_disk, Bytes::gib(10));
  Node without = with;
  configure(without, c.node(1).configured);
  EXPECT_EQ(without.inventory, c.node(1).inventory) << "the node never said how much it has";
  EXPECT_FALSE(without.reported);
}

TEST(TmpDiskRequests, AConfigurationGivesNoMoreThanWasFound) {
  Inventory configured = with_storage(Bytes::gib(10));
  EXPECT_EQ(in_force(configured, with_storage(Bytes::gib(4))).tmp_disk, Bytes::gib(4));
  EXPECT_EQ(in_force(configured, with_storage(std::nullopt)).tmp_disk, Bytes::gib(10));
  configured.tmp_disk.reset();
  EXPECT_EQ(in_force(configured, with_storage(Bytes::gib(4))).tmp_disk, Bytes::gib(4));
}

}  // namespace
}  // namespace ares::core
