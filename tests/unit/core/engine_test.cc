// Tests: decide_plan, job/records
// The engine releases replies, effects and snapshots only after their commit.
#include "core/engine/engine.h"

#include <gtest/gtest.h>

#include "core/job/apply/apply.h"
#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

class Gate : public ::testing::Test {
 protected:
  Gate() : engine(ClusterState{}, std::make_shared<const Policy>()) {
    engine.handle({Activate{Epoch{1}, "h"}}, now, 0);
    ApplyConfig config;
    Partition p;
    p.name = "main";
    p.is_default = true;
    p.nodes = {"n1"};
    config.partitions = {p};
    config.nodes = {{"n1", Cluster::machine()}};
    engine.handle({config}, now, 0);
    (void)engine.take_batch();
    (void)engine.committed();
  }
  Command submission(const std::string& id) {
    UserCommand u;
    u.who = {kAlice, GroupId{1}, "alice", "h"};
    u.request_id = id;
    u.body = Submit{std::make_shared<const JobSpec>(Cluster::spec()), {}};
    return {u};
  }
  Time now{std::chrono::hours{500'000}};
  Engine engine;
};

TEST_F(Gate, RepliesWaitForTheirCommit) {
  engine.handle(submission("a"), now, 1);
  EXPECT_TRUE(engine.take_ready().replies.empty());
  ASSERT_TRUE(engine.has_batch());
  const EngineBatch batch = engine.take_batch();
  EXPECT_TRUE(engine.take_ready().replies.empty()) << "in flight is not committed";
  EXPECT_FALSE(batch.before.jobs.find(JobKey{JobId{1}, {}}));
  EXPECT_TRUE(batch.after.jobs.find(JobKey{JobId{1}, {}}));
  const Outgoing out = engine.committed();
  ASSERT_EQ(out.replies.size(), 1u);
  EXPECT_FALSE(out.replies[0].failed);
  EXPECT_TRUE(out.snapshot->jobs.find(JobKey{JobId{1}, {}}));
}

TEST_F(Gate, RepeatedRequestWaitsForTheCommitOfTheFirst) {
  engine.handle(submission("a"), now, 1);
  const EngineBatch batch = engine.take_batch();
  engine.handle(submission("a"), now, 2);
  EXPECT_FALSE(engine.has_batch()) << "it changed nothing";
  EXPECT_TRUE(engine.take_ready().replies.empty())
      << "its answer speaks of a job that is not durable";
  (void)engine.committed();
  const Outgoing ready = engine.take_ready();
  ASSERT_EQ(ready.replies.size(), 1u);
  EXPECT_EQ(ready.replies[0].jobs, (std::vector<JobKey>{{JobId{1}, {}}}));
}

TEST_F(Gate, CommandsBetweenTwoCommitsFormTheNextBatch) {
  engine.handle(submission("a"), now, 1);
  const EngineBatch first = engine.take_batch();
  engine.handle(submission("b"), now, 2);
  EXPECT_EQ(engine.committed().replies.size(), 1u);
  const EngineBatch second = engine.take_batch();
  EXPECT_EQ(second.first, first.last.next());
  EXPECT_EQ(second.before, first.after);
  EXPECT_EQ(engine.committed().replies[0].ticket, 2u);
}

TEST_F(Gate, ClockNeverGoesBack) {
  engine.handle(submission("a"), now, 1);
  engine.handle(submission("b"), now - std::chrono::hours{5}, 2);
  EXPECT_EQ(engine.state().jobs.find(JobKey{JobId{2}, {}})->submitted, now);
}

TEST_F(Gate, StateIsRebuiltFromRecordsAlone) {
  engine.handle(submission("a"), now, 1);
  ClusterState records = engine.state();
  records.pending = {};
  records.timers = {};
  records.request_ages = {};
  records.request_loads = {};
  records.dependents = {};
  Engine again(records, std::make_shared<const Policy>());
  EXPECT_EQ(again.state(), engine.state());
  again.handle(submission("b"), now, 1);
  ASSERT_EQ(again.take_ready().replies.size(), 1u);
  EXPECT_EQ(again.state().jobs.size(), 1u) << "nothing is decided before Activate";
}

TEST(Apply, EventThatDoesNotFitLeavesTheRecord) {
  Cluster c;
  const JobKey key = c.submit();
  ClusterState state = c.state();
  const Job before = *state.jobs.find(key);
  const EventBody misfits[] = {
      Started{{key, AttemptNo{1}}}, NodeReleased{{key, AttemptNo{1}}, NodeId{1}, {}},
      Forgotten{key}, Requeued{key, false, Hold::none, {}}, Released{JobKey{JobId{99}, {}}}};
  for (const EventBody& body : misfits) {
    apply(state, Event{state.lsn.next(), state.epoch, state.now, body});
    ASSERT_TRUE(state.jobs.find(key));
    EXPECT_EQ(*state.jobs.find(key), before);
  }
  EXPECT_EQ(state.lsn.value(), c.state().lsn.value() + std::size(misfits));
}

}  // namespace
}  // namespace ares::core
