// A QOS may lift the time and node bounds of a partition: at submission, in the plan, and in the check by the engine.
#include <gmock/gmock.h>

#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using std::chrono::minutes;

constexpr std::uint32_t flag(QosFlag one) {
  return static_cast<std::uint32_t>(one);
}

class PartitionBoundsTest : public LimitsTest {
 protected:
  static void bound(Cluster& c, std::optional<Seconds> time, std::optional<std::uint32_t> most,
                    std::uint32_t least) {
    Partition main = *c.state().partitions.find("main");
    main.max_time = time;
    main.default_time = time;
    main.max_nodes = most;
    main.min_nodes = least;
    UpdatePartition update;
    update.names = {"main"};
    update.values = main;
    update.fields = {"max_time", "default_time", "max_nodes", "min_nodes"};
    const Reply reply = c.user(kRoot, update);
    ASSERT_FALSE(reply.failed) << reply.error.message;
  }
  static JobSpec nodes(std::uint32_t least, std::uint32_t most) {
    JobSpec spec = job();
    spec.licenses.clear();
    spec.min_nodes = least;
    spec.max_nodes = most;
    spec.time_limit = minutes(10);
    return spec;
  }
  static JobKey started(Cluster& c, JobSpec spec) {
    const JobKey key = c.submit(std::move(spec));
    c.plan(core::plan(c.state(), limited(), Budget{}, c.now).groups);
    return key;
  }
};

TEST_F(PartitionBoundsTest, QosFlagLiftsTheTimeLimit) {
  for (const bool lifted : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt, lifted ? flag(QosFlag::partition_time_limit) : 0),
              "");
    bound(c, minutes(30), std::nullopt, 1);
    JobSpec spec = nodes(2, 2);
    spec.time_limit = minutes(31);
    EXPECT_EQ(c.try_submit(spec).failed, !lifted);
    if (lifted) {
      EXPECT_EQ(c.job(started(c, spec)).state, JobState::configuring);
    }
    spec.time_limit.reset();
    EXPECT_EQ(c.job(started(c, spec)).allocation->time_limit, minutes(30)) << "who names none";
  }
}

TEST_F(PartitionBoundsTest, LimitOfTheQosStillApplies) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, Limit{LimitKind::max_wall, "", 60},
                   flag(QosFlag::partition_time_limit)),
            "");
  bound(c, minutes(30), std::nullopt, 1);
  JobSpec spec = nodes(2, 2);
  spec.time_limit = minutes(61);
  const JobKey key = c.submit(spec);
  EXPECT_EQ(waits_for(c, key), "QOSMaxWallDurationPerJobLimit");
}

TEST_F(PartitionBoundsTest, QosFlagLiftsTheMaximumOfNodes) {
  for (const bool lifted : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt, lifted ? flag(QosFlag::partition_max_nodes) : 0),
              "");
    bound(c, std::nullopt, 2, 1);
    EXPECT_EQ(c.try_submit(nodes(3, 3)).failed, !lifted);
    if (lifted) {
      EXPECT_EQ(c.job(started(c, nodes(3, 3))).state, JobState::configuring);
    }
  }
  for (const bool lifted : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt, lifted ? flag(QosFlag::partition_max_nodes) : 0),
              "");
    bound(c, std::nullopt, 2, 1);
    JobSpec range = nodes(1, 4);
    range.tasks = 1;
    const JobKey key = started(c, range);
    ASSERT_EQ(c.job(key).state, JobState::configuring);
    EXPECT_EQ(c.job(key).allocation->nodes.size(), lifted ? 4u : 2u) << "as many as there are";
  }
}

TEST_F(PartitionBoundsTest, QosFlagLiftsTheMinimumOfNodes) {
  for (const bool lifted : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt, lifted ? flag(QosFlag::partition_min_nodes) : 0),
              "");
    bound(c, std::nullopt, std::nullopt, 2);
    const JobKey key = c.submit(nodes(1, 1));
    EXPECT_EQ(waits_for(c, key), lifted ? "" : "PartitionNodeLimit");
  }
}

// A job of another QOS with the same request is planned with the bounds of its QOS.
TEST_F(PartitionBoundsTest, AreEvaluatedForEachQos) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt, flag(QosFlag::partition_max_nodes)), "");
  Qos other;
  other.name = "other";
  Association member = *find_association(c.state().accounting, "physics", "alice");
  member.terms.qos = {"other", "own"};
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::add, other, {}},
                                                   {Verb::modify, member, member.changed}}})
                   .failed);
  bound(c, std::nullopt, 1, 1);
  JobSpec plain = nodes(1, 2), lifted = nodes(1, 2);
  plain.qos = "other";
  lifted.qos = "own";
  plain.tasks = lifted.tasks = 1;
  const JobKey first = c.submit(plain), second = c.submit(lifted);
  c.plan(core::plan(c.state(), limited(), Budget{}, c.now).groups);
  EXPECT_EQ(c.job(first).allocation->nodes.size(), 1u);
  EXPECT_EQ(c.job(second).allocation->nodes.size(), 2u);
}

}  // namespace
}  // namespace ares::core
