#include "kubernetes_scale/simulated/pods.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ares::kubernetes_scale {
namespace {

using std::chrono::seconds;
using Kind = PodCall::Kind;

constexpr BootTime kStart{seconds(1000)};

SeenPod bound_pod() {
  SeenPod pod;
  pod.space = "jobs";
  pod.name = pod.uid = "a";
  pod.is_bound = true;
  return pod;
}

class SimulatedPodsTest : public testing::Test {
 protected:
  // The only call that is due; it succeeds.
  std::optional<PodCall> make_call(BootTime now) {
    std::vector<PodCall> calls = pods.due(now);
    if (calls.size() != 1) return std::nullopt;
    pods.done(calls.front(), true, now);
    return calls.front();
  }
  bool is_quiet(BootTime now) { return pods.due(now).empty(); }

  SimulatedPods pods{seconds(2)};
};

TEST_F(SimulatedPodsTest, APodRunsForItsTimeAndEnds) {
  pods.see(bound_pod(), kStart);
  EXPECT_EQ(make_call(kStart)->kind, Kind::report_running);
  EXPECT_TRUE(is_quiet(kStart + seconds(1)));
  EXPECT_EQ(pods.next_deadline(), kStart + seconds(2));
  const auto end = make_call(kStart + seconds(2));
  EXPECT_EQ(end->kind, Kind::report_ended);
  EXPECT_FALSE(end->is_killed);
  EXPECT_TRUE(is_quiet(kStart + seconds(100)));
}

TEST_F(SimulatedPodsTest, APodThatIsNotBoundIsLeftAlone) {
  SeenPod pod = bound_pod();
  pod.is_bound = false;
  pods.see(pod, kStart);
  EXPECT_TRUE(is_quiet(kStart));
}

TEST_F(SimulatedPodsTest, TheTimeOfAGatedPodBeginsWithItsGo) {
  SeenPod pod = bound_pod();
  pod.waits_for_gate = true;
  pods.see(pod, kStart);
  EXPECT_EQ(make_call(kStart)->kind, Kind::report_running);
  EXPECT_FALSE(pods.next_deadline());
  pod.has_go = true;
  pods.see(pod, kStart + seconds(50));
  EXPECT_TRUE(is_quiet(kStart + seconds(51)));
  EXPECT_EQ(make_call(kStart + seconds(52))->kind, Kind::report_ended);
}

TEST_F(SimulatedPodsTest, ADeletedPodIsKilledAndThenRemovedOnce) {
  SeenPod pod = bound_pod();
  pods.see(pod, kStart);
  make_call(kStart);
  pod.is_deleted = true;
  pods.see(pod, kStart + seconds(1));
  const auto end = make_call(kStart + seconds(1));
  EXPECT_EQ(end->kind, Kind::report_ended);
  EXPECT_TRUE(end->is_killed);
  EXPECT_EQ(make_call(kStart + seconds(1))->kind, Kind::remove);
  pods.see(pod, kStart + seconds(2));
  EXPECT_TRUE(is_quiet(kStart + seconds(100)));
}

TEST_F(SimulatedPodsTest, APodHasOneCallAtATime) {
  pods.see(bound_pod(), kStart);
  const std::vector<PodCall> calls = pods.due(kStart);
  ASSERT_EQ(calls.size(), 1u);
  pods.see(bound_pod(), kStart);
  EXPECT_TRUE(is_quiet(kStart + seconds(100)));
}

TEST_F(SimulatedPodsTest, ACallThatFailsIsMadeAgain) {
  pods.see(bound_pod(), kStart);
  pods.done(pods.due(kStart).front(), false, kStart);
  EXPECT_TRUE(is_quiet(kStart));
  ASSERT_TRUE(pods.next_deadline());
  EXPECT_EQ(make_call(*pods.next_deadline())->kind, Kind::report_running);
}

TEST_F(SimulatedPodsTest, NothingIsDueForAPodThatIsGone) {
  pods.see(bound_pod(), kStart);
  const std::vector<PodCall> calls = pods.due(kStart);
  pods.gone("a");
  pods.done(calls.front(), false, kStart);
  EXPECT_FALSE(pods.next_deadline());
}

TEST_F(SimulatedPodsTest, APodThatHadEndedBeforeIsNotRunAgain) {
  SeenPod pod = bound_pod();
  pod.has_ended = true;
  pods.see(pod, kStart);
  EXPECT_TRUE(is_quiet(kStart));
}

TEST(SeenPodTest, OnlyADeletionWithGraceWaitsForTheKubelet) {
  kubernetes::Json pod = {{"metadata", {{"uid", "a"}, {"deletionGracePeriodSeconds", 0}}}};
  EXPECT_FALSE(read_seen_pod(pod).is_deleted);
  pod["metadata"]["deletionGracePeriodSeconds"] = 1;
  EXPECT_TRUE(read_seen_pod(pod).is_deleted);
}

}  // namespace
}  // namespace ares::kubernetes_scale
