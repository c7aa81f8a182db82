// Tests: usage_totals, applicable_limits, saturating
// Limits on jobs together: each kind, at each level where it can be set, keeps the job pending with the documented
// reason, and only if it is exceeded together with running jobs. Usage is counted from the current state.
#include <gmock/gmock.h>

#include "core/accounts/limits/limit_use.h"
#include "core/accounts/usage/usage.h"
#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Row {
  LimitKind kind;
  std::string tres;
  std::uint64_t both;  // total of two of the fixture's jobs
  std::string association, qos;
};

const std::vector<Row>& rows() {
  using enum LimitKind;
  static const std::vector<Row> all{
      {grp_jobs, "", 2, "AssocGrpJobsLimit", "QOSGrpJobsLimit"},
      {max_jobs, "", 2, "AssocMaxJobsLimit", ""},
      {max_jobs_per_user, "", 2, "", "QOSMaxJobsPerUserLimit"},
      {max_jobs_per_account, "", 2, "", "MaxJobsPerAccount"},
      {grp_tres, "cpu", 8, "AssocGrpCpuLimit", "QOSGrpCpuLimit"},
      {grp_tres, "mem", 4000, "AssocGrpMemLimit", "QOSGrpMemLimit"},
      {grp_tres, "node", 4, "AssocGrpNodeLimit", "QOSGrpNodeLimit"},
      {grp_tres, "gres/gpu", 4, "AssocGrpGRES", "QOSGrpGRES"},
      {grp_tres, "gres/gpu:a100", 4, "AssocGrpGRES", "QOSGrpGRES"},
      {grp_tres, "license/matlab", 6, "AssocGrpLicense", "QOSGrpLicense"},
      {grp_tres, "billing", 8, "AssocGrpBilling", "QOSGrpBilling"},
      {grp_tres_run_mins, "cpu", 720, "AssocGrpCPURunMinutesLimit", "QOSGrpCPURunMinutesLimit"},
      {grp_tres_run_mins, "mem", 360000, "AssocGrpMemRunMinutes", "QOSGrpMemoryRunMinutes"},
      {grp_tres_run_mins, "gres/gpu", 360, "AssocGrpGRESRunMinutes", "QOSGrpGRESRunMinutes"},
      {max_tres_per_user, "cpu", 8, "", "QOSMaxCpuPerUserLimit"},
      {max_tres_per_user, "mem", 4000, "", "QOSMaxMemoryPerUser"},
      {max_tres_per_user, "gres/gpu:a100", 4, "", "QOSMaxGRESPerUser"},
      {max_tres_per_account, "cpu", 8, "", "MaxCpuPerAccount"},
      {max_tres_per_account, "node", 4, "", "MaxNodePerAccount"},
      {max_tres_run_mins_per_user, "cpu", 720, "", "MaxCpuRunMinsPerUser"},
      {max_tres_run_mins_per_account, "gres/gpu", 360, "", "MaxGRESRunMinsPerAccount"},
  };
  return all;
}

class LimitUseTest : public LimitsTest {
 protected:
  // A second QOS, without limits.
  static void allow_other_qos(Cluster& c) {
    Qos other;
    other.name = "other";
    Association member = *find_association(c.state().accounting, "physics", "alice");
    member.terms.qos = {"other", "own"};
    ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::add, other, {}},
                                                     {Verb::modify, member, member.changed}}})
                     .failed);
  }
};

TEST_F(LimitUseTest, EachLimitAtEachLevelHasItsReason) {
  for (const Row& row : rows())
    for (const Level level : kLevels) {
      const bool qos = is_qos(level);
      if (qos ? row.qos.empty() : row.association.empty()) continue;
      SCOPED_TRACE(std::string(row_of(row.kind).name) + " " + row.tres + " at level " +
                   std::to_string(static_cast<int>(level)));
      Cluster met{4, limited()}, missed{4, limited()};
      ASSERT_EQ(set_up(met, level, Limit{row.kind, row.tres, row.both}), "");
      run_one(met);
      EXPECT_EQ(waits_for(met, met.submit(job())), "") << "exactly the limit is within it";
      ASSERT_EQ(set_up(missed, level, Limit{row.kind, row.tres, row.both - 1}), "");
      const JobKey first = run_one(missed);
      const JobKey second = missed.submit(job());
      EXPECT_EQ(waits_for(missed, second), qos ? row.qos : row.association);
      EXPECT_THAT(detail(missed, second), HasSubstr(std::string(row_of(row.kind).name) + " of "));
      // The engine refuses the start too if a planner that ignores limits proposes it.
      Policy lax = limited();
      lax.accounting.enforce = Enforce::none;
      auto groups = core::plan(missed.state(), lax, Budget{}, missed.now).groups;
      ASSERT_FALSE(groups.empty());
      missed.plan(std::move(groups));
      EXPECT_EQ(missed.job(second).state, JobState::pending);
      missed.cancel(first);
      for (int node = 1; node <= 4; ++node) missed.progress(node, first, AttemptPhase::never_ran);
      EXPECT_EQ(waits_for(missed, second), "") << "there is room again";
    }
}

