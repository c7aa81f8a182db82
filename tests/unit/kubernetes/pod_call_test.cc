// Which turn the calls of an attempt have among those that wait for a limit.
#include "exec/kubernetes/agent/pods/pod_call.h"

#include <gtest/gtest.h>

#include "unit/kubernetes/pod_attempt_fixture.h"

namespace ares::kubernetes {
namespace {

using namespace pods_of_tests;

Turn turn_of(const PodAction& action, const PodAttempt& attempt) {
  const Settings settings;
  const NodeObject node;
  GateGo go;
  return pod_call(action, attempt, {settings, "jobs", "ares-c-70-0", node}, go).turn;
}

TEST(PodCallTest, WhatHasBegunGoesBeforeCreationsAndRemovals) {
  const PodAttempt attempt = ready();
  EXPECT_EQ(turn_of(BindPod{}, attempt), Turn::next);
  EXPECT_EQ(turn_of(WriteGo{}, attempt), Turn::next);
  EXPECT_EQ(turn_of(Annotate{}, attempt), Turn::next);
  EXPECT_EQ(turn_of(DeletePod{30}, attempt), Turn::next) << "it ends what runs";
  EXPECT_EQ(turn_of(RemoveFinalizer{}, attempt), Turn::removal);
}

TEST(PodCallTest, ThePodOfAnAttemptThatHasEndedIsRemovedInItsTurn) {
  PodAttempt attempt = running();
  attempt.observe(ended(going(pod_of()), exited(0), 0));
  ASSERT_TRUE(attempt.has_ended());
  EXPECT_EQ(turn_of(DeletePod{1}, attempt), Turn::removal);
}

TEST(PodCallTest, CreationsHaveTheirOwnTurn) {
  Launch launch = launch_of();
  launch.spec.launch.layout = std::make_shared<const NodeLayout>(
      std::vector<std::string>{"n1"}, std::vector<std::uint32_t>{1}, std::vector<std::uint32_t>{1});
  const PodAttempt attempt(launch, "node-uid");
  EXPECT_EQ(turn_of(CreatePod{}, attempt), Turn::begin);
  EXPECT_EQ(turn_of(CreateSecret{}, attempt), Turn::next);
}

}  // namespace
}  // namespace ares::kubernetes
