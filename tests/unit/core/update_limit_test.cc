// Tests: decide_update, bulk_action, select
// Changes of time limits by so much, and filters that select nothing.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

UpdateJob change_limit(JobSelector jobs, Seconds change) {
  UpdateJob update;
  update.jobs = std::move(jobs);
  update.set_time_limit = true;
  update.time_limit_change = change;
  return update;
}

JobSelector called(const std::string& name) {
  JobSelector jobs;
  jobs.everything = true;
  jobs.name = name;
  return jobs;
}

JobKey submit(Cluster& c, const std::string& name, std::optional<Seconds> limit) {
  JobSpec s = Cluster::spec();
  s.name = name;
  s.time_limit = limit;
  return c.submit(s);
}

TEST(UpdateLimit, ChangeIsAddedToTheLimitOfEachJob) {
  Cluster c;
  const JobKey first = submit(c, "x", Seconds{600}), second = submit(c, "x", Seconds{1200});
  const JobKey other = submit(c, "y", Seconds{600}), without = submit(c, "x", std::nullopt);
  const Reply reply = c.user(kOperator, change_limit(called("x"), Seconds{300}));
  EXPECT_FALSE(reply.failed) << reply.error.message;
  EXPECT_EQ(c.job(first).time_limit, Seconds{900});
  EXPECT_EQ(c.job(second).time_limit, Seconds{1500});
  EXPECT_EQ(c.job(other).time_limit, Seconds{600});
  EXPECT_EQ(c.job(without).time_limit, Seconds{3900}) << "that of its partition";
}

TEST(UpdateLimit, ChangeOfARunningJobCountsFromTheLimitOfItsAttempt) {
  Cluster c;
  const JobKey key = submit(c, "x", Seconds{7200});
  c.start(key, {1});  // by the fixture with a limit of an hour
  ASSERT_FALSE(c.user(kAlice, change_limit(Cluster::named(key), Seconds{-600})).failed);
  EXPECT_EQ(c.job(key).allocation->time_limit, Seconds{3000});
}

TEST(UpdateLimit, OwnersMayOnlyLowerIt) {
  Cluster c;
  const JobKey key = submit(c, "x", Seconds{600});
  EXPECT_EQ(c.user(kAlice, change_limit(Cluster::named(key), Seconds{60})).error.code,
            ErrorCode::permission_denied);
  EXPECT_EQ(c.job(key).time_limit, Seconds{600});
  ASSERT_FALSE(c.user(kAlice, change_limit(Cluster::named(key), Seconds{-60})).failed);
  EXPECT_EQ(c.job(key).time_limit, Seconds{540});
}

TEST(UpdateLimit, JobWithoutALimitOrWithNothingLeftIsRefusedByItsId) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.name = "x";
  const JobKey less = submit(c, "x", Seconds{600}), more = submit(c, "x", Seconds{1200});
  const Reply reply = c.user(kAlice, change_limit(called("x"), Seconds{-600}));
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("job " + std::to_string(less.job.value()) +
                                     ": its time limit of 00:10:00 is not longer"),
            std::string::npos)
      << reply.error.message;
  EXPECT_EQ(c.job(less).time_limit, Seconds{600});
  EXPECT_EQ(c.job(more).time_limit, Seconds{600});

  UpdateJob unlimited;
  unlimited.jobs = Cluster::named(more);
  unlimited.set_time_limit = true;
  ASSERT_FALSE(c.user(kOperator, unlimited).failed);
  EXPECT_EQ(c.job(more).time_limit, Seconds{0});
  for (const Seconds change : {Seconds{60}, Seconds{-60}}) {
    const Reply none = c.user(kOperator, change_limit(Cluster::named(more), change));
    EXPECT_NE(none.error.message.find("job " + std::to_string(more.job.value()) +
                                      ": it has no time limit"),
              std::string::npos)
        << none.error.message;
  }
  EXPECT_EQ(c.job(more).time_limit, Seconds{0});
}

TEST(UpdateLimit, ChangesTooLargeToAddAreRefusedOrBounded) {
  Cluster c;
  const JobKey key = submit(c, "x", Seconds{600});
  EXPECT_TRUE(c.user(kOperator, change_limit(Cluster::named(key), Seconds::min())).failed);
  EXPECT_EQ(c.job(key).time_limit, Seconds{600});
  UpdateJob both = change_limit(Cluster::named(key), Seconds{60});
  both.time_limit = Seconds{900};
  EXPECT_TRUE(c.user(kOperator, both).failed);
  EXPECT_EQ(c.job(key).time_limit, Seconds{600});
}

TEST(UpdateLimit, ArrayAndItsTaskEachChangeTheirOwn) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.time_limit = Seconds{600};
  s.array = *parse_interval_set("0-3");
  const JobKey array = c.submit(s);
  const JobKey task{array.job, TaskIndex{2}};
  ASSERT_FALSE(c.user(kAlice, change_limit(Cluster::named(task), Seconds{-60})).failed);
  ASSERT_FALSE(c.user(kAlice, change_limit(Cluster::named(array), Seconds{-60})).failed);
  EXPECT_EQ(c.job(task).time_limit, Seconds{480});
  EXPECT_EQ(c.job(array).time_limit, Seconds{540});
}

TEST(Filter, ThatSelectsNothingIsAnErrorExceptForCancel) {
  Cluster c;
  submit(c, "x", Seconds{600});
  for (const UserBody& body : std::initializer_list<UserBody>{
           HoldJobs{called("typo")}, ReleaseJobs{called("typo")}, RequeueJobs{called("typo")},
           change_limit(called("typo"), Seconds{-60})}) {
    const Reply reply = c.user(kAlice, body);
    EXPECT_EQ(reply.error.code, ErrorCode::not_found);
    EXPECT_EQ(reply.error.message, "no job of user alice that has not ended matches name=typo");
  }
  EXPECT_EQ(c.user(kOperator, HoldJobs{called("typo")}).error.message,
            "no job that has not ended matches name=typo");
  EXPECT_EQ(c.user(kBob, HoldJobs{called("x")}).error.code, ErrorCode::not_found);
  Cancel cancel;
  cancel.jobs = called("typo");
  EXPECT_FALSE(c.user(kAlice, cancel).failed);
}

TEST(Filter, WhoseJobsAllRefuseSaysWhy) {
  Cluster c;
  const JobKey running = submit(c, "x", Seconds{7200});
  c.start(running, {1});  // by the fixture with a limit of an hour
  const Reply reply = c.user(kAlice, HoldJobs{called("x")});
  EXPECT_EQ(reply.error.code, ErrorCode::failed_precondition);
  EXPECT_NE(reply.error.message.find("Job is no longer pending"), std::string::npos)
      << reply.error.message;
  const JobKey pending = submit(c, "x", Seconds{600});
  EXPECT_FALSE(c.user(kAlice, HoldJobs{called("x")}).failed) << "one of them was held";
  EXPECT_EQ(c.job(pending).hold, Hold::user);
}

}  // namespace
}  // namespace ares::core
