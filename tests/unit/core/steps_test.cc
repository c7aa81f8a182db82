// Tests: master_port
// Steps in the engine: what a node reports of them, signals to one of them, and the port of an attempt.
#include <gmock/gmock.h>

#include "core/job/effects/effects.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::HasSubstr;

JobSpec wide() {
  JobSpec spec = Cluster::spec();
  spec.min_nodes = spec.max_nodes = spec.tasks = 2;
  return spec;
}

class StepsTest : public testing::Test {
 protected:
  static StepRecord step(std::int64_t number, Time started, Time ended) {
    StepRecord record;
    record.number = number;
    record.state = StepState::completed;
    record.started = started;
    record.ended = ended;
    return record;
  }
  std::vector<StepsReported> reported() const {
    std::vector<StepsReported> all;
    for (const auto& event : c.events)
      if (const auto* one = std::get_if<StepsReported>(&event->body)) all.push_back(*one);
    return all;
  }
  Reply signal(JobKey key, std::uint32_t number, std::int32_t signal, UserId by = kAlice) {
    Cancel command;
    command.jobs = Cluster::named(key);
    command.signal = signal;
    command.step = number;
    return c.user(by, command);
  }
  std::uint16_t port(JobKey key) const { return c.job(key).allocation->master_port; }

  Cluster c;
};

TEST_F(StepsTest, StepsAreRecordedOnceWithTheEndThatTheFirstNodeReports) {
  const JobKey key = c.submit(wide());
  c.start(key, {1, 2});
  const Time began = *c.job(key).started;
  c.now += Seconds{60};
  AttemptReport other = c.report(key, AttemptPhase::done);
  AttemptReport first = c.report(key, AttemptPhase::done);
  first.steps = {step(kBatchStep, began, began + Seconds{60}),
                 step(0, began - Seconds{500}, began + Seconds{9999})};
  first.steps[1].state = StepState::running;
  c.from_node(1, Progress{first});
  c.from_node(1, Progress{first});
  c.from_node(2, Progress{other});
  ASSERT_EQ(reported().size(), 1u);
  const StepRecord told = reported()[0].steps.at(1);
  EXPECT_EQ(told.started, began) << "a node's clock may be wrong";
  EXPECT_EQ(told.ended, c.now);
  EXPECT_EQ(told.state, StepState::cancelled) << "nothing of an attempt runs after its end";
}

TEST_F(StepsTest, SignalThatEndedTheScriptIsItsOwnFaultUnlessTheJobWasEnded) {
  const auto state_after = [&](bool cancelled) {
    const JobKey key = c.submit();
    c.start(key, {1});
    if (cancelled) c.cancel(key);
    AttemptReport report = c.report(key, AttemptPhase::done);
    report.exit.signal = 15;
    report.steps = {step(kBatchStep, c.now, c.now)};
    c.from_node(1, Progress{report});
    return reported().back().steps.at(0).state;
  };
  EXPECT_EQ(state_after(false), StepState::failed);
  EXPECT_EQ(state_after(true), StepState::cancelled);
}

TEST_F(StepsTest, AttemptWithoutStepsCausesNoEvent) {
  const JobKey key = c.submit();
  c.start(key, {1});
  c.progress(1, key, AttemptPhase::done);
  EXPECT_TRUE(reported().empty());
}

TEST_F(StepsTest, SignalOfAStepGoesToTheFirstNodeAloneAndTheJobGoesOn) {
  const JobKey key = c.submit(wide());
  c.start(key, {1, 2});
  c.forget_sent();
  ASSERT_FALSE(signal(key, 3, 10).failed);
  ASSERT_FALSE(signal(key, 3, 0).failed) << "0 ends the step";
  EXPECT_EQ(c.sent<SignalStep>(1), 2u);
  EXPECT_EQ(c.sent<SignalStep>(2) + c.sent<Signal>(1) + c.sent<Kill>(1), 0u);
  const SignalStep* last = c.last_sent<SignalStep>(1);
  EXPECT_TRUE(last->step == 3 && last->signal == 0 && last->by == kAlice);
  EXPECT_EQ(c.job(key).state, JobState::running);
}

TEST_F(StepsTest, OnlyTheUserAndOperatorsSignalStepsOfRunningJobs) {
  const JobKey key = c.submit();
  EXPECT_THAT(signal(key, 0, 0).error.message, HasSubstr("does not run yet"));
  c.start(key, {1});
  EXPECT_EQ(signal(key, 0, 0, kBob).error.code, ErrorCode::permission_denied);
  EXPECT_FALSE(signal(key, 0, 0, kOperator).failed);
}

TEST_F(StepsTest, AttemptOfSeveralNodesGetsAPortThatNoOtherHasOnItsFirstNode) {
  const JobKey one = c.submit(wide()), two = c.submit(wide()), alone = c.submit();
  c.plan({c.group(one, {1, 2}), c.group(two, {1, 3}), c.group(alone, {1})});
  EXPECT_NE(port(one), 0);
  EXPECT_NE(port(two), 0);
  EXPECT_NE(port(one), port(two));
  EXPECT_EQ(port(alone), 0) << "one task on one node has no other to find";
  EXPECT_EQ(c.last_sent<Prepare>(2)->launch.master_port, port(one));
  const JobKey later = c.submit(wide());
  c.plan({c.group(later, {1, 4})});
  EXPECT_TRUE(port(later) != port(one) && port(later) != port(two));
}

TEST_F(StepsTest, NextAttemptGetsAnotherPort) {
  const JobKey key = c.submit(wide());
  c.start(key, {1, 2});
  const std::uint16_t before = port(key);
  RequeueJobs again;
  again.jobs = Cluster::named(key);
  ASSERT_FALSE(c.user(kAlice, again).failed);
  for (const int node : {1, 2}) c.progress(node, key, AttemptPhase::done);
  c.tick(Seconds{60});
  c.allocate(key, {1, 2});
  EXPECT_NE(port(key), before);
  EXPECT_NE(port(key), 0);
}

TEST(MasterPort, PortIsFreeAgainOnlyWhenTheFirstNodeHasReleasedTheAttempt) {
  Policy rules = Cluster::default_policy();
  rules.master_ports = {20000, 20000};
  Cluster c(4, rules);
  const JobKey one = c.submit(wide()), two = c.submit(wide());
  c.start(one, {1, 2});
  EXPECT_EQ(c.job(one).allocation->master_port, 20000);
  c.cancel(one);
  c.allocate(two, {1, 3});
  EXPECT_EQ(c.job(two).allocation->master_port, 0) << "the only port is still in use";
  c.cancel(two);
  for (const int node : {1, 3}) c.progress(node, two, AttemptPhase::never_ran);
  for (const int node : {1, 2}) c.progress(node, one, AttemptPhase::done);
  const JobKey three = c.submit(wide());
  c.allocate(three, {1, 2});
  EXPECT_EQ(c.job(three).allocation->master_port, 20000);
}

TEST(MasterPort, WithoutARangeThereIsNoPort) {
  Policy rules = Cluster::default_policy();
  rules.master_ports = {};
  Cluster c(4, rules);
  const JobKey key = c.submit(wide());
  c.allocate(key, {1, 2});
  EXPECT_EQ(c.job(key).allocation->master_port, 0);
}

}  // namespace
}  // namespace ares::core
