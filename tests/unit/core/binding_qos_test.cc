// The QOS of a partition and that of a job: which limit precedes, which usage each counts, and how a QOS changes other limits.
#include <gmock/gmock.h>

#include "core/accounts/limits/limit_use.h"
#include "core/accounts/usage/charge.h"
#include "core/accounts/usage/usage.h"
#include "core/accounts/usage/usage_recount.h"
#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class BindingQosTest : public LimitsTest {
 protected:
  static Qos qos(const Cluster& c, const std::string& name) {
    return *find_qos(c.state().accounting, name);
  }
  static std::string modify(Cluster& c, const AccountingRecord& record) {
    const Reply reply =
        c.user(kOperator, ChangeAccounting{{{Verb::modify, record, changed_at(record)}}});
    return reply.failed ? reply.error.message : "";
  }
  static void limit(Cluster& c, const std::string& name, Limits limits, std::uint32_t flags = 0) {
    Qos changed = qos(c, name);
    changed.limits = std::move(limits);
    changed.flags = flags;
    ASSERT_EQ(modify(c, changed), "");
  }
  static void end(Cluster& c, JobKey key) {
    c.cancel(key);
    for (int node = 1; node <= 4; ++node) c.progress(node, key, AttemptPhase::never_ran);
  }
};

TEST_F(BindingQosTest, PartitionQosLimitsPrecedeJobQos) {
  for (const bool over : {false, true}) {
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
    limit(c, "night", {{LimitKind::max_tres_per_job, "cpu", 2}});
    limit(c, "own", {{LimitKind::max_tres_per_job, "cpu", 3}},
          over ? static_cast<std::uint32_t>(QosFlag::over_part_qos) : 0);
    const JobKey key = c.submit(job());
    EXPECT_EQ(waits_for(c, key), "QOSMaxCpuPerJobLimit");
    EXPECT_THAT(detail(c, key), HasSubstr(over ? "MaxTRESPerJob of QOS own is cpu=3, "
                                               : "of QOS night of partition main is cpu=2, "));
    limit(c, "night", {{LimitKind::max_tres_per_job, "cpu", over ? 2u : 4u}});
    limit(c, "own", {{LimitKind::max_tres_per_job, "cpu", over ? 4u : 3u}},
          over ? static_cast<std::uint32_t>(QosFlag::over_part_qos) : 0);
    EXPECT_EQ(waits_for(c, key), "") << "of one kind the first holds";
  }
}

TEST_F(BindingQosTest, GroupLimitsOfBothQosApply) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::partition_qos, Limit{LimitKind::grp_jobs, "", 2}), "");
  limit(c, "own", {{LimitKind::grp_jobs, "", 1}});
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_THAT(detail(c, second), HasSubstr("GrpJobs of QOS own is 1, 1 running"));
  limit(c, "own", {});
  limit(c, "night", {{LimitKind::grp_jobs, "", 1}});
  EXPECT_THAT(detail(c, second),
              HasSubstr("GrpJobs of QOS night of partition main is 1, 1 running"));
}

TEST_F(BindingQosTest, SameQosOfJobAndPartitionCountsOnce) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, Limit{LimitKind::grp_jobs, "", 2}), "");
  ASSERT_EQ(partition_qos(c, "own"), "");
  run_one(c);
  EXPECT_EQ(waits_for(c, c.submit(job())), "");
}

TEST_F(BindingQosTest, ChangedPartitionQosCountsRunningJobs) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::partition_qos, Limit{LimitKind::max_tres_per_user, "cpu", 4}), "");
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "QOSMaxCpuPerUserLimit");
  ASSERT_EQ(partition_qos(c, ""), "");
  EXPECT_EQ(waits_for(c, second), "");
  ASSERT_EQ(partition_qos(c, "night"), "");
  EXPECT_EQ(waits_for(c, second), "QOSMaxCpuPerUserLimit") << "who runs already counts";
}

