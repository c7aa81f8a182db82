// Jobs without a planned start: below MinPrioThresh, at each level, or with NoReserve, nothing is
// kept free for a job and others may pass it. It still starts as soon as it fits.
#include "core/accounts/limits/planned_start_threshold.h"

#include <gmock/gmock.h>

#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

class PlannedStartThresholdTest : public LimitsTest {
 protected:
  // Half of the nodes are busy for 90 minutes; `large` needs all nodes, `passing` the other half for longer.
  struct Three {
    JobKey running, large, passing;
  };
  static JobSpec sized(std::uint32_t nodes, int limit) {
    JobSpec spec = job();
    spec.licenses.clear();
    spec.min_nodes = spec.max_nodes = nodes;
    spec.gpus_per_node = {{"a100", 2}};
    spec.time_limit = minutes(limit);
    return spec;
  }
  static JobKey submit(Cluster& c, JobSpec spec, std::uint32_t priority) {
    const JobKey key = c.submit(std::move(spec));
    UpdateJob update;
    update.jobs = Cluster::named(key);
    update.priority = priority;
    EXPECT_FALSE(c.user(kOperator, update).failed);
    return key;
  }
  static Three busy(Cluster& c, std::uint32_t priority = 10) {
    Three three;
    three.running = c.submit(job());
    c.plan(core::plan(c.state(), limited(), Budget{}, c.now).groups);
    three.large = submit(c, sized(4, 60), priority);
    three.passing = submit(c, sized(2, 600), 1);
    return three;
  }
  static bool starts(Cluster& c, JobKey key) {
    const Plan plan = core::plan(c.state(), limited(), Budget{}, c.now);
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts)
        if (start.key == key) return true;
    return false;
  }
  static PendingInfo said(Cluster& c, JobKey key) {
    Budget budget;
    budget.details = true;
    const Plan plan = core::plan(c.state(), limited(), budget, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? *why : PendingInfo{};
  }
};

TEST_F(PlannedStartThresholdTest, ThresholdAppliesAtEachLevel) {
  for (const Level level : kLevels) {
    SCOPED_TRACE(static_cast<int>(level));
    Cluster met{4, limited()}, missed{4, limited()};
    ASSERT_EQ(set_up(met, level, Limit{LimitKind::min_prio_thresh, "", 10}), "");
    Three three = busy(met);
    EXPECT_FALSE(starts(met, three.passing)) << "it would delay a planned start";
    EXPECT_TRUE(said(met, three.large).expected_start);
    ASSERT_EQ(set_up(missed, level, Limit{LimitKind::min_prio_thresh, "", 11}), "");
    three = busy(missed);
    EXPECT_TRUE(starts(missed, three.passing)) << "nothing is kept for it";
    EXPECT_FALSE(said(missed, three.large).expected_start);
    EXPECT_THAT(said(missed, three.large).detail,
                HasSubstr("below priority 11 it is promised no start (MinPrioThresh of "));
    missed.cancel(three.passing);
    missed.cancel(three.running);
    for (int node = 1; node <= 4; ++node)
      missed.progress(node, three.running, AttemptPhase::never_ran);
    EXPECT_TRUE(starts(missed, three.large)) << "at once it may";
  }
}

TEST_F(PlannedStartThresholdTest, NearestThresholdApplies) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::min_prio_thresh, "", 11}), "");
  Account physics = *find_account(c.state().accounting, "physics");
  physics.terms.limits = {{LimitKind::min_prio_thresh, "", 10}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, physics, physics.changed}}}).failed);
  EXPECT_FALSE(starts(c, busy(c).passing));
}

TEST_F(PlannedStartThresholdTest, NoReserveGetsNoPlannedStart) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt, static_cast<std::uint32_t>(QosFlag::no_reserve)),
            "");
  const Three three = busy(c, 4'000'000'000);
  EXPECT_TRUE(starts(c, three.passing));
  EXPECT_THAT(said(c, three.large).detail, HasSubstr("(NoReserve)"));
}

TEST_F(PlannedStartThresholdTest, JobWithoutAPlannedStartBlocksNoOther) {
  Policy policy = limited();
  policy.backfill = {BackfillKind::none, 1};
  for (const bool no_reserve : {false, true}) {
    Cluster c{4, policy};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt,
                     no_reserve ? static_cast<std::uint32_t>(QosFlag::no_reserve) : 0),
              "");
    const Three three = busy(c);
    const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
    EXPECT_EQ(plan.groups.size(), no_reserve ? 1u : 0u);
    EXPECT_EQ(plan.pending.find(three.passing) == nullptr, no_reserve);
  }
}

TEST_F(PlannedStartThresholdTest, AppliesToGangsToo) {
  for (const bool no_reserve : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt,
                     no_reserve ? static_cast<std::uint32_t>(QosFlag::no_reserve) : 0),
              "");
    c.submit(job());
    c.plan(core::plan(c.state(), limited(), Budget{}, c.now).groups);
    JobSpec member = sized(2, 60);
    member.gang = GangRequest{"pair", 2, 2, std::nullopt};
    const JobKey a = submit(c, member, 10);
    submit(c, member, 10);
    const JobKey passing = submit(c, sized(2, 600), 1);
    EXPECT_EQ(starts(c, passing), no_reserve);
    EXPECT_EQ(said(c, a).expected_start.has_value(), !no_reserve);
  }
}

}  // namespace
}  // namespace ares::core
