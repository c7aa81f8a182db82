// Tests: decide_time
// Deadlines, and the checks of licences that the engine repeats for each plan.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

JobSpec due(Cluster& c, Seconds in, std::optional<Seconds> limit = {}) {
  JobSpec s = Cluster::spec();
  s.deadline = c.now + in;
  s.time_limit = limit;
  return s;
}

TEST(Deadline, ImpossibleDeadlineIsRefused) {
  Cluster c;
  const auto refused = [&](JobSpec s) {
    const Reply reply = c.try_submit(std::move(s));
    return reply.failed && reply.error.message.find("Requested time limit is invalid") == 0;
  };
  EXPECT_TRUE(refused(due(c, Seconds{-1})));
  EXPECT_TRUE(refused(due(c, Seconds{3600}, Seconds{7200})));
  EXPECT_FALSE(refused(due(c, Seconds{3600}, Seconds{3600})));
  EXPECT_FALSE(refused(due(c, Seconds{3600})));
  JobSpec late = due(c, Seconds{3600}, Seconds{1800});
  late.begin = c.now + Seconds{2000};
  EXPECT_TRUE(refused(late));
  JobSpec modest = due(c, Seconds{3600}, Seconds{7200});
  modest.time_min = Seconds{1200};
  EXPECT_FALSE(refused(modest));
  modest.time_min = Seconds{7200};
  EXPECT_TRUE(refused(modest));
  JobSpec upside_down = Cluster::spec();
  upside_down.time_limit = Seconds{60};
  upside_down.time_min = Seconds{120};
  EXPECT_TRUE(refused(upside_down));
}

TEST(Deadline, EndsAPendingJobThatCanNoLongerMeetIt) {
  Cluster c;
  const JobKey needs_an_hour = c.submit(due(c, Seconds{7200}, Seconds{3600})),
               needs_little = c.submit(due(c, Seconds{7200}));
  c.tick(Seconds{3599});
  EXPECT_EQ(c.job(needs_an_hour).state, JobState::pending);
  c.tick(Seconds{1});
  EXPECT_EQ(c.job(needs_an_hour).state, JobState::deadline);
  EXPECT_EQ(c.job(needs_an_hour).reason, Reason::deadline);
  ASSERT_TRUE(c.row(needs_an_hour, 0));
  EXPECT_EQ(c.row(needs_an_hour, 0)->state, JobState::deadline);
  EXPECT_EQ(c.job(needs_little).state, JobState::pending);
  c.plan({c.group(needs_an_hour, {1})});
  c.tick(Seconds{3600});
  EXPECT_EQ(c.job(needs_little).state, JobState::deadline);
}

TEST(Deadline, ShortensTheLimitAndEndsARunningJob) {
  Cluster c;
  const JobKey key = c.submit(due(c, Seconds{1800}));
  c.start(key, {1});
  EXPECT_EQ(c.job(key).allocation->time_limit, Seconds{1800});
  c.forget_sent();
  c.tick(Seconds{1800});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  c.progress(1, key, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(key).state, JobState::deadline);
  EXPECT_EQ(c.job(key).reason, Reason::deadline);
}

TEST(Deadline, IsTheFinalStateIfTheNodeTimesOutAtTheDeadline) {
  for (const bool cut_off : {true, false}) {
    Cluster c;
    const JobKey key = c.submit(due(c, cut_off ? Seconds{1800} : Seconds{80000}));
    c.start(key, {1});
    c.now += Seconds{1799};
    AttemptReport report = c.report(key, AttemptPhase::done);
    report.exit.timed_out = true;
    c.from_node(1, Progress{report});
    EXPECT_EQ(c.job(key).state, cut_off ? JobState::deadline : JobState::timeout);
  }
}

TEST(Deadline, EndsPendingAndRunningTasksOfAnArray) {
  Cluster c;
  JobSpec s = due(c, Seconds{600});
  s.array.emplace();
  s.array->insert(0, 99);
  const JobKey array = c.submit(s), running{array.job, TaskIndex{3}};
  c.start(running, {1});
  c.tick(Seconds{600});
  EXPECT_TRUE(c.job(array).array->waiting.empty());
  EXPECT_EQ(c.job(running).state, JobState::completing);
  c.progress(1, running, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(running).state, JobState::deadline);
  EXPECT_EQ(c.job(array).state, JobState::deadline);
}