TEST_F(BindingQosTest, MinutesAreChargedToTheQosAtStartAndMatchARecount) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::partition_qos, Limit{LimitKind::grp_tres_mins, "gres/gpu", 100}), "");
  const JobKey first = run_one(c);
  PastAttempt past{c.job(first).allocation->at,
                   {},
                   {},
                   held_thousandths(c.state(), *c.job(first).allocation),
                   c.job(first).allocation->charged_to};
  c.now += std::chrono::minutes(60);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "QOSGrpGRESMinutes") << "what still runs has used 120";
  ASSERT_EQ(partition_qos(c, "normal"), "");
  limit(c, "normal", {{LimitKind::grp_tres_mins, "gres/gpu", 100}});
  EXPECT_EQ(waits_for(c, second), "") << "it began under the other";
  ASSERT_EQ(partition_qos(c, ""), "");
  end(c, first);
  past.released = c.now;
  ASSERT_EQ(partition_qos(c, "night"), "");
  EXPECT_EQ(waits_for(c, second), "QOSGrpGRESMinutes")
      << "it began under that QOS, whatever the partition had when it ended";
  const auto seconds = [&](const std::string& name) {
    const AssociationUsage* usage = c.state().usage.find(usage_id(qos(c, name)));
    return usage ? fairness::to_double(all_usage_at(*usage, "cpu", c.now, Seconds{0}, Time{})) : 0;
  };
  EXPECT_NEAR(seconds("night"), 4 * 3600, 60);
  EXPECT_NEAR(seconds("own"), 4 * 3600, 60);
  UsageRecount recount(c.state(), rules_of(*c.policy), c.now + Seconds{1});
  recount.add("physics", past);
  EXPECT_THAT(recount.compare().differences, IsEmpty());
}

TEST_F(BindingQosTest, MissingPartitionQosBlocksStarts) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
  EXPECT_THAT(partition_qos(c, "none"), HasSubstr("there is no QOS none"));
  const Qos night = qos(c, "night");
  const Reply reply = c.user(kOperator, ChangeAccounting{{{Verb::remove, night, night.changed}}});
  EXPECT_THAT(reply.error.message, HasSubstr("partition main still has QOS night"));
  // A configuration may name a QOS that does not exist yet.
  ApplyConfig config;
  config.hash = 9;
  Partition main = *c.state().partitions.find("main");
  main.qos = "soon";
  config.partitions = {main};
  for (int i = 1; i <= 4; ++i)
    config.nodes.emplace_back("n" + std::to_string(i), Cluster::machine());
  c.run({config});
  UpdatePartition tier;
  tier.names = {"main"};
  tier.fields = {"tier"};
  tier.values.tier = 3;
  EXPECT_EQ(c.user(kRoot, tier).error.message, "") << "the rest can be changed all the same";
  const JobKey key = c.submit(job());
  EXPECT_EQ(waits_for(c, key), "InvalidQOS");
  c.plan({c.group(key, {1, 2}, 2)});
  EXPECT_EQ(c.job(key).state, JobState::pending) << "nor does the engine take it";
  EXPECT_THAT(detail(c, key), HasSubstr("partition main has QOS soon, which does not exist"));
  Qos soon;
  soon.name = "soon";
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::add, soon, {}}}}).failed);
  EXPECT_EQ(waits_for(c, key), "");
}

// --- what a QOS does to limits of others --------------------------------------------------------------------------------------

