// Limits on minutes, of TRES or of jobs: past usage with decay, usage of running jobs, and what these may still use.
#include <gmock/gmock.h>

#include "core/accounts/limits/limit_use.h"
#include "core/accounts/usage/usage.h"
#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;
using LimitMinutesTest = LimitsTest;

TEST_F(LimitMinutesTest, UsedMinutesCount) {
  for (const bool safe : {false, true}) {
    SCOPED_TRACE(safe ? "safe" : "limits");
    Policy policy = limited();
    if (safe) policy.accounting.enforce = Enforce::safe;
    Fairness rules;
    rules.half_life = Seconds{0};
    policy.fairness.value = std::make_shared<const Fairness>(rules);
    Cluster c{4, policy};
    // Two jobs of 90 minutes with 4 CPUs each may use 720.
    ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres_mins, "cpu", 500}), "");
    const JobKey first = c.submit(job());
    take_plan(c, policy);
    ASSERT_EQ(c.job(first).state, JobState::configuring);
    const NodeShares shares = c.job(first).allocation->nodes;
    const JobKey second = c.submit(job());
    const auto waits = [&] {
      const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
      const PendingInfo* why = plan.pending.find(second);
      return why ? std::string(reason_text(*why)) : "";
    };
    EXPECT_EQ(waits(), safe ? "AssocGrpCPUMinutesLimit" : "") << "360 are granted already";
    c.now += std::chrono::minutes(50);
    EXPECT_EQ(waits(), safe ? "AssocGrpCPUMinutesLimit" : "") << "200 are used";
    c.cancel(first);
    for (int node = 1; node <= 4; ++node) c.progress(node, first, AttemptPhase::never_ran);
    ASSERT_TRUE(is_terminal(c.job(first).state));
    EXPECT_EQ(waits(), safe ? "AssocGrpCPUMinutesLimit" : "") << "200 and 360 are too many";
    Account science = *find_account(c.state().accounting, "science");
    science.terms.limits = {{LimitKind::grp_tres_mins, "cpu", safe ? 560u : 200u}};
    ASSERT_FALSE(
        c.user(kOperator, ChangeAccounting{{{Verb::modify, science, science.changed}}}).failed);
    EXPECT_EQ(waits(), safe ? "" : "AssocGrpCPUMinutesLimit");
    science = *find_account(c.state().accounting, "science");
    science.terms.limits = {{LimitKind::grp_wall, "", safe ? 140u : 51u}};
    ASSERT_FALSE(
        c.user(kOperator, ChangeAccounting{{{Verb::modify, science, science.changed}}}).failed);
    EXPECT_EQ(waits(), "");
    science = *find_account(c.state().accounting, "science");
    science.terms.limits = {{LimitKind::grp_wall, "", safe ? 139u : 50u}};
    ASSERT_FALSE(
        c.user(kOperator, ChangeAccounting{{{Verb::modify, science, science.changed}}}).failed);
    EXPECT_EQ(waits(), "AssocGrpWallLimit");
  }
}

// With `safe` a job starts only if it can run to its limit within the rest, whichever QOS has the limit.
TEST_F(LimitMinutesTest, SafeCountsPossibleUsageOfJobAndPartitionQos) {
  Policy policy = limited();
  policy.accounting.enforce = Enforce::safe;
  for (const Level level : {Level::qos, Level::partition_qos}) {
    for (const std::uint64_t cpu_minutes : {359u, 360u}) {  // 90 minutes with 4 CPUs
      Cluster c{4, policy};
      ASSERT_EQ(set_up(c, level, Limit{LimitKind::grp_tres_mins, "cpu", cpu_minutes}), "");
      const JobKey key = c.submit(job());
      const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
      const PendingInfo* why = plan.pending.find(key);
      EXPECT_EQ(why ? std::string(reason_text(*why)) : "",
                cpu_minutes < 360 ? "QOSGrpCPUMinutesLimit" : "");
    }
  }
}

TEST_F(LimitMinutesTest, QosCountsUsageOfItsJobs) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, Limit{LimitKind::grp_tres_mins, "gres/gpu", 100}), "");
  const JobKey first = run_one(c);
  c.now += std::chrono::minutes(60);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "QOSGrpGRESMinutes") << "what still runs has used 120";
  c.cancel(first);
  for (int node = 1; node <= 4; ++node) c.progress(node, first, AttemptPhase::never_ran);
  EXPECT_EQ(waits_for(c, second), "QOSGrpGRESMinutes");
  const Plan plan = core::plan(c.state(), limited(), Budget{}, c.now);
  ASSERT_TRUE(plan.wake) << "it decays: that is looked at again by itself";
  EXPECT_LE(*plan.wake, c.now + std::chrono::minutes(1));
  c.now += std::chrono::hours(24 * 7);
  EXPECT_EQ(waits_for(c, second), "") << "half of it is left";
}

TEST_F(LimitMinutesTest, SafeAppliesTheUsageFactor) {
  Policy policy = limited();
  policy.accounting.enforce = Enforce::safe;
  Cluster c{4, policy};
  // The job may use 360 CPU-minutes; the factor counts them twice, or not at all.
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres_mins, "cpu", 719}), "");
  const auto with_factor = [&](std::uint32_t factor) {
    Qos own = *find_qos(c.state().accounting, "own");
    own.usage_factor = factor;
    ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::modify, own, own.changed}}}).failed);
  };
  const JobKey key = c.submit(job());
  const auto waits = [&] {
    const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? std::string(reason_text(*why)) : "";
  };
  EXPECT_EQ(waits(), "");
  with_factor(2000);
  EXPECT_EQ(waits(), "AssocGrpCPUMinutesLimit");
  with_factor(0);
  EXPECT_EQ(waits(), "");
}

TEST_F(LimitMinutesTest, EndingJobsUseNoMoreRunMinutes) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres_run_mins, "cpu", 400}), "");
  const JobKey first = run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "AssocGrpCPURunMinutesLimit");
  c.cancel(first);
  ASSERT_EQ(c.job(first).state, JobState::completing);
  EXPECT_EQ(waits_for(c, second), "") << "on the other nodes";
}

}  // namespace
}  // namespace ares::core
