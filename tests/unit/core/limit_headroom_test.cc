// Tests: plan_claims
// Room under group limits is kept for the first pending job: jobs behind it cannot use it up again
// and again, but may use all that this job does not need.
#include <gmock/gmock.h>

#include <algorithm>

#include "unit/core/limits_fixture.h"

namespace ares::core {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

class LimitRoomTest : public LimitsTest {
 protected:
  static JobSpec cpus(std::uint32_t count, int limit) {
    JobSpec spec = Cluster::spec(kAlice);
    spec.min_nodes = 1;
    spec.max_nodes = std::min(count, 4u);
    spec.tasks = count;
    spec.memory_per_cpu = Bytes::mib(1);
    spec.time_limit = minutes(limit);
    return spec;
  }
  static void limit_cpus(LimitRoomTest& test, Cluster& c, std::uint64_t most,
                         Level level = Level::above) {
    ASSERT_EQ(test.set_up(c, level, Limit{LimitKind::grp_tres, "cpu", most}), "");
  }
  static Plan planned(Cluster& c) { return core::plan(c.state(), limited(), Budget{}, c.now); }
  static JobKey run(Cluster& c, JobSpec spec) {
    const JobKey key = c.submit(std::move(spec));
    c.plan(planned(c).groups);
    EXPECT_EQ(c.job(key).state, JobState::configuring);
    return key;
  }
  static bool starts(const Plan& plan, JobKey key) {
    return std::any_of(plan.groups.begin(), plan.groups.end(), [&](const PlanGroup& group) {
      return std::any_of(group.starts.begin(), group.starts.end(),
                         [&](const Start& start) { return start.key == key; });
    });
  }
  static std::string detail(const Plan& plan, JobKey key) {
    const PendingInfo* why = plan.pending.find(key);
    return why ? why->detail : "";
  }
  // Reports this phase from each node of the job.
  static void report(Cluster& c, JobKey key, AttemptPhase phase) {
    const NodeShares shares = c.job(key).allocation->nodes;
    for (int node = 1; node <= 4; ++node)
      for (const NodeShare& share : shares)
        if (share.node == c.id_of(node)) c.progress(node, key, phase);
  }
};

TEST_F(LimitRoomTest, ShortJobsUseRoomUntilItIsNeeded) {
  for (const Level level : kLevels) {
    SCOPED_TRACE(static_cast<int>(level));
    Cluster c{4, limited()};
    limit_cpus(*this, c, 4, level);
    run(c, cpus(2, 90));
    const JobKey large = c.submit(cpus(4, 60));
    const JobKey slow = c.submit(cpus(2, 91)), quick = c.submit(cpus(2, 90));
    const Plan plan = planned(c);
    EXPECT_FALSE(starts(plan, large));
    EXPECT_FALSE(starts(plan, slow)) << "it would still run when the large one could start";
    EXPECT_THAT(detail(plan, slow), HasSubstr("room under it is kept for job "));
    EXPECT_TRUE(starts(plan, quick));
    c.cancel(large);
    EXPECT_TRUE(starts(planned(c), slow));
  }
}

TEST_F(LimitRoomTest, UnneededRoomIsForOtherJobs) {
  Cluster c{4, limited()};
  limit_cpus(*this, c, 6);
  run(c, cpus(3, 90));
  c.submit(cpus(4, 60));
  const JobKey first = c.submit(cpus(2, 600)), second = c.submit(cpus(1, 600));
  const Plan plan = planned(c);
  EXPECT_TRUE(starts(plan, first)) << "two are left beside the four";
  EXPECT_FALSE(starts(plan, second)) << "and no third";
}

TEST_F(LimitRoomTest, CountsOfJobsAreKeptToo) {
  Cluster c{4, limited()};
  ASSERT_EQ(set_up(c, Level::user, Limit{LimitKind::max_jobs, "", 2}), "");
  run(c, cpus(1, 90));
  run(c, cpus(1, 30));
  const JobKey next = c.submit(cpus(1, 60)), other = c.submit(cpus(1, 600));
  const Plan plan = planned(c);
  EXPECT_FALSE(starts(plan, next));
  EXPECT_FALSE(starts(plan, other));
}

TEST_F(LimitRoomTest, SmallJobsStarveNoLargeJob) {
  Cluster c{4, limited()};
  limit_cpus(*this, c, 4);
  std::vector<std::pair<Time, JobKey>> running;
  const auto keep_running = [&](std::size_t waiting) {
    for (std::size_t i = 0; i < waiting; ++i) c.submit(cpus(1, 60));
    const Plan plan = planned(c);
    std::vector<JobKey> started;
    for (const PlanGroup& group : plan.groups)
      for (const Start& start : group.starts) started.push_back(start.key);
    c.plan(plan.groups);
    for (const JobKey& key : started) {
      report(c, key, AttemptPhase::ready);
      report(c, key, AttemptPhase::running);
      running.emplace_back(c.now + minutes(60), key);
    }
  };
  for (int i = 0; i < 4; ++i) {
    keep_running(1);
    c.now += minutes(15);
  }
  JobSpec wide = cpus(4, 60);
  const JobKey large = c.submit(wide);
  const Time submitted = c.now;
  while (c.job(large).state == JobState::pending && c.now < submitted + minutes(300)) {
    for (const auto& [ends, key] : std::vector(running))
      if (ends <= c.now && c.job(key).state == JobState::running)
        report(c, key, AttemptPhase::done);
    keep_running(2);
    c.now += minutes(5);
  }
  EXPECT_LE(c.now, submitted + minutes(70)) << "when those that ran then are over, it starts";
}

TEST_F(LimitRoomTest, JobWithAPlannedStartKeepsRoomUnderLimits) {
  for (const bool waits : {false, true}) {
    Cluster c{4, limited()};
    limit_cpus(*this, c, 6);
    JobSpec on_two = cpus(2, 90);
    on_two.required_nodes = {"n1", "n2"};
    on_two.min_nodes = on_two.max_nodes = 2;
    on_two.exclusive = true;
    on_two.tasks = 2;
    // They take eight CPUs and run for another user, to which the limit does not apply.
    Association bobs;
    bobs.key = {"root", "bob", {}};
    bobs.terms.qos = {"own"};
    User bob;
    bob.name = "bob";
    bob.default_account = "root";
    ASSERT_FALSE(
        c.user(kOperator, ChangeAccounting{{{Verb::add, bob, {}}, {Verb::add, bobs, {}}}}).failed);
    on_two.uid = kBob;
    on_two.user = "bob";
    run(c, on_two);
    JobSpec same = cpus(4, 60);
    same.required_nodes = {"n1"};
    same.min_nodes = same.max_nodes = 1;
    if (waits) c.submit(same);
    const JobKey elsewhere = c.submit(cpus(4, 600));
    const Plan plan = planned(c);
    EXPECT_EQ(starts(plan, elsewhere), !waits) << detail(plan, elsewhere);
    if (!waits) continue;
    EXPECT_THAT(detail(plan, elsewhere), HasSubstr("kept for job"));
    const JobKey little = c.submit(cpus(2, 600));
    EXPECT_TRUE(starts(planned(c), little)) << "two are left beside the four";
  }
}

TEST_F(LimitRoomTest, NoRoomIsKeptForJobsThatLimitsDoNotBlock) {
  Cluster c{4, limited()};
  limit_cpus(*this, c, 4);
  run(c, cpus(2, 90));
  c.submit(cpus(5, 60));
  EXPECT_TRUE(starts(planned(c), c.submit(cpus(2, 600)))) << "it is over the limit by itself";
  JobSpec licensed = cpus(4, 60);
  licensed.licenses = {{"matlab", 10}};
  JobSpec user = cpus(1, 90);
  user.licenses = {{"matlab", 1}};
  Cluster d{4, limited()};
  limit_cpus(*this, d, 4);
  run(d, user);
  d.submit(licensed);
  const JobKey other = d.submit(cpus(3, 600));
  const Plan plan = planned(d);
  EXPECT_TRUE(starts(plan, other)) << "its licences are in use as well: " << detail(plan, other);
}

TEST_F(LimitRoomTest, RoomIsKeptForAWholeGang) {
  Cluster c{4, limited()};
  limit_cpus(*this, c, 4);
  run(c, cpus(2, 90));
  JobSpec member = cpus(2, 60);
  member.gang = GangRequest{"pair", 2, 2, std::nullopt};
  c.submit(member);
  c.submit(member);
  const JobKey slow = c.submit(cpus(2, 91)), quick = c.submit(cpus(2, 90));
  const Plan plan = planned(c);
  EXPECT_FALSE(starts(plan, slow));
  EXPECT_THAT(detail(plan, slow), HasSubstr("kept for gang pair"));
  EXPECT_TRUE(starts(plan, quick));
}

TEST_F(LimitRoomTest, OtherUsersAreNotAffected) {
  Cluster c{4, limited()};
  limit_cpus(*this, c, 4, Level::user);
  run(c, cpus(2, 90));
  c.submit(cpus(4, 60));
  Association bobs;
  bobs.key = {"physics", "bob", {}};
  bobs.terms.qos = {"own"};
  User bob;
  bob.name = "bob";
  bob.default_account = "physics";
  ASSERT_FALSE(
      c.user(kOperator, ChangeAccounting{{{Verb::add, bob, {}}, {Verb::add, bobs, {}}}}).failed);
  JobSpec his = cpus(4, 600);
  his.uid = kBob;
  his.user = "bob";
  EXPECT_TRUE(starts(planned(c), c.submit(his)));
}

}  // namespace
}  // namespace ares::core