TEST_F(LimitUseTest, JobsOfOnePassCountTogether) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(std::string(row_of(row.kind).name) + " " + row.tres);
    Cluster c{4, limited()};
    ASSERT_EQ(set_up(c, row.qos.empty() ? Level::above : Level::qos,
                     Limit{row.kind, row.tres, row.both - 1}),
              "");
    const JobKey first = c.submit(job()), second = c.submit(job());
    take_plan(c);
    EXPECT_EQ(c.job(first).state, JobState::configuring);
    EXPECT_EQ(c.job(second).state, JobState::pending);
    EXPECT_EQ(waits_for(c, second), row.qos.empty() ? row.association : row.qos);
  }
}

struct SubmitRow {
  LimitKind kind;
  std::string association, qos;
};

TEST_F(LimitUseTest, SubmitLimitsBoundPendingAndRunningJobs) {
  using enum LimitKind;
  const std::vector<SubmitRow> all{
      {grp_submit_jobs, "AssocGrpSubmitJobsLimit", "QOSGrpSubmitJobsLimit"},
      {max_submit_jobs, "AssocMaxSubmitJobLimit", ""},
      {max_submit_jobs_per_user, "", "QOSMaxSubmitJobPerUserLimit"},
      {max_submit_jobs_per_account, "", "MaxSubmitJobsPerAccount"},
  };
  for (const SubmitRow& row : all)
    for (const Level level : kLevels) {
      const std::string reason = is_qos(level) ? row.qos : row.association;
      if (reason.empty()) continue;
      SCOPED_TRACE(reason);
      Cluster c{4, limited()};
      ASSERT_EQ(set_up(c, level, Limit{row.kind, "", 4}), "");
      const JobKey first = c.submit(job());
      JobSpec tasks = job();
      tasks.array.emplace().insert(0, 3);
      EXPECT_THAT(c.try_submit(tasks).error.message,
                  AllOf(HasSubstr(reason), HasSubstr("is 4, 1 submitted"), HasSubstr("4 more")))
          << "each task of an array counts";
      tasks.array.emplace().insert(0, 2);
      const JobKey array = c.submit(tasks);
      EXPECT_THAT(c.try_submit(job()).error.message, HasSubstr(reason));
      SubmitMany two;
      two.specs = {std::make_shared<const JobSpec>(job()), std::make_shared<const JobSpec>(job())};
      c.cancel(first);
      EXPECT_TRUE(c.user(kAlice, two).failed) << "together they are one too many";
      EXPECT_FALSE(c.try_submit(job()).failed);
      EXPECT_THAT(c.try_submit(job()).error.message, HasSubstr(reason));
      c.cancel(array);
      EXPECT_FALSE(c.try_submit(job()).failed);
    }
}

TEST_F(LimitUseTest, GroupLimitsApplyAtAllLevels) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_jobs, "", 1}), "");
  Account physics = *find_account(c.state().accounting, "physics");
  physics.terms.limits = {{LimitKind::grp_jobs, "", 100}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, physics, physics.changed}}}).failed);
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "AssocGrpJobsLimit") << "a lower one does not lift it";
  EXPECT_EQ(detail(c, second), "GrpJobs of science is 1, 1 running");
}

TEST_F(LimitUseTest, NearestMaxJobsApplies) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::max_jobs, "", 1}), "");
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(detail(c, second), "MaxJobs of science is 1, 1 running by alice");
  Account physics = *find_account(c.state().accounting, "physics");
  physics.terms.limits = {{LimitKind::max_jobs, "", 2}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, physics, physics.changed}}}).failed);
  EXPECT_EQ(waits_for(c, second), "");
}

TEST_F(LimitUseTest, DenyOnLimitRefusesJobsAboveAGroupLimit) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres, "gres/gpu", 2},
                   static_cast<std::uint32_t>(QosFlag::deny_on_limit)),
            "");
  JobSpec three = job();
  three.gpus_per_node = {{"", 2}};
  EXPECT_THAT(c.try_submit(three).error.message,
              AllOf(HasSubstr("AssocGrpGRES"), HasSubstr("gres/gpu=2"), HasSubstr("asks for 4")));
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "AssocGrpGRES") << "by itself it is within it";
}

TEST_F(LimitUseTest, TypedLimitAppliesToUntypedRequests) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::grp_tres, "gres/gpu:a100", 3}), "");
  JobSpec any = job();
  any.gpus_per_node = {{"", 1}};
  c.submit(any);
  take_plan(c);
  const JobKey second = c.submit(any);
  EXPECT_EQ(waits_for(c, second), "AssocGrpGRES");
  EXPECT_THAT(detail(c, second), HasSubstr("gres/gpu:a100=3, 2 in use, the job would get 2"));
}

