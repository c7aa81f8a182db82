// Tests: decide_node, job/report, launch_guard
// A prolog or an epilog that failed on a node: tests/unit/core/launch_guard_test.cc has the faults that pass.
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

Reply beat(Cluster& c, int node, std::string fault, std::vector<AttemptReport> attempts = {}) {
  Heartbeat beat{1, std::move(attempts)};
  beat.fault = std::move(fault);
  return c.from_node(node, std::move(beat));
}

TEST(NodeProblem, FailedPrologDrainsTheNodeAndRequeuesTheJobUnharmed) {
  Cluster c;
  const JobKey key = c.submit();
  c.allocate(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::never_ran);
  report.detail = report.node_problem = "prolog exited with 1: no scratch";
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "prolog exited with 1: no scratch");
  EXPECT_EQ(c.job(key).state, JobState::pending);
  EXPECT_EQ(c.job(key).hold, Hold::none);
  EXPECT_EQ(c.job(key).restarts, 0u);
  beat(c, 1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::drain) << "only an operator resumes it";
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, ""});
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.node(1).admin, AdminState::up) << "the same report again";
}

TEST(NodeProblem, FailedEpilogDrainsTheNodeAndTheJobIsCompleted) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::done);
  report.node_problem = "epilog exited with 1";
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.job(key).state, JobState::completed);
  EXPECT_EQ(c.node(1).reason, "epilog exited with 1");
}

TEST(NodeProblem, WhileTheEpilogRunsTheJobIsCompletingAndTheNodeBusy) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::running, 3);
  report.ran_since = c.now;
  report.ended_at = c.now;
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.job(key).state, JobState::completing);
  EXPECT_EQ(c.job(key).exit.code, 3);
  EXPECT_EQ(c.node(1).charges.size(), 1u);
  const std::size_t before = c.happened<BatchFinished>();
  beat(c, 1, "", {report});
  EXPECT_EQ(c.happened<BatchFinished>(), before);
  report.phase = AttemptPhase::done;
  c.from_node(1, Progress{report});
  EXPECT_EQ(c.job(key).state, JobState::failed);
  EXPECT_TRUE(c.node(1).charges.empty());
}

// Regression: an operator who resumed a node after a failed epilog overruled a health check that failed
// as well, and that was not shown.
TEST(NodeProblem, ResumingForOneReasonDoesNotOverruleAFaultThatWasNotShown) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  AttemptReport report = c.report(key, AttemptPhase::done);
  report.node_problem = "epilog exited with 1";
  c.from_node(1, Progress{report});
  beat(c, 1, "health check exited with 1");
  EXPECT_EQ(c.node(1).reason, "epilog exited with 1");
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, ""});
  beat(c, 1, "health check exited with 1");
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "health check exited with 1");
  c.user(kOperator, UpdateNode{{"n1"}, AdminState::up, ""});
  beat(c, 1, "health check exited with 1");
  EXPECT_EQ(c.node(1).admin, AdminState::up) << "this one the operator has seen";
}

TEST(NodeProblem, WhatAPrologLeftIsNotForgottenWhenTheNodeIsHealthyAgain) {
  Cluster c;
  const JobKey key = c.submit();
  c.start(key, {1});
  beat(c, 1, "health check exited with 1");
  AttemptReport report = c.report(key, AttemptPhase::done);
  report.node_problem = "epilog exited with 1";
  c.from_node(1, Progress{report});
  beat(c, 1, "");
  EXPECT_EQ(c.node(1).admin, AdminState::drain);
  EXPECT_EQ(c.node(1).reason, "epilog exited with 1");
}

}  // namespace
}  // namespace ares::core
