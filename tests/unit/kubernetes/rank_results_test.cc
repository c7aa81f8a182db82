#include "exec/kubernetes/agent/pods/rank_results.h"

#include <gtest/gtest.h>

namespace ares::kubernetes {
namespace {

RankEnd ended(int code, Seconds at, bool was_killed = false) {
  RankEnd end;
  end.report.phase = AttemptPhase::done;
  end.report.exit.code = code;
  end.report.ended_at = Time(at);
  end.was_killed = was_killed;
  return end;
}

TEST(RankResults, AllSucceedOrTheFirstFailureCounts) {
  EXPECT_EQ(joint_report({ended(0, Seconds(1)), ended(0, Seconds(9))}).exit, ExitStatus{});
  const AttemptReport failed =
      joint_report({ended(1, Seconds(8)), ended(4, Seconds(5)), ended(3, Seconds(7))});
  EXPECT_EQ(failed.exit.code, 4);
  EXPECT_EQ(failed.detail, "") << "the script failed, not its launch";
  EXPECT_EQ(joint_report({ended(2, Seconds(1)), ended(3, Seconds(1))}).exit.code, 2);
}

TEST(RankResults, OneThatWasKilledDidNotFailFirst) {
  RankEnd killed = ended(0, Seconds(5), true);
  killed.report.exit.signal = 15;
  EXPECT_EQ(joint_report({killed, ended(7, Seconds(5))}).exit.code, 7);
  EXPECT_EQ(joint_report({ended(0, Seconds(1)), killed}).exit.signal, 15) << "cancelled";
}

TEST(RankResults, AnEndThatIsNotToBeKnownLooksLikeARunningRank) {
  RankEnd end = ended(4, Seconds(5));
  end.report.detail = "x";
  end.report.ran_since = Time(Seconds(1));
  AttemptReport running;
  running.phase = AttemptPhase::running;
  running.ran_since = Time(Seconds(1));
  EXPECT_EQ(as_running(end.report), running);
}

TEST(RankResults, OnlyIfNoRankRanTheJobNeverRan) {
  RankEnd never = ended(0, Seconds(3));
  never.report.phase = AttemptPhase::never_ran;
  never.report.detail = "evicted";
  EXPECT_EQ(joint_report({never, never}).phase, AttemptPhase::never_ran);
  EXPECT_EQ(joint_report({never, ended(0, Seconds(3))}).phase, AttemptPhase::lost);
  EXPECT_EQ(joint_report({ended(0, Seconds(3)), never}).phase, AttemptPhase::lost);
  RankEnd killed = never;
  killed.was_killed = true;
  killed.report.fault = LaunchFault::system;
  never.report.fault = LaunchFault::node;
  EXPECT_EQ(joint_report({killed, never}).fault, LaunchFault::node)
      << "that of the rank that failed first";
}

TEST(RankResults, ALostRankIsAFailure) {
  RankEnd lost = ended(0, Seconds(3));
  lost.report.phase = AttemptPhase::lost;
  lost.report.detail = "evicted";
  EXPECT_TRUE(has_failed(lost.report));
  const AttemptReport report = joint_report({ended(0, Seconds(4)), lost});
  EXPECT_EQ(report.phase, AttemptPhase::lost);
  EXPECT_EQ(report.detail, "rank 1: evicted");
}

}  // namespace
}  // namespace ares::kubernetes
