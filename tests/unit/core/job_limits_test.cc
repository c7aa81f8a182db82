// Tests: requested_tres, applicable_limits, limit_reasons, plan_claims, cluster_totals
// Limits that concern one job alone: each kind, at each level where it can be set, keeps the job
// pending with the documented reason, and only if the limit is exceeded.
#include <gmock/gmock.h>

#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

struct Row {
  LimitKind kind;
  std::string tres;
  std::uint64_t asked;  // how much of it job() requests
  std::string association, qos;
};

// The job of these tests: 2 nodes, 4 tasks of 1 CPU, 1000 MiB and one a100 per node, 3 licences, 90 minutes.
const std::vector<Row>& rows() {
  using enum LimitKind;
  static const std::vector<Row> all{
      {max_tres_per_job, "cpu", 4, "AssocMaxCpuPerJobLimit", "QOSMaxCpuPerJobLimit"},
      {max_tres_per_job, "mem", 2000, "AssocMaxMemPerJob", "QOSMaxMemoryPerJob"},
      {max_tres_per_job, "node", 2, "AssocMaxNodePerJobLimit", "QOSMaxNodePerJobLimit"},
      {max_tres_per_job, "gres/gpu", 2, "AssocMaxGRESPerJob", "QOSMaxGRESPerJob"},
      {max_tres_per_job, "gres/gpu:a100", 2, "AssocMaxGRESPerJob", "QOSMaxGRESPerJob"},
      {max_tres_per_job, "license/matlab", 3, "AssocMaxLicensePerJob", "QOSMaxLicensePerJob"},
      {max_tres_per_job, "billing", 4, "AssocMaxBillingPerJob", "QOSMaxBillingPerJob"},
      {max_tres_per_node, "cpu", 2, "AssocMaxCpuPerNode", "QOSMaxCpuPerNode"},
      {max_tres_per_node, "mem", 1000, "AssocMaxMemPerNode", "QOSMaxMemoryPerNode"},
      {max_tres_per_node, "gres/gpu", 1, "AssocMaxGRESPerNode", "QOSMaxGRESPerNode"},
      {max_tres_mins_per_job, "cpu", 360, "AssocMaxCpuMinutesPerJobLimit",
       "QOSMaxCpuMinutesPerJobLimit"},
      {max_tres_mins_per_job, "node", 180, "AssocMaxNodeMinutesPerJob", "QOSMaxNodeMinutesPerJob"},
      {max_tres_mins_per_job, "gres/gpu:a100", 180, "AssocMaxGRESMinutesPerJob",
       "QOSMaxGRESMinutesPerJob"},
      {max_tres_mins_per_job, "billing", 360, "AssocMaxBillingMinutesPerJob",
       "QOSMaxBillingMinutesPerJob"},
      {max_wall, "", 90, "AssocMaxWallDurationPerJobLimit", "QOSMaxWallDurationPerJobLimit"},
      {min_tres_per_job, "cpu", 4, "", "QOSMinCpuNotSatisfied"},
      {min_tres_per_job, "mem", 2000, "", "QOSMinMemory"},
      {min_tres_per_job, "gres/gpu", 2, "", "QOSMinGRES"},
  };
  return all;
}

using JobLimitsTest = LimitsTest;

TEST_F(JobLimitsTest, EachLimitAtEachLevelHasItsReason) {
  for (const Row& row : rows())
    for (const Level level : kLevels) {
      const bool qos = is_qos(level);
      if (!qos && row.association.empty()) continue;
      SCOPED_TRACE(std::string(row_of(row.kind).name) + " " + row.tres + " at level " +
                   std::to_string(static_cast<int>(level)));
      const bool least = row.kind == LimitKind::min_tres_per_job;
      Cluster met{4, limited()}, missed{4, limited()};
      ASSERT_EQ(set_up(met, level, Limit{row.kind, row.tres, row.asked}), "");
      EXPECT_EQ(waits_for(met, met.submit(job())), "") << "exactly the limit is within it";
      ASSERT_EQ(
          set_up(missed, level, Limit{row.kind, row.tres, least ? row.asked + 1 : row.asked - 1}),
          "");
      EXPECT_EQ(waits_for(missed, missed.submit(job())), qos ? row.qos : row.association);
    }
}

TEST_F(JobLimitsTest, DenyOnLimitRefusesAtSubmission) {
  for (const Row& row : rows()) {
    if (row.kind == LimitKind::min_tres_per_job) continue;
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::above, Limit{row.kind, row.tres, row.asked - 1},
                     static_cast<std::uint32_t>(QosFlag::deny_on_limit)),
              "");
    EXPECT_THAT(c.try_submit(job()).error.message,
                testing::AllOf(HasSubstr(row.association), HasSubstr("of science is")));
  }
}

