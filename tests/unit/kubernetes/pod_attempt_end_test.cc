// Tests: kubernetes/pod_attempt
// What proves that a pod has ended, how, and by whose fault.
#include "exec/kubernetes/agent/pods/pod_attempt.h"

#include <gmock/gmock.h>

#include <csignal>

#include "unit/kubernetes/pod_attempt_fixture.h"

namespace ares::kubernetes {
namespace {

using namespace pods_of_tests;
using testing::HasSubstr;

TEST(PodAttemptTest, TheResultIsWhatTheGateSays) {
  PodAttempt attempt = running();
  attempt.observe(ended(going(pod_of()), exited(3), 3));
  const AttemptReport report = attempt.report();
  EXPECT_EQ(report.phase, AttemptPhase::done);
  EXPECT_EQ(report.exit.code, 3);
  EXPECT_EQ(report.usage.user_cpu, Seconds(2));
  EXPECT_EQ(report.ended_at, kWall + Seconds(5));
  EXPECT_FALSE(attempt.next(kBoot)) << "it stays until its end is recorded";
  attempt.release();
  EXPECT_EQ(take<DeletePod>(attempt).grace_s, 1);
  take<RemoveFinalizer>(attempt);
  EXPECT_FALSE(attempt.is_forgotten());
  attempt.vanish();
  EXPECT_TRUE(attempt.is_forgotten());
  EXPECT_EQ(attempt.report().phase, AttemptPhase::done);
}

TEST(PodAttemptTest, AGateThatWasKilledLeavesItsSignal) {
  PodAttempt attempt = running();
  PodObject pod = ended(going(pod_of()), {}, 137);
  pod.main_message.clear();
  pod.main_reason = "OOMKilled";
  attempt.observe(pod);
  EXPECT_EQ(attempt.report().exit.signal, 9);
  EXPECT_TRUE(attempt.report().exit.out_of_memory);
}

TEST(PodAttemptTest, AContainerThatWasStartedAgainIsLost) {
  PodAttempt attempt = running();
  GateResult result;
  result.end = GateResult::End::ran_before;
  result.why = "started again";
  attempt.observe(ended(going(pod_of()), result, 125));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  EXPECT_THAT(attempt.report().detail, HasSubstr("not run again"));
}

// The gate has made sure that a later start of the container runs nothing.
TEST(PodAttemptTest, AScriptThatWasNotStartedAlthoughToldToNeverRan) {
  GateResult result;
  result.end = GateResult::End::never_ran;
  result.is_sealed = true;
  result.why = "ended before its go";
  PodAttempt attempt = running();
  attempt.observe(ended(going(pod_of()), result, 143));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_EQ(attempt.report().fault, LaunchFault::node);
  PodAttempt deleted = running();
  PodObject pod = ended(going(pod_of()), result, 143);
  pod.is_deleted = true;
  deleted.observe(pod);
  EXPECT_EQ(deleted.report().fault, LaunchFault::system) << "another client of Kubernetes did that";
  pod.reason = "Evicted";
  PodAttempt evicted = running();
  evicted.observe(pod);
  EXPECT_EQ(evicted.report().fault, LaunchFault::node);
  // A gate of an earlier release, or one that could not make its mark, proves nothing.
  result.is_sealed = false;
  PodAttempt doubtful = running();
  doubtful.observe(ended(going(pod_of()), result, 143));
  EXPECT_EQ(doubtful.report().phase, AttemptPhase::lost);
}

TEST(PodAttemptTest, EvictionIsNotTheJobsFault) {
  PodAttempt attempt = running();
  PodObject pod = ended(going(pod_of()), exited(0), 0);
  pod.reason = "Evicted";
  pod.message = "low on memory";
  attempt.observe(pod);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  EXPECT_THAT(attempt.report().detail, HasSubstr("low on memory"));
}

// Another run would end in the same way.
TEST(PodAttemptTest, EvictionForMoreStorageThanAskedForIsTheJobsFault) {
  for (const char* message :
       {"Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
        "Container main exceeded its local ephemeral storage limit \"1Gi\". ",
        "Usage of EmptyDir volume \"ares-state\" exceeds the limit \"1Gi\". "}) {
    PodAttempt attempt = running();
    PodObject pod = ended(going(pod_of()), exited(0), 0);
    pod.reason = "Evicted";
    pod.message = message;
    attempt.observe(pod);
    EXPECT_EQ(attempt.report().phase, AttemptPhase::done) << message;
    EXPECT_EQ(attempt.report().exit.signal, SIGKILL) << message;
    EXPECT_THAT(attempt.report().detail, HasSubstr(message));
  }
  PodAttempt pressed = running();
  PodObject pod = ended(going(pod_of()), exited(0), 0);
  pod.reason = "Evicted";
  pod.message = "The node was low on resource: ephemeral-storage. Threshold quantity: 1Gi.";
  pressed.observe(pod);
  EXPECT_EQ(pressed.report().phase, AttemptPhase::lost);
}

TEST(PodAttemptTest, APodThatDisappearsAfterItsGoProvesNothing) {
  PodAttempt attempt = running();
  attempt.vanish();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  EXPECT_THAT(attempt.report().detail, HasSubstr("not known"));
  EXPECT_TRUE(attempt.may_run());
  attempt.node_booted("boot-1");
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  attempt.node_booted("boot-2");
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  EXPECT_FALSE(attempt.may_run());
}

TEST(PodAttemptTest, ARemovedNodeProvesNothingUntilItsAttemptIsGivenUp) {
  PodAttempt attempt = running();
  attempt.node_removed();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  EXPECT_THAT(attempt.report().detail, HasSubstr("node was removed from Kubernetes"));
  attempt.kill(true, std::nullopt);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running) << "a kill proves nothing either";
  attempt.give_up();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  EXPECT_FALSE(attempt.may_run());
  // The pod stays until the end is recorded, then nothing of it is left.
  attempt.release();
  take<DeletePod>(attempt);
  take<RemoveFinalizer>(attempt);
  attempt.vanish();
  EXPECT_TRUE(attempt.is_forgotten());
}

TEST(PodAttemptTest, WhatIsGivenUpBeforeItsNodeIsRemovedIsLostThen) {
  PodAttempt attempt = running();
  attempt.kill(true, std::nullopt);
  attempt.give_up();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running) << "its node can prove the end";
  PodAttempt vanished = attempt;
  attempt.node_removed();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  vanished.vanish();
  EXPECT_EQ(vanished.report().phase, AttemptPhase::lost);
}