TEST_F(LimitUseTest, GangMembersCountTogether) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres, "cpu", 7}), "");
  JobSpec member = job();
  member.gang = GangRequest{"pair", 2, 2, std::nullopt};
  const JobKey a = c.submit(member), b = c.submit(member);
  EXPECT_EQ(waits_for(c, a), "AssocGrpCpuLimit");
  EXPECT_EQ(waits_for(c, b), "AssocGrpCpuLimit");
  take_plan(c);
  EXPECT_EQ(c.job(a).state, JobState::pending);
  Account science = *find_account(c.state().accounting, "science");
  science.terms.limits = {{LimitKind::grp_tres, "cpu", 8}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, science, science.changed}}}).failed);
  take_plan(c);
  EXPECT_EQ(c.job(a).state, JobState::configuring);
  EXPECT_EQ(c.job(b).state, JobState::configuring);
}

TEST_F(LimitUseTest, JobOverALimitBlocksNoOtherUser) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::user, Limit{LimitKind::grp_jobs, "", 0}), "");
  Association bobs;
  bobs.key = {"physics", "bob", {}};
  bobs.terms.qos = {"own"};
  User bob;
  bob.name = "bob";
  bob.default_account = "physics";
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::add, bob, {}}, {Verb::add, bobs, {}}}}).failed);
  const JobKey hers = c.submit(job());
  JobSpec spec = job();
  spec.uid = kBob;
  spec.user = "bob";
  spec.min_nodes = spec.max_nodes = 4;
  const JobKey his = c.submit(spec);
  EXPECT_EQ(waits_for(c, hers), "AssocGrpJobsLimit");
  EXPECT_EQ(waits_for(c, his), "");
}

TEST_F(LimitUseTest, JobMovedToAnotherQosCountsThere) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, Limit{LimitKind::grp_submit_jobs, "", 1}), "");
  allow_other_qos(c);
  JobSpec own = job(), free = job();
  own.qos = "own";
  free.qos = "other";
  c.submit(own);
  const JobKey moved = c.submit(free);
  UpdateJob update;
  update.jobs = Cluster::named(moved);
  update.values = std::make_shared<const JobSpec>(own);
  update.fields = {"qos"};
  EXPECT_THAT(c.user(kAlice, update).error.message, HasSubstr("QOSGrpSubmitJobsLimit"));
  EXPECT_EQ(c.state().current_usage.find({"physics", "alice", "other", "main"})->submitted, 1u);
}

TEST_F(LimitUseTest, JobsMovedTogetherCountTogether) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, Limit{LimitKind::max_submit_jobs_per_user, "", 2}), "");
  allow_other_qos(c);
  JobSpec free = job(), own = job();
  free.qos = "other";
  own.qos = "own";
  const JobKey a = c.submit(free), b = c.submit(free), d = c.submit(free);
  UpdateJob update;
  update.values = std::make_shared<const JobSpec>(own);
  update.fields = {"qos"};
  update.jobs.keys = {a, b, d};
  EXPECT_THAT(c.user(kAlice, update).error.message, HasSubstr("QOSMaxSubmitJobPerUserLimit"));
  EXPECT_EQ(c.job(a).spec->qos, "own");
  EXPECT_EQ(c.job(b).spec->qos, "own");
  EXPECT_EQ(c.job(d).spec->qos, "other") << "the third is one too many";
}

TEST_F(LimitUseTest, OneLicenceWithinLimitsIsSufficient) {
  Policy policy = limited();
  policy.licenses["octave"] = 1;
  Cluster c{4, policy};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres, "license/matlab", 0}), "");
  JobSpec spec = job();
  spec.licenses = {{"octave", 1}, {"matlab", 1}};
  const JobKey both = c.submit(spec);
  take_plan(c, policy);
  EXPECT_EQ(c.job(both).state, JobState::pending);
  spec.any_license = true;
  const JobKey key = c.submit(spec);
  take_plan(c, policy);
  ASSERT_EQ(c.job(key).state, JobState::configuring);
  EXPECT_EQ(c.job(key).allocation->licenses.front().name, "octave");

  Cluster ways{4, limited()};
  ASSERT_EQ(set_up(ways, Level::above, Limit{LimitKind::grp_tres, "gres/gpu", 2}), "");
  JobSpec two = job();
  two.licenses.clear();
  two.gpus_per_node = {{"a100", 2}};
  two.gpu_alternatives = {{{{"a100", 2}}, 1000}, {{{"a100", 1}}, 1000}};
  const JobKey either = ways.submit(two);
  take_plan(ways);
  ASSERT_EQ(ways.job(either).state, JobState::configuring);
  EXPECT_EQ(ways.job(either).allocation->alternative, 1u) << "four are over it, two are not";
}

