// Limits on the number of pending jobs that accrue age: each kind at each level. Jobs that are
// accruing already continue; the first job that could run takes a place that becomes free.
#include "core/accounts/limits/accrual_limits.h"

#include <gmock/gmock.h>

#include "core/sched/queue/priority_report.h"
#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using std::chrono::minutes;

struct Row {
  LimitKind kind;
  bool association, qos;
};

const std::vector<Row>& rows() {
  using enum LimitKind;
  static const std::vector<Row> all{
      {grp_jobs_accrue, true, true},
      {max_jobs_accrue, true, false},
      {max_jobs_accrue_per_user, false, true},
      {max_jobs_accrue_per_account, false, true},
  };
  return all;
}

Policy aged() {
  Policy policy = limited();
  Fairness rules;
  rules.policy = QueuePolicy::multifactor;
  rules.weights.age = 1'000'000;
  rules.max_age = std::chrono::hours(10);
  policy.fairness.value = std::make_shared<const Fairness>(rules);
  return policy;
}

class AccrualLimitsTest : public LimitsTest {
 protected:
  // Occupies half of the nodes until the test ends; the other jobs request all nodes.
  static JobKey busy(Cluster& c) {
    const JobKey key = c.submit(job());
    c.plan(core::plan(c.state(), aged(), Budget{}, c.now).groups);
    EXPECT_EQ(c.job(key).state, JobState::configuring);
    return key;
  }
  static JobSpec large() {
    JobSpec spec = job();
    spec.licenses.clear();
    spec.min_nodes = spec.max_nodes = 4;
    spec.gpus_per_node = {{"a100", 2}};
    return spec;
  }
  // Applies what the planner proposes.
  static void take_plan(Cluster& c) {
    TakePlan take;
    take.plan = core::plan(c.state(), aged(), Budget{}, c.now);
    EXPECT_TRUE(take.plan.groups.empty());
    ASSERT_FALSE(c.run({take}).failed);
  }
  static void set_limit(Cluster& c, const char* account, Limits limits) {
    Account changed = *find_account(c.state().accounting, account);
    changed.terms.limits = std::move(limits);
    ASSERT_FALSE(
        c.user(kOperator, ChangeAccounting{{{Verb::modify, changed, changed.changed}}}).failed);
  }
  static std::uint32_t priority(const Cluster& c, JobKey key) {
    for (const auto& line : sched::priority_report(c.state(), aged(), c.now).lines)
      if (line.job->key == key) return line.value;
    return 0;
  }
};

TEST_F(AccrualLimitsTest, EachLimitAtEachLevelBoundsAccruingJobs) {
  for (const Row& row : rows())
    for (const Level level : kLevels) {
      if (is_qos(level) ? !row.qos : !row.association) continue;
      SCOPED_TRACE(std::string(row_of(row.kind).name) + " at level " +
                   std::to_string(static_cast<int>(level)));
      Cluster c{4, aged()};
      ASSERT_EQ(set_up(c, level, Limit{row.kind, "", 1}), "");
      busy(c);
      const JobKey first = c.submit(large());
      c.now += minutes(60);
      const JobKey second = c.submit(large()), third = c.submit(large());
      take_plan(c);
      EXPECT_EQ(c.job(first).accrues.has_value(), true);
      EXPECT_FALSE(c.job(second).accrues) << "there is no room";
      EXPECT_EQ(priority(c, second), 1u);
      c.now += minutes(60);
      take_plan(c);
      EXPECT_FALSE(c.job(second).accrues);
      const Time begun = *c.job(first).accrues;
      EXPECT_EQ(c.job(first).accrues, begun) << "a job that accrues keeps its start";
      c.cancel(first);
      take_plan(c);
      EXPECT_TRUE(c.job(second).accrues);
      EXPECT_FALSE(c.job(third).accrues);
      c.now += minutes(60);
      EXPECT_NEAR(priority(c, second), 100'000, 17'000) << "an hour of ten, to two periods";
      EXPECT_EQ(priority(c, third), 1u);
      EXPECT_EQ(c.state().current_usage.find({"physics", "alice", "own", "main"})->accruing, 1u);
      HoldJobs hold;
      hold.jobs = Cluster::named(second);
      c.user(kAlice, hold);
      take_plan(c);
      EXPECT_FALSE(c.job(second).accrues) << "who is held waits for nothing";
      EXPECT_TRUE(c.job(third).accrues);
    }
}

TEST_F(AccrualLimitsTest, JobWithinTheLimitAccruesFromItsEligibleTime) {
  Cluster c{4, aged()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_jobs_accrue, "", 5}), "");
  busy(c);
  const JobKey key = c.submit(large());
  const Time eligible = c.job(key).eligible;
  c.now += minutes(4);
  take_plan(c);
  EXPECT_EQ(c.job(key).accrues, eligible);
}

