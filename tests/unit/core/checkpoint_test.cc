// Checkpoints in the engine: which reports of nodes commit them, what a later attempt begins from, and what nodes hear.
#include <gmock/gmock.h>

#include "unit/core/engine_fixture.h"

namespace ares::core {
namespace {

using testing::ElementsAre;

class CheckpointTest : public testing::Test {
 protected:
  JobKey submit(std::uint32_t keep = 2) {
    JobSpec spec = Cluster::spec();
    spec.checkpoint = CheckpointRequest{"/scratch", keep};
    return c.submit(spec);
  }
  JobKey running(std::uint32_t keep = 2) {
    const JobKey key = submit(keep);
    c.start(key, {1});
    c.tick(Seconds{100});
    return key;
  }
  Checkpoint checkpoint(JobKey key, std::uint64_t sequence) {
    return {sequence,
            c.job(key).attempt,
            {1, 2, 3},
            Bytes(10),
            "/scratch/1/" + std::to_string(sequence),
            c.now};
  }
  AttemptReport with(JobKey key, std::vector<std::uint64_t> sequences,
                     AttemptPhase phase = AttemptPhase::running) {
    AttemptReport report = c.report(key, phase);
    for (const std::uint64_t sequence : sequences)
      report.checkpoints.push_back(checkpoint(key, sequence));
    return report;
  }
  std::vector<std::uint64_t> committed(JobKey key) {
    std::vector<std::uint64_t> sequences;
    for (const Checkpoint& one : c.job(key).checkpoints) sequences.push_back(one.sequence);
    return sequences;
  }

