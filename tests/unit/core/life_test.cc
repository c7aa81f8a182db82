// Tests: job_event_of, apply_attempt, apply_job, attempt_row, decide_jobs, follow, job/report
// The life of a job from submission to its end, as its owner and its nodes observe it.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

TEST(Life, RunsFromSubmissionToCompletion) {
  Cluster c;
  const JobKey key = c.submit();
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).spec->partitions, std::vector<std::string>{"main"});
  EXPECT_TRUE(c.state().pending.find(key));

  c.allocate(key, {1});
  ASSERT_EQ(c.sent<Prepare>(1), 1u);
  EXPECT_EQ(c.last_sent<Prepare>(1)->launch.fence, c.job(key).allocation->fence);
  EXPECT_TRUE(c.last_sent<Prepare>(1)->launch.leased);
  EXPECT_EQ(c.node(1).charges.size(), 1u);

  c.progress(1, key, AttemptPhase::ready);
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_EQ(c.sent<Go>(1), 1u);
  c.progress(1, key, AttemptPhase::running);
  EXPECT_EQ(c.job(key).allocation->nodes[0].phase, SharePhase::running);

  c.now += Seconds{5};
  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
  EXPECT_EQ(c.sent<Forget>(1), 1u);
  EXPECT_TRUE(c.node(1).charges.empty());
  ASSERT_TRUE(c.row(key, 1));
  EXPECT_EQ(c.row(key, 1)->state, JobState::completed);
  EXPECT_EQ(*c.row(key, 1)->ended - *c.row(key, 1)->started, Seconds{5});
}

TEST(Life, LateReportKeepsTheTimeOfTheEnd) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  const Time ended = c.now + Seconds{3};
  c.now += Seconds{120};  // the controller was away
  AttemptReport r = c.report(key, AttemptPhase::done);
  r.ended_at = ended;
  c.from_node(1, Progress{r});
  EXPECT_EQ(c.job(key).ended, ended);
  EXPECT_EQ(c.row(key, 1)->ended, ended);
}

// A controller that goes on from a recorded time that is ahead of all clocks. Regression: jobs took no time.
TEST(Life, NodeWhoseClockIsBehindReportsHowLongTheJobRan) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  const Time started = *c.job(key).started;
  AttemptReport r = c.report(key, AttemptPhase::done);
  r.ran_since = started - Seconds{600};
  r.ended_at = *r.ran_since + Seconds{30};
  c.now += Seconds{32};
  c.from_node(1, Progress{r});
  EXPECT_EQ(*c.row(key, 1)->ended - started, Seconds{30});
}

TEST(Life, NodeThatWasToldLateReportsWhenTheJobEnded) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport r = c.report(key, AttemptPhase::done);
  r.ran_since = *c.job(key).started + Seconds{20};
  r.ended_at = *r.ran_since + Seconds{5};
  c.now += Seconds{100};
  c.from_node(1, Progress{r});
  EXPECT_EQ(c.row(key, 1)->ended, r.ended_at);
}

struct Exit {
  std::string name;
  ExitStatus status;
  JobState state;
  Reason reason;
};

TEST(Life, ExitStatusDecidesTheFinalState) {
  const Exit cases[] = {
      {"success", {0, 0, false, false}, JobState::completed, Reason::none},
      {"exit code", {3, 0, false, false}, JobState::failed, Reason::non_zero_exit_code},
      {"signal", {0, 11, false, false}, JobState::failed, Reason::raised_signal},
      {"out of memory", {0, 9, true, false}, JobState::out_of_memory, Reason::out_of_memory},
      {"time limit", {0, 15, false, true}, JobState::timeout, Reason::time_limit},
  };
  for (const Exit& e : cases) {
    SCOPED_TRACE(e.name);
    Cluster c;
    const JobKey key = c.submit();
    c.start(key, {1});
    AttemptReport r = c.report(key, AttemptPhase::done);
    r.exit = e.status;
    c.from_node(1, Progress{r});
    EXPECT_EQ(c.job(key).state, e.state);
    EXPECT_EQ(c.job(key).reason, e.reason);
    EXPECT_EQ(c.row(key, 1)->exit, e.status);
  }
}

