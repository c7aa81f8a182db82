// Tests: decide_submit
// Arrays, and several jobs in one request: their ids, their shared specification, and that all are accepted or none.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

TEST(Submit, ArrayReservesAJobIdForEveryTask) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.array.emplace();
  s.array->insert(3, 7);
  const JobKey array = c.submit(s);
  const JobKey next = c.submit();
  EXPECT_EQ(next.job.value(), array.job.value() + 6);
  Cancel by_number;
  by_number.jobs.own_ids = {JobId{array.job.value() + 2}};
  EXPECT_FALSE(c.user(kAlice, by_number).failed);
  const JobKey second{array.job, TaskIndex{4}};
  EXPECT_EQ(c.job(second).state, JobState::cancelled);
  EXPECT_EQ(c.job(second).own_id.value(), array.job.value() + 2);
}

SubmitMany many(std::vector<JobSpec> specs) {
  SubmitMany submit;
  for (JobSpec& spec : specs)
    submit.specs.push_back(std::make_shared<const JobSpec>(std::move(spec)));
  return submit;
}

TEST(Submit, SeveralAtOnceGetConsecutiveIdsAndOneReply) {
  Cluster c;
  std::vector<JobSpec> specs(3, Cluster::spec());
  specs[1].array.emplace();
  specs[1].array->insert(0, 9);
  specs[2].name = "last";
  const Reply reply = c.user(kAlice, many(specs), "together");
  ASSERT_FALSE(reply.failed) << reply.error.message;
  ASSERT_EQ(reply.jobs.size(), 3u);
  EXPECT_EQ(reply.jobs[1].job.value(), reply.jobs[0].job.value() + 1);
  EXPECT_EQ(reply.jobs[2].job.value(), reply.jobs[1].job.value() + 11);
  EXPECT_EQ(c.job(reply.jobs[2]).spec->name, "last");
  EXPECT_EQ(c.submit().job.value(), reply.jobs[2].job.value() + 1);

  const Reply again = c.user(kAlice, many(specs), "together");
  EXPECT_EQ(again.jobs, reply.jobs);
}

TEST(Submit, SeveralAtOnceAreAllAcceptedOrNone) {
  Cluster c;
  std::vector<JobSpec> specs(3, Cluster::spec());
  specs[2].partitions = {"nope"};
  const std::size_t before = c.state().jobs.size();
  const Reply reply = c.user(kAlice, many(specs));
  EXPECT_TRUE(reply.failed);
  EXPECT_EQ(reply.error.message, "job 3 of 3: Invalid partition name specified: nope");
  EXPECT_EQ(c.state().jobs.size(), before);
  EXPECT_TRUE(c.user(kAlice, many({})).failed);
}

// Regression: each job's specification was checked again, and its name compared with all earlier jobs.
TEST(Submit, SharedSpecificationIsCheckedOnce) {
  Cluster c(300);
  JobSpec s = Cluster::spec();
  s.dependencies = {{DependencyKind::singleton, {}, {}}};
  for (int i = 2; i <= 300; ++i) s.excluded_nodes.push_back("n" + std::to_string(i));
  SubmitMany submit;
  submit.specs.assign(10'000, std::make_shared<const JobSpec>(std::move(s)));
  const Reply reply = c.user(kAlice, submit);
  ASSERT_FALSE(reply.failed) << reply.error.message;
  ASSERT_EQ(reply.jobs.size(), 10'000u);
  EXPECT_EQ(c.job(reply.jobs.front()).spec, c.job(reply.jobs.back()).spec);
  EXPECT_TRUE(c.job(reply.jobs.front()).waiting_for.empty());
  EXPECT_EQ(c.job(reply.jobs.back()).waiting_for.size(), 1u);
}

TEST(Submit, EventsPerRequestAreBounded) {
  Cluster c;
  JobSpec tasks = Cluster::spec();
  tasks.array.emplace();
  tasks.array->insert(0, 999);
  const JobKey array = c.submit(tasks);
  Cancel all;
  JobSpec s = Cluster::spec();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    all.jobs.keys.push_back({array.job, TaskIndex{i}});
    s.dependencies.push_back({DependencyKind::after_ok, all.jobs.keys.back(), {}});
  }
  ASSERT_FALSE(c.user(kAlice, all).failed);
  const std::size_t before = c.state().jobs.size();
  SubmitMany submit;
  submit.specs.assign(200, std::make_shared<const JobSpec>(std::move(s)));
  const Reply reply = c.user(kAlice, submit);
  EXPECT_EQ(reply.error.code, ErrorCode::invalid_argument);
  EXPECT_NE(reply.error.message.find("job 100 of 200: too many dependencies"), std::string::npos)
      << reply.error.message;
  EXPECT_EQ(c.state().jobs.size(), before);
}

TEST(Submit, EqualJobsShareOneSpecification) {
  Cluster c;
  const JobKey first = c.submit();
  const JobKey second = c.submit();
  JobSpec other = Cluster::spec();
  other.name = "other";
  const JobKey third = c.submit(other);
  const JobKey fourth = c.submit();
  EXPECT_EQ(c.job(first).spec, c.job(second).spec);
  EXPECT_NE(c.job(first).spec, c.job(third).spec);
  EXPECT_EQ(c.job(first).spec, c.job(fourth).spec);
}

}  // namespace
}  // namespace ares::core