TEST(PodAttemptTest, ANodeThatIsThereAgainProvesTheEndItself) {
  PodAttempt attempt = running();
  attempt.node_removed();
  attempt.node_found();
  EXPECT_EQ(attempt.report().detail, "");
  attempt.kill(true, std::nullopt);
  attempt.give_up();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  attempt.observe(ended(going(pod_of()), exited(0), 0));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::done);
}

TEST(PodAttemptTest, WithoutItsGoAnAttemptOnARemovedNodeNeverRuns) {
  PodAttempt attempt = ready();
  attempt.node_removed();
  attempt.go();
  EXPECT_FALSE(attempt.may_run());
  take<DeletePod>(attempt);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_TRUE(attempt.never_ran()->is_nodes_fault);
}

TEST(PodAttemptTest, AGoThatWasPerhapsWrittenIsWithdrawnWhenItsNodeIsRemoved) {
  PodAttempt attempt = ready();
  attempt.go();
  const std::optional<PodAction> go = attempt.next(kBoot);
  ASSERT_TRUE(go && std::holds_alternative<WriteGo>(*go));
  attempt.failed(*go, Failure::unavailable, "no answer", kBoot);
  attempt.node_removed();
  EXPECT_FALSE(attempt.next(kBoot, false)) << "it may be seen in the pod";
  const BootTime later = kBoot + Seconds(5);
  PodAttempt on_its_node = attempt;
  EXPECT_TRUE(std::holds_alternative<WriteGo>(*on_its_node.next(later, true)));
  const std::optional<PodAction> deletion = attempt.next(later, false);
  ASSERT_TRUE(deletion && std::holds_alternative<DeletePod>(*deletion));
  EXPECT_EQ(std::get<DeletePod>(*deletion).grace_s, 30);
  attempt.succeeded(*deletion, "pod-uid");
  EXPECT_FALSE(attempt.next(later + Seconds(5), false));
  EXPECT_TRUE(attempt.may_run());
  PodAttempt had_its_go = attempt;
  PodObject pod = pod_of(PodObject::Main::running);
  pod.is_deleted = true;
  GateResult result;
  result.end = GateResult::End::never_ran;
  result.is_sealed = true;
  attempt.observe(ended(pod, result, 125));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_TRUE(attempt.never_ran()->is_nodes_fault);
  result.end = GateResult::End::signalled;
  result.signal = 15;
  had_its_go.observe(ended(going(pod), result, 143));
  EXPECT_EQ(had_its_go.report().phase, AttemptPhase::lost);
}

TEST(PodAttemptTest, ADeletionInKubernetesProvesNothing) {
  PodAttempt attempt = running();
  PodObject pod = going(pod_of(PodObject::Main::running));
  pod.is_deleted = true;
  attempt.observe(pod);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  GateResult result;
  result.end = GateResult::End::signalled;
  result.signal = 15;
  pod = ended(pod, result, 143);
  attempt.observe(pod);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::lost);
  EXPECT_THAT(attempt.report().detail, HasSubstr("deleted in Kubernetes"));
}

TEST(PodAttemptTest, APodThatDisappearsBeforeItsGoNeverRan) {
  PodAttempt attempt = ready();
  attempt.vanish();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_TRUE(attempt.never_ran()->is_nodes_fault);
}

TEST(PodAttemptTest, KillWhileAGoIsUnderWayWaitsForWhatTheGateSays) {
  PodAttempt attempt = ready();
  attempt.go();
  const PodAction go = *attempt.next(kBoot);
  attempt.kill(false, std::nullopt);
  attempt.failed(go, Failure::unavailable, "timed out", kBoot);
  EXPECT_NE(attempt.report().phase, AttemptPhase::never_ran);
  const std::optional<PodAction> removal = attempt.next(kBoot + Seconds(10));
  ASSERT_TRUE(removal && std::holds_alternative<DeletePod>(*removal));
  attempt.succeeded(*removal, "");
  EXPECT_NE(attempt.report().phase, AttemptPhase::never_ran);
  PodAttempt other = attempt;
  GateResult never;
  never.end = GateResult::End::never_ran;
  attempt.observe(ended(pod_of(), never, 143));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  other.observe(ended(going(pod_of()), exited(0), 0));
  EXPECT_EQ(other.report().phase, AttemptPhase::done);
}

// The job counts as started, and its user has done nothing wrong.
TEST(PodAttemptTest, AGateThatEndedBeforeItsGoCouldBeWrittenIsNotTheUsersFault) {
  PodAttempt attempt = ready();
  attempt.go();
  const PodAction go = *attempt.next(kBoot);
  attempt.failed(go, Failure::unavailable, "timed out", kBoot);
  GateResult never;
  never.end = GateResult::End::never_ran;
  PodObject evicted = ended(pod_of(), never, 143);
  evicted.reason = "Evicted";
  attempt.observe(evicted);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_EQ(attempt.report().fault, LaunchFault::node);
}

}  // namespace
}  // namespace ares::kubernetes