TEST_F(LimitUseTest, JobWithAlternativeLicencesGetsAPlannedStart) {
  Policy policy = limited();
  policy.licenses["octave"] = 1;
  Cluster c{2, policy};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres, "license/matlab", 0}), "");
  JobSpec whole = Cluster::spec(kAlice);
  whole.min_nodes = whole.max_nodes = whole.tasks = 2;
  whole.exclusive = true;
  whole.time_limit = Seconds{3600};
  c.submit(whole);
  take_plan(c, policy);
  JobSpec either = job();
  either.licenses = {{"matlab", 1}, {"octave", 1}};
  either.any_license = true;
  const JobKey key = c.submit(either);
  const Plan plan = core::plan(c.state(), policy, Budget{}, c.now);
  const PendingInfo* why = plan.pending.find(key);
  ASSERT_TRUE(why);
  EXPECT_EQ(std::string(reason_text(*why)), "Resources");
  EXPECT_TRUE(why->expected_start);
}

TEST_F(LimitUseTest, UnmovedJobsStillCountInTheirAccount) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::qos, std::nullopt), "");
  allow_other_qos(c);
  JobSpec free = job(), own = job();
  free.qos = "other";
  own.qos = "own";
  const JobKey a = c.submit(free), b = c.submit(free);
  Account science = *find_account(c.state().accounting, "science");
  science.terms.limits = {{LimitKind::grp_submit_jobs, "", 1}};
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::modify, science, science.changed}}}).failed);
  UpdateJob update;
  update.values = std::make_shared<const JobSpec>(own);
  update.fields = {"qos"};
  update.jobs.keys = {a, b};
  EXPECT_THAT(c.user(kAlice, update).error.message, HasSubstr("AssocGrpSubmitJobsLimit"));
  EXPECT_EQ(c.job(a).spec->qos, "other");
  EXPECT_EQ(c.job(b).spec->qos, "other");
}

TEST_F(LimitUseTest, JobThatLimitsNeverAllowGetsNoPlannedStart) {
  Cluster c{2, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres, "cpu", 3}), "");
  JobSpec small = Cluster::spec(kAlice);
  small.min_nodes = small.max_nodes = small.tasks = 2;
  small.time_limit = Seconds{3600};
  const JobKey runs = c.submit(small);
  take_plan(c);
  ASSERT_EQ(c.job(runs).state, JobState::configuring);
  JobSpec whole = Cluster::spec(kAlice);  // a whole node of four CPUs; two of three are in use
  whole.exclusive = true;
  whole.time_limit = Seconds{3600};
  const JobKey never = c.submit(whole);
  const Plan plan = core::plan(c.state(), limited(), Budget{}, c.now);
  const PendingInfo* why = plan.pending.find(never);
  ASSERT_TRUE(why);
  EXPECT_EQ(std::string(reason_text(*why)), "AssocGrpCpuLimit");
  EXPECT_EQ(why->expected_start, std::nullopt);
}

TEST_F(LimitUseTest, QosLimitPrecedesMaxJobsOfAccounts) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::account, Limit{LimitKind::max_jobs, "", 1}), "");
  run_one(c);
  const JobKey second = c.submit(job());
  EXPECT_EQ(waits_for(c, second), "AssocMaxJobsLimit");
  Qos own = *find_qos(c.state().accounting, "own");
  own.limits = {{LimitKind::max_jobs_per_user, "", 2}};
  ASSERT_FALSE(c.user(kOperator, ChangeAccounting{{{Verb::modify, own, own.changed}}}).failed);
  EXPECT_EQ(waits_for(c, second), "");
}

TEST_F(LimitUseTest, RollBackRestoresTheMark) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::above, Limit{LimitKind::grp_tres_run_mins, "cpu", 400}), "");
  const JobKey key = c.submit(job());
  const JobSpec& spec = *c.job(key).spec;
  const Policy policy = limited();
  LimitUse use(c.state(), policy, c.now);
  const Partition& main = *c.state().partitions.find("main");
  EXPECT_FALSE(use.over(spec, main, spec.time_limit));
  const std::size_t mark = use.mark();
  const TresByNode allocated_tres{{{"cpu", 2}}, {{"cpu", 2}}};
  use.start(spec, main, spec.time_limit, &allocated_tres);
  const auto over = use.over(spec, main, spec.time_limit);
  ASSERT_TRUE(over);
  EXPECT_THAT(over->text, HasSubstr("cpu=400, 360 used or granted, the job may use 360"));
  use.start(spec, main, std::nullopt, &allocated_tres);  // without a time limit
  use.roll_back_to(mark);
  EXPECT_FALSE(use.over(spec, main, spec.time_limit));
}

}  // namespace
}  // namespace ares::core