TEST(Life, AScriptThatCouldNotBeStartedIsALaunchFailure) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport r = c.report(key, AttemptPhase::done);
  r.exit = {1, 0, false, false};
  r.detail = "cannot open output file /nodir/x: No such file or directory";
  c.from_node(1, Progress{r});
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_EQ(c.job(key).reason, Reason::launch_failure);
  EXPECT_EQ(c.row(key, 1)->reason, Reason::launch_failure);
  EXPECT_EQ(c.row(key, 1)->exit.code, 0);
  EXPECT_EQ(c.row(key, 1)->exit.signal, 53) << "0:53, as in Slurm";
}

TEST(Life, GangStartsOnlyWhenAllNodesAreReady) {
  Cluster c;
  JobSpec s = Cluster::spec();
  s.min_nodes = s.max_nodes = 3;
  s.tasks = 3;
  const JobKey key = c.submit(s);
  c.allocate(key, {1, 3, 2});
  // Each node gets its rank and the list of all nodes.
  const int by_rank[] = {1, 3, 2};
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const LaunchSpec& launch = c.last_sent<Prepare>(by_rank[rank])->launch;
    EXPECT_EQ(launch.rank, rank);
    EXPECT_EQ(launch.node_name, "n" + std::to_string(by_rank[rank]));
    EXPECT_EQ(launch.share.node, c.job(key).allocation->nodes[rank].node);
    EXPECT_EQ(launch.layout->names, (std::vector<std::string>{"n1", "n3", "n2"}));
    EXPECT_EQ(launch.layout->list, "n[1,3,2]");
    EXPECT_EQ(launch.layout->cpus.size(), 3u);
    EXPECT_EQ(launch.layout->tasks.size(), 3u);
    EXPECT_EQ(launch.layout, c.last_sent<Prepare>(1)->launch.layout) << "they have it in common";
  }
  // A node that registers again gets the same launch again.
  c.register_node(3);
  EXPECT_EQ(c.sent<Prepare>(3), 2u);
  EXPECT_EQ(c.last_sent<Prepare>(3)->launch.rank, 1u);
  EXPECT_EQ(c.last_sent<Prepare>(3)->launch.layout->list, "n[1,3,2]");
  c.progress(1, key, AttemptPhase::ready);
  c.progress(3, key, AttemptPhase::ready);
  EXPECT_EQ(c.job(key).state, JobState::configuring);
  EXPECT_EQ(c.sent<Go>(1) + c.sent<Go>(2) + c.sent<Go>(3), 0u);
  c.progress(2, key, AttemptPhase::ready);
  EXPECT_EQ(c.job(key).state, JobState::running);
  EXPECT_EQ(c.sent<Go>(1) + c.sent<Go>(2) + c.sent<Go>(3), 3u);

  c.progress(1, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.sent<Kill>(1), 0u) << "the batch node has ended by itself";
  EXPECT_EQ(c.sent<Kill>(2) + c.sent<Kill>(3), 2u);
  c.progress(2, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completing);
  c.progress(3, key, AttemptPhase::done);
  EXPECT_EQ(c.job(key).state, JobState::completed);
}

TEST(Life, CancelWorksInEveryState) {
  Cluster c;
  const JobKey pending = c.submit(), configuring = c.submit(), running = c.submit();
  c.allocate(configuring, {1});
  c.start(running, {2});

  EXPECT_FALSE(c.cancel(pending).failed);
  EXPECT_EQ(c.job(pending).state, JobState::cancelled);
  ASSERT_TRUE(c.row(pending, 0)) << "accounting shows a job that never ran";
  EXPECT_EQ(c.row(pending, 0)->cancelled_by, kAlice);

  c.cancel(configuring);
  EXPECT_EQ(c.sent<Kill>(1), 1u);
  c.progress(1, configuring, AttemptPhase::never_ran);
  EXPECT_EQ(c.job(configuring).state, JobState::cancelled);

  c.cancel(running);
  AttemptReport r = c.report(running, AttemptPhase::done);
  r.exit.signal = 15;
  c.from_node(2, Progress{r});
  EXPECT_EQ(c.job(running).state, JobState::cancelled);
  EXPECT_EQ(c.job(running).exit.signal, 15);

  const Reply again = c.cancel(running);
  EXPECT_FALSE(again.failed) << "it is as requested";
  EXPECT_EQ(c.job(running).state, JobState::cancelled);
}

}  // namespace
}  // namespace ares::core