Policy with_licenses() {
  Policy policy = Cluster::default_policy();
  policy.licenses = {{"matlab", 2}};
  return policy;
}

JobSpec licensed(std::uint32_t count) {
  JobSpec s = Cluster::spec();
  s.licenses = {{"matlab", count}};
  return s;
}

TEST(License, UnknownOrExcessiveRequestsAreRefused) {
  Cluster c(1, with_licenses());
  const auto says = [&](const JobSpec& s, const std::string& text) {
    const Reply reply = c.try_submit(s);
    EXPECT_TRUE(reply.failed);
    EXPECT_EQ(reply.error.message.find("Invalid license specification: "), 0u);
    EXPECT_NE(reply.error.message.find(text), std::string::npos) << reply.error.message;
  };
  says(licensed(3), "3 of \"matlab\" asked for, the cluster has 2");
  JobSpec s = licensed(1);
  s.licenses.push_back({"ansys", 1});
  says(s, "no licences called \"ansys\"");
  s.licenses = {{"matlab", 1}, {"matlab", 1}};
  says(s, "named twice");
  s.licenses = {{"matlab", 0}};
  says(s, "0 of");
}

TEST(License, EngineCountsLicencesOfRunningJobs) {
  Cluster c(2, with_licenses());
  const JobKey first = c.submit(licensed(1)), second = c.submit(licensed(2)),
               third = c.submit(licensed(1));
  c.plan({c.group(first, {1}), c.group(second, {1}), c.group(third, {2})});
  EXPECT_EQ(c.job(first).state, JobState::configuring);
  EXPECT_EQ(c.job(second).state, JobState::pending) << "one of two is left";
  EXPECT_EQ(c.job(third).state, JobState::configuring);
  EXPECT_EQ(*c.state().licenses_used.find("matlab"), 2u);
  PlanGroup cheat = c.group(second, {1});
  cheat.starts[0].licenses.clear();
  c.plan({cheat});
  EXPECT_EQ(c.job(second).state, JobState::pending) << "it must hold what it asked for";
}

TEST(License, IsReturnedAtTheEndAndHeldOnceAfterARequeue) {
  Cluster c(2, with_licenses());
  const JobKey key = c.submit(licensed(1));
  c.start(key, {1});
  c.user(kAlice, RequeueJobs{Cluster::named(key), false});
  c.progress(1, key, AttemptPhase::done, 0);
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_FALSE(c.state().licenses_used.find("matlab"));
  c.start(key, {1});
  EXPECT_EQ(*c.state().licenses_used.find("matlab"), 1u);
  c.progress(1, key, AttemptPhase::done, 0);
  EXPECT_FALSE(c.state().licenses_used.find("matlab"));
}

JobSpec alone(UserId uid) {
  JobSpec s = Cluster::spec(uid);
  s.exclusive_user = true;
  return s;
}

TEST(ExclusiveUser, IsCheckedByTheEngineForEachPlan) {
  Cluster c(2);
  const JobKey alice = c.submit(alone(kAlice)), bob = c.submit(Cluster::spec(kBob)),
               bob_alone = c.submit(alone(kBob)), alice_too = c.submit();
  c.plan({c.group(alice, {1}), c.group(bob, {1})});
  EXPECT_EQ(c.job(alice).state, JobState::configuring);
  EXPECT_EQ(c.job(bob).state, JobState::pending);
  c.plan({c.group(bob, {1})});
  EXPECT_EQ(c.job(bob).state, JobState::pending);
  c.allocate(alice_too, {1});
  c.plan({c.group(bob, {2}), c.group(bob_alone, {1})});
  EXPECT_EQ(c.job(bob).state, JobState::configuring);
  EXPECT_EQ(c.job(bob_alone).state, JobState::pending);
  c.allocate(bob_alone, {2});
}

}  // namespace
}  // namespace ares::core