TEST_F(BindingQosTest, LimitFactorScalesTresLimitsOfAssociations) {
  struct Row {
    LimitKind kind;
    std::string tres;
    std::uint64_t
        plain;  // a limit that two of the jobs (or one) exceed, but not if it is multiplied by 1.5
    bool both;
  };
  const Row rows[] = {{LimitKind::grp_tres, "cpu", 6, true},
                      {LimitKind::grp_tres, "gres/gpu", 3, true},
                      {LimitKind::max_tres_per_job, "cpu", 3, false},
                      {LimitKind::max_tres_per_node, "mem", 700, false}};
  for (const Row& row : rows)
    for (const Level level : {Level::user, Level::account, Level::above}) {
      SCOPED_TRACE(std::string(row_of(row.kind).name) + " " + row.tres);
      Cluster c{4, limited()};
      ASSERT_EQ(set_up(c, level, Limit{row.kind, row.tres, row.plain}), "");
      if (row.both) run_one(c);
      const JobKey key = c.submit(job());
      EXPECT_NE(waits_for(c, key), "");
      Qos own = qos(c, "own");
      own.limit_factor = 1500;
      ASSERT_EQ(modify(c, own), "");
      EXPECT_EQ(waits_for(c, key), "");
      own = qos(c, "own");
      own.limit_factor = 1100;
      ASSERT_EQ(modify(c, own), "");
      EXPECT_NE(waits_for(c, key), "");
      EXPECT_THAT(detail(c, key), HasSubstr(" times 1.1, "));
    }
}

TEST_F(BindingQosTest, LimitFactorLeavesCountsAndQosLimits) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::grp_jobs, "", 1}), "");
  Qos own = qos(c, "own");
  own.limit_factor = 5000;
  own.limits = {{LimitKind::grp_tres, "cpu", 4}};
  ASSERT_EQ(modify(c, own), "");
  run_one(c);
  EXPECT_EQ(waits_for(c, c.submit(job())), "QOSGrpCpuLimit") << "nor its own";
  limit(c, "own", {});
  EXPECT_EQ(waits_for(c, c.submit(job())), "AssocGrpJobsLimit");
}

TEST_F(BindingQosTest, RelativeLimitsArePercentOfTheCluster) {
  constexpr auto kRelative = static_cast<std::uint32_t>(QosFlag::relative);
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
  UpdatePartition smaller;
  smaller.names = {"main"};
  smaller.fields = {"nodes"};
  smaller.values.nodes = {"n1", "n2"};
  ASSERT_FALSE(c.user(kRoot, smaller).failed);
  // The job has 4 CPUs: 25 % of the 16 of the cluster, 50 % of the 8 of the partition.
  limit(c, "own", {{LimitKind::max_tres_per_job, "cpu", 25}}, kRelative);
  limit(c, "night", {{LimitKind::grp_tres, "cpu", 50}}, kRelative);
  const JobKey key = c.submit(job());
  EXPECT_EQ(waits_for(c, key), "");
  limit(c, "own", {{LimitKind::max_tres_per_job, "cpu", 24}}, kRelative);
  EXPECT_THAT(detail(c, key), HasSubstr("MaxTRESPerJob of QOS own is cpu=24 % of 16, the job"));
  limit(c, "own", {});
  limit(c, "night", {{LimitKind::grp_tres, "cpu", 49}}, kRelative);
  EXPECT_THAT(detail(c, key), HasSubstr("GrpTRES of QOS night of partition main is cpu=49 % of 8"));
  limit(c, "night", {{LimitKind::grp_tres, "gres/gpu", 50}}, kRelative);
  EXPECT_EQ(waits_for(c, key), "") << "two of four";
  limit(c, "night", {{LimitKind::grp_tres, "license/matlab", 29}}, kRelative);
  EXPECT_EQ(waits_for(c, key), "QOSGrpLicense") << "three of ten";
  limit(c, "night", {{LimitKind::grp_jobs, "", 1}}, kRelative);
  EXPECT_EQ(waits_for(c, key), "") << "counts are counts";
  Qos own = qos(c, "own");
  own.flags = kRelative;
  own.limits = {{LimitKind::grp_tres, "cpu", 101}};
  EXPECT_THAT(modify(c, own), HasSubstr("is more than 100 %"));
}

struct ThresholdCase {
  const char* name;
  const char* of;  // the QOS that has the threshold
  bool enforced, gang;
  const char* whose;  // as written in the reason
};
class ThresholdTest : public BindingQosTest, public testing::WithParamInterface<ThresholdCase> {};