  Cluster c;
};

TEST_F(CheckpointTest, ReportedOneIsCommittedOnceAndTheNodeHearsOfIt) {
  const JobKey key = running();
  c.forget_sent();
  for (int i = 0; i < 2; ++i) c.from_node(1, Progress{with(key, {1})});
  EXPECT_THAT(committed(key), ElementsAre(1));
  EXPECT_EQ(c.happened<CheckpointCommitted>(), 1u);
  ASSERT_TRUE(c.last_sent<CheckpointKnown>(1));
  EXPECT_EQ(c.last_sent<CheckpointKnown>(1)->sequence, 1u);
}

// The message that it is known may be lost.
TEST_F(CheckpointTest, NodeThatGoesOnReportingIsToldAgain) {
  const JobKey key = running();
  c.from_node(1, Progress{with(key, {1})});
  c.forget_sent();
  c.from_node(1, Heartbeat{5, {with(key, {1})}});
  ASSERT_TRUE(c.last_sent<CheckpointKnown>(1));
  EXPECT_EQ(c.last_sent<CheckpointKnown>(1)->sequence, 1u);
  c.forget_sent();
  c.from_node(1, Heartbeat{6, {with(key, {})}});
  EXPECT_FALSE(c.last_sent<CheckpointKnown>(1)) << "it has heard";
}

TEST_F(CheckpointTest, TheNewestAreKept) {
  const JobKey key = running();
  c.from_node(1, Progress{with(key, {1, 2})});
  c.from_node(1, Progress{with(key, {3})});
  EXPECT_THAT(committed(key), ElementsAre(3, 2));
  c.from_node(1, Progress{with(key, {2})});
  EXPECT_THAT(committed(key), ElementsAre(3, 2)) << "a report that arrives late";
}

TEST_F(CheckpointTest, NextAttemptBeginsFromThemNewestFirst) {
  const JobKey key = running();
  c.from_node(1, Progress{with(key, {1, 2})});
  c.from_node(1, Progress{with(key, {}, AttemptPhase::lost)});
  ASSERT_EQ(c.job(key).state, JobState::pending);
  c.tick(Seconds{600});
  c.forget_sent();
  c.plan({c.group(key, {2})});
  const Prepare* prepare = c.last_sent<Prepare>(2);
  ASSERT_TRUE(prepare);
  ASSERT_EQ(prepare->launch.checkpoints.size(), 2u);
  EXPECT_EQ(prepare->launch.checkpoints[0].sequence, 2u);
  EXPECT_EQ(prepare->launch.checkpoints[1].sequence, 1u);
}

TEST_F(CheckpointTest, LastReportOfAnAttemptCommitsAsWell) {
  const JobKey key = running();
  c.from_node(1, Progress{with(key, {1}, AttemptPhase::done)});
  EXPECT_EQ(c.job(key).state, JobState::completed);
  EXPECT_THAT(committed(key), ElementsAre(1));
}

TEST_F(CheckpointTest, AttemptThatWasFencedCommitsNothing) {
  const JobKey key = running();
  AttemptReport old = with(key, {7});
  c.from_node(1, Progress{c.report(key, AttemptPhase::lost)});
  c.tick(Seconds{600});
  c.start(key, {2});
  c.from_node(1, Progress{old});
  EXPECT_TRUE(committed(key).empty());
  old.fence = c.job(key).allocation->fence;
  c.from_node(1, Progress{old});
  EXPECT_TRUE(committed(key).empty()) << "the attempt is another one";
}

TEST_F(CheckpointTest, OnlyTheFirstNodeCommits) {
  JobSpec spec = Cluster::spec();
  spec.min_nodes = spec.max_nodes = spec.tasks = 2;
  spec.checkpoint = CheckpointRequest{"/scratch", 2};
  const JobKey key = c.submit(spec);
  c.start(key, {1, 2});
  c.from_node(2, Progress{with(key, {1})});
  EXPECT_TRUE(committed(key).empty());
  c.from_node(1, Progress{with(key, {1})});
  EXPECT_THAT(committed(key), ElementsAre(1));
}

TEST_F(CheckpointTest, JobThatDidNotAskCommitsNone) {
  const JobKey key = c.submit();
  c.start(key, {1});
  c.from_node(1, Progress{with(key, {1})});
  EXPECT_TRUE(committed(key).empty());
}

TEST_F(CheckpointTest, TimeIsThatOfTheControllerWhereTheClockOfTheNodeIsWrong) {
  const JobKey key = running();
  AttemptReport report = with(key, {1, 2});
  report.checkpoints[0].at = c.now - std::chrono::hours{1000};
  report.checkpoints[1].at = c.now + std::chrono::hours{1000};
  c.from_node(1, Progress{report});
  ASSERT_THAT(committed(key), ElementsAre(2, 1));
  EXPECT_EQ(c.job(key).checkpoints[1].at, *c.job(key).started);
  EXPECT_EQ(c.job(key).checkpoints[0].at, c.now);
}

TEST_F(CheckpointTest, FirstNodeTellsFromWhichOneTheAttemptBegan) {
  const JobKey key = running();
  c.from_node(1, Progress{with(key, {1, 2})});
  c.from_node(1, Progress{with(key, {}, AttemptPhase::lost)});
  EXPECT_FALSE(c.job(key).restored);
  c.tick(Seconds{600});
  c.start(key, {2});
  AttemptReport report = with(key, {});
  report.restored = Restored{c.job(key).attempt, 1, 1};
  for (int i = 0; i < 2; ++i) c.from_node(2, Progress{report});
  EXPECT_EQ(c.job(key).restored, report.restored);
  EXPECT_EQ(c.happened<CheckpointRestored>(), 1u);
  report.restored = Restored{AttemptNo{1}, 2, 0};
  c.from_node(2, Progress{report});
  EXPECT_EQ(c.job(key).restored->sequence, 1u) << "of another attempt";
}

TEST_F(CheckpointTest, SuspendedTimeBeforeItIsKept) {
  const JobKey key = running();
  c.user(kRoot, SuspendJobs{Cluster::named(key)});
  c.tick(Seconds{1000});
  c.user(kRoot, ResumeJobs{Cluster::named(key)});
  c.tick(Seconds{10});
  c.from_node(1, Progress{with(key, {1})});
  EXPECT_EQ(c.job(key).checkpoints[0].suspended, Duration{Seconds{1000}});
}

}  // namespace
}  // namespace ares::core