TEST_F(AccrualLimitsTest, ArrayCountsAsOneJob) {
  Cluster c{4, aged()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_jobs_accrue, "", 2}), "");
  busy(c);
  JobSpec tasks = large();
  tasks.array.emplace().insert(0, 9);
  const JobKey array = c.submit(tasks), other = c.submit(large()), third = c.submit(large());
  take_plan(c);
  EXPECT_TRUE(c.job(array).accrues);
  EXPECT_TRUE(c.job(other).accrues);
  EXPECT_FALSE(c.job(third).accrues);
}

TEST_F(AccrualLimitsTest, NewLimitLeavesAccruedAge) {
  Cluster c{4, aged()};
  ASSERT_EQ(set_up(c, Level::above, std::nullopt), "");
  busy(c);
  const JobKey first = c.submit(large()), second = c.submit(large());
  c.now += minutes(60);
  EXPECT_NEAR(priority(c, second), 100'000, 9'000);
  set_limit(c, "science", {{LimitKind::grp_jobs_accrue, "", 1}});
  EXPECT_NEAR(priority(c, first), 100'000, 9'000);
  EXPECT_NEAR(priority(c, second), 100'000, 9'000) << "more than one, but they had begun";
  const JobKey later = c.submit(large());
  c.now += minutes(60);
  take_plan(c);
  EXPECT_EQ(priority(c, later), 1u);
  c.cancel(first);
  take_plan(c);
  EXPECT_FALSE(c.job(later).accrues) << "one is as many as may";
  c.cancel(second);
  take_plan(c);
  EXPECT_TRUE(c.job(later).accrues);
  set_limit(c, "science", {});
  EXPECT_NEAR(priority(c, later), 100'000, 9'000) << "without limits age is since it could run";
}

TEST_F(AccrualLimitsTest, NewPartitionQosLeavesAccruedAge) {
  Cluster c{4, aged()};
  ASSERT_EQ(set_up(c, Level::partition_qos, Limit{LimitKind::grp_jobs_accrue, "", 1}), "");
  ASSERT_EQ(partition_qos(c, ""), "");
  busy(c);
  const JobKey first = c.submit(large()), second = c.submit(large());
  c.now += minutes(60);
  take_plan(c);
  EXPECT_FALSE(c.job(second).accrues) << "there is no limit";
  ASSERT_EQ(partition_qos(c, "night"), "");
  for (const JobKey key : {first, second})
    EXPECT_EQ(c.job(key).accrues, c.job(key).eligible) << "both had age already";
}

TEST_F(AccrualLimitsTest, NewPolicyLeavesAccruedAge) {
  Policy before = aged();
  before.accounting.enforce = Enforce::associations;
  Cluster c{4, before};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::grp_jobs_accrue, "", 1}), "");
  busy(c);
  const JobKey first = c.submit(large()), second = c.submit(large());
  c.now += minutes(60);
  Reconfigure reload;
  reload.config.hash = 9;
  reload.config.partitions = {*c.state().partitions.find("main")};
  for (int i = 1; i <= 4; ++i)
    reload.config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
  reload.policy = std::make_shared<const Policy>(aged());
  ASSERT_FALSE(c.user(kRoot, reload).failed);
  for (const JobKey key : {first, second})
    EXPECT_EQ(c.job(key).accrues, c.job(key).eligible) << "both had age already";
}

TEST_F(AccrualLimitsTest, EngineRejectsInvalidProposals) {
  Cluster c{4, aged()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_jobs_accrue, "", 1}), "");
  busy(c);
  const JobKey first = c.submit(large()), second = c.submit(large());
  const auto propose = [&](JobKey key, Time since) {
    TakePlan take;
    take.plan.accruing = {{key, since}};
    c.run({take});
  };
  propose(first, c.job(first).eligible - minutes(1));
  EXPECT_FALSE(c.job(first).accrues) << "from before it could run";
  propose(first, c.now + minutes(1));
  EXPECT_FALSE(c.job(first).accrues) << "from a time to come";
  propose(second, c.now);
  EXPECT_TRUE(c.job(second).accrues);
  propose(first, c.now);
  EXPECT_FALSE(c.job(first).accrues) << "there is no room any more";
  propose(JobKey{JobId{99}, {}}, c.now);
}

TEST_F(AccrualLimitsTest, AccrueAlwaysDisablesLimits) {
  Policy policy = aged();
  Fairness rules = *policy.fairness.value;
  rules.flags.accrue_always = true;
  policy.fairness.value = std::make_shared<const Fairness>(rules);
  Cluster c{4, policy};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_jobs_accrue, "", 0}), "");
  const JobKey key = c.submit(large());
  AccrualLimits limits(c.state().accounting, c.state().partitions, policy);
  EXPECT_EQ(accruing_since(c.job(key), limits), c.job(key).eligible);
}

}  // namespace
}  // namespace ares::core