TEST_F(JobLimitsTest, NearestLimitOfAKindApplies) {
  Accounting records;
  const auto put = [&](AccountingRecord record) {
    const RecordKey key = key_of(record);
    records.set(key, std::move(record));
  };
  Account root, physics;
  root.name = "root";
  root.terms.limits = {{LimitKind::max_tres_per_job, "cpu", 1}, {LimitKind::max_wall, "", 60}};
  physics.name = "physics";
  physics.parent = "root";
  physics.terms.limits = {{LimitKind::max_tres_per_job, "cpu", 100}};
  Association member;
  member.key = {"physics", "alice", {}};
  Qos normal;
  normal.name = "normal";
  for (AccountingRecord record : {AccountingRecord(root), AccountingRecord(physics),
                                  AccountingRecord(member), AccountingRecord(normal)})
    put(std::move(record));
  JobSpec spec = job();
  spec.account = "physics";
  Partition main;
  main.name = "main";
  const auto over = over_limit(records, Enforce::limits, spec, main, spec.time_limit);
  ASSERT_TRUE(over) << "of another kind the one above holds";
  EXPECT_EQ(over->name, "AssocMaxWallDurationPerJobLimit");
  EXPECT_THAT(over->text, HasSubstr("MaxWall of root is 01:00:00, the job's time limit 01:30:00"));
  EXPECT_FALSE(over_limit(records, Enforce::limits, spec, main, Seconds{3600}));
  EXPECT_FALSE(over_limit(records, Enforce::associations, spec, main, spec.time_limit));
  normal.limits = {{LimitKind::max_wall, "", 120}};
  put(normal);
  EXPECT_FALSE(over_limit(records, Enforce::limits, spec, main, spec.time_limit))
      << "a QOS comes first";
  EXPECT_TRUE(over_limit(records, Enforce::limits, spec, main, std::nullopt))
      << "unlimited is above all";
}

TEST_F(JobLimitsTest, PartsOfAGpuCountAsParts) {
  Accounting records;
  Account root;
  root.name = "root";
  root.terms.limits = {{LimitKind::max_tres_per_job, "gres/gpu", 0}};
  Qos normal;
  normal.name = "normal";
  for (AccountingRecord record : {AccountingRecord(root), AccountingRecord(normal)}) {
    const RecordKey key = key_of(record);
    records.set(key, std::move(record));
  }
  JobSpec spec = Cluster::spec(kAlice);
  spec.account = "root";
  spec.gpus_per_node = {{"", 0, 250}};
  const auto over = over_limit(records, Enforce::limits, spec, Partition{}, Seconds{60});
  ASSERT_TRUE(over);
  EXPECT_THAT(over->text, HasSubstr("gres/gpu=0, the job asks for 0.25"));
  root.terms.limits = {{LimitKind::max_tres_per_job, "gres/gpu", 1}};
  records.set(key_of(root), root);
  EXPECT_FALSE(over_limit(records, Enforce::limits, spec, Partition{}, Seconds{60}));
}

TEST_F(JobLimitsTest, AllocationOfExclusiveJobsCounts) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::max_tres_per_job, "cpu", 2}), "");
  JobSpec whole = Cluster::spec(kAlice);
  whole.exclusive = true;
  const JobKey key = c.submit(whole);
  EXPECT_EQ(waits_for(c, key), "AssocMaxCpuPerJobLimit") << "a node has 4";
  c.plan({c.group(key, {1}, 4)});
  EXPECT_EQ(c.job(key).state, JobState::pending) << "the engine does not take it either";
  const JobKey small = c.submit(Cluster::spec(kAlice));
  EXPECT_EQ(waits_for(c, small), "");
}

TEST_F(JobLimitsTest, ChangedLimitAppliesAtOnce) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::max_tres_per_job, "cpu", 3}), "");
  const JobKey key = c.submit(job());
  Planner planner;
  const auto reason = [&] {
    const Plan plan = planner.plan(c.state(), limited(), Budget{}, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? std::string(reason_text(*why)) : "";
  };
  EXPECT_EQ(reason(), "AssocMaxCpuPerJobLimit");
  Account physics = *find_account(c.state().accounting, "physics");
  physics.terms.limits = {{LimitKind::max_tres_per_job, "cpu", 4}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, physics, physics.changed}}}).failed);
  EXPECT_EQ(reason(), "");
  c.plan({c.group(key, {1, 2}, 2)});
  EXPECT_NE(c.job(key).state, JobState::pending) << "the engine sees it like the planner";
}

}  // namespace
}  // namespace ares::core