TEST_P(ThresholdTest, JobsBelowTheUsageThresholdDoNotStart) {
  const ThresholdCase& one = GetParam();
  Policy policy = limited();
  auto rules = std::make_shared<Fairness>();
  rules->policy = QueuePolicy::multifactor;
  rules->calc_period = Seconds{1};
  policy.fairness.value = rules;
  Cluster c{4, policy};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
  // A second user, so that fair shares differ.
  User bob;
  bob.name = "bob";
  bob.default_account = "science";
  Association member;
  member.key = {"science", "bob", {}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::add, bob, {}}, {Verb::add, member, {}}}}).failed);
  Qos limits = qos(c, one.of);
  limits.usage_threshold = 600;
  limits.flags = one.enforced ? static_cast<std::uint32_t>(QosFlag::enforce_usage_threshold) : 0;
  ASSERT_EQ(modify(c, limits), "");
  const auto waits = [&](JobKey key) {
    const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
    const PendingInfo* why = plan.pending.find(key);
    return why ? std::string(reason_text(*why)) : "";
  };
  const JobKey first = c.submit(job());
  EXPECT_EQ(waits(first), "") << "she has used nothing";
  c.plan(core::plan(c.state(), policy, Budget{}, c.now).groups);
  ASSERT_EQ(c.job(first).state, JobState::configuring);
  c.now += std::chrono::hours(1);
  JobSpec next = job();
  if (one.gang) {
    next.min_nodes = next.max_nodes = 1;
    next.tasks = 1;
    next.gang = GangRequest{"pair", 2, 2, std::nullopt};
  }
  const JobKey second = c.submit(next);
  const JobKey third = one.gang ? c.submit(next) : second;
  for (const JobKey& key : {second, third})
    EXPECT_EQ(waits(key), one.enforced ? "QOSUsageThreshold" : "");
  if (one.enforced) {
    EXPECT_THAT(detail(c, second, policy),
                HasSubstr(std::string("UsageThreshold of QOS ") + one.whose +
                          " is 0.6, the fair share of alice in account physics 0.5"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, ThresholdTest,
    testing::Values(ThresholdCase{"TheJobs", "own", true, false, "own"},
                    ThresholdCase{"TheJobsNotEnforced", "own", false, false, ""},
                    ThresholdCase{"ThePartitions", "night", true, false, "night of partition main"},
                    ThresholdCase{"ThePartitionsNotEnforced", "night", false, false, ""},
                    ThresholdCase{"TheJobsAndAGang", "own", true, true, "own"},
                    ThresholdCase{"ThePartitionsAndAGang", "night", true, true,
                                  "night of partition main"},
                    ThresholdCase{"NoneAndAGang", "own", false, true, ""}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_F(BindingQosTest, InvalidQosValuesAreRefused) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
  Qos own = qos(c, "own");
  own.preempts = {"none"};
  EXPECT_THAT(modify(c, own), HasSubstr("there is no QOS none to preempt"));
  own.preempts = {"own"};
  EXPECT_THAT(modify(c, own), HasSubstr("it would preempt itself"));
  own.preempts = {"night", "normal", "night"};
  ASSERT_EQ(modify(c, own), "");
  EXPECT_THAT(qos(c, "own").preempts, testing::ElementsAre("night", "normal"));
  Qos normal = qos(c, "normal");
  normal.preempts = {"own"};
  EXPECT_THAT(modify(c, normal), HasSubstr("it would preempt itself, by way of"));
  ASSERT_EQ(partition_qos(c, ""), "");
  const Qos night = qos(c, "night");
  EXPECT_THAT(
      c.user(kOperator, ChangeAccounting{{{Verb::remove, night, night.changed}}}).error.message,
      HasSubstr("QOS own still refers to QOS night"));
  own = qos(c, "own");
  own.limit_factor = 0;
  EXPECT_THAT(modify(c, own), HasSubstr("limit factor of 0"));
  own = qos(c, "own");
  own.usage_threshold = 1001;
  EXPECT_THAT(modify(c, own), HasSubstr("usage threshold is above 1"));
  own = qos(c, "own");
  own.grace = Seconds{-1};
  EXPECT_THAT(modify(c, own), HasSubstr("from nothing to a year"));
}

}  // namespace
}  // namespace ares::core
