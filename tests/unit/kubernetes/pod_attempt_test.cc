// Tests: kubernetes/pod_attempt, kubernetes/pod_names
// From the creation of a pod to its go, and what it is told while it runs.
#include "exec/kubernetes/agent/pods/pod_attempt.h"

#include <gmock/gmock.h>

#include <csignal>

#include "exec/kubernetes/agent/pods/pod_names.h"
#include "unit/kubernetes/pod_attempt_fixture.h"

namespace ares::kubernetes {
namespace {

using namespace pods_of_tests;
using testing::HasSubstr;

TEST(PodAttemptTest, TheSecretIsThereBeforeThePodIsBound) {
  PodAttempt attempt = bound();
  EXPECT_EQ(attempt.report().phase, AttemptPhase::accepted);
  EXPECT_FALSE(attempt.next(kBoot)) << "the go was not given";
  attempt.observe(pod_of(PodObject::Main::running));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::ready);
  EXPECT_FALSE(attempt.may_run());
}

TEST(PodAttemptTest, AGoIsWrittenOnlyWhenTheGateWaits) {
  PodAttempt attempt = bound();
  attempt.go();
  EXPECT_FALSE(attempt.next(kBoot));
  attempt.observe(pod_of(PodObject::Main::running));
  EXPECT_TRUE(std::holds_alternative<WriteGo>(*attempt.next(kBoot)));
  EXPECT_TRUE(attempt.may_run()) << "the call may arrive";
  attempt.wrote_go({Fence(70), kWall, "boot-1", {}, {}});
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  EXPECT_EQ(attempt.report().ran_since, kWall);
  EXPECT_FALSE(attempt.next(kBoot)) << "it is given once";
}

TEST(PodAttemptTest, NoGoForAnotherNodeOfTheName) {
  PodAttempt attempt = ready();
  attempt.go();
  EXPECT_FALSE(attempt.next(kBoot, false));
  EXPECT_FALSE(attempt.may_run());
  EXPECT_TRUE(attempt.next(kBoot, true));
}

TEST(PodAttemptTest, FailuresBeforeTheGoAreTheJobsOrTheNodes) {
  struct Case {
    const char *main, *gate, *phase;
    bool is_nodes_fault;
  };
  for (const Case& of :
       {Case{"ImagePullBackOff", "", "Pending", false},
        Case{"InvalidImageName", "", "Pending", false},
        Case{"CreateContainerConfigError", "", "Pending", false},
        Case{"", "ImagePullBackOff", "Pending", true}, Case{"", "", "Failed", true}}) {
    PodAttempt attempt = bound();
    PodObject pod = pod_of();
    pod.main_reason = of.main;
    pod.gate_reason = of.gate;
    pod.phase = of.phase;
    attempt.observe(pod);
    ASSERT_TRUE(attempt.never_ran()) << of.main << of.gate << of.phase;
    EXPECT_EQ(attempt.never_ran()->is_nodes_fault, of.is_nodes_fault) << of.main << of.gate;
    attempt.go();
    EXPECT_FALSE(attempt.may_run()) << "no go after a failure";
  }
  PodAttempt attempt = bound();
  PodObject pulling = pod_of();
  pulling.main_reason = "ContainerCreating";
  attempt.observe(pulling);
  EXPECT_FALSE(attempt.never_ran());
}

TEST(PodAttemptTest, ARefusedPodIsTheJobsFault) {
  PodAttempt attempt(launch_of(), "node-uid");
  const PodAction action = *attempt.next(kBoot);
  attempt.failed(action, Failure::invalid, "spec.containers: no", kBoot);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  EXPECT_FALSE(attempt.never_ran()->is_nodes_fault);
  EXPECT_EQ(attempt.never_ran()->cause, "spec.containers: no");
  attempt.release();
  EXPECT_TRUE(attempt.is_forgotten());
}

TEST(PodAttemptTest, ACallThatIsNotAnsweredIsRepeatedLater) {
  PodAttempt attempt(launch_of(), "node-uid");
  attempt.failed(*attempt.next(kBoot), Failure::unavailable, "", kBoot);
  EXPECT_FALSE(attempt.next(kBoot));
  EXPECT_TRUE(std::holds_alternative<CreatePod>(*attempt.next(*attempt.retry_at())));
  EXPECT_FALSE(attempt.next(kBoot + Seconds(99))) << "one call at a time";
}

TEST(PodAttemptTest, TheScriptIsKeptUntilItIsInTheSecret) {
  PodAttempt attempt(launch_of(), "node-uid");
  take<CreatePod>(attempt);
  attempt.failed(*attempt.next(kBoot), Failure::unavailable, "", kBoot);
  EXPECT_EQ(attempt.launch().script, "#!/bin/sh\n");
  const std::optional<PodAction> again = attempt.next(*attempt.retry_at());
  ASSERT_TRUE(again && std::holds_alternative<CreateSecret>(*again));
  attempt.succeeded(*again, "");
  EXPECT_EQ(attempt.launch().script, "");
}

TEST(PodAttemptTest, NothingIsDueWhenAFailedCallNeedsNoOther) {
  PodAttempt attempt(launch_of(), "node-uid");
  take<CreatePod>(attempt);
  take<CreateSecret>(attempt);
  // It was carried out, but not answered.
  attempt.failed(*attempt.next(kBoot), Failure::unavailable, "timed out", kBoot);
  attempt.observe(pod_of());
  EXPECT_FALSE(attempt.next(*attempt.retry_at()));
  EXPECT_FALSE(attempt.retry_at()) << "the agent would ask again and again";
  PodAttempt gone = running();
  gone.signal(1, SIGUSR1, false);
  gone.failed(*gone.next(kBoot), Failure::not_found, "", kBoot);
  EXPECT_TRUE(gone.has_vanished());
  EXPECT_FALSE(gone.retry_at()) << "there is no pod to call for";
}

// Regression: a job at its time limit ended as lost on a busy node, so it ran again.
TEST(PodAttemptTest, AContainerThatTheKubeletLostWasKilledIfItWasToEnd) {
  const auto lost = [] {
    PodObject pod = ended(going(pod_of()), {}, 137);
    pod.main_reason = "ContainerStatusUnknown";
    pod.main_message = "The container could not be located when the pod was deleted.";
    pod.is_deleted = true;
    pod.phase = "Failed";
    return pod;
  };
  PodAttempt limited = running(Seconds(60));
  limited.tick(at(Seconds(60)));
  limited.observe(lost());
  EXPECT_EQ(limited.report().phase, AttemptPhase::done);
  EXPECT_TRUE(limited.report().exit.timed_out);
  EXPECT_EQ(limited.report().exit.signal, SIGKILL);
  PodAttempt deleted = running();
  deleted.observe(lost());
  EXPECT_EQ(deleted.report().phase, AttemptPhase::lost);
}

// Regression: the kubelet had changed the pod meanwhile. The agent took it for another one, and left it with its finalizer.
TEST(PodAttemptTest, ADeletionThatConflictsIsRepeated) {
  PodAttempt attempt = running();
  attempt.observe(ended(going(pod_of()), exited(0), 0));
  attempt.release();
  const PodAction removal = *attempt.next(kBoot);
  attempt.failed(removal, Failure::conflict, "the object has been modified", kBoot);
  EXPECT_FALSE(attempt.is_forgotten());
  EXPECT_TRUE(std::holds_alternative<DeletePod>(*attempt.next(*attempt.retry_at())));
}

TEST(PodAttemptTest, KillBeforeTheGoLeavesNothing) {
  PodAttempt attempt = ready();
  attempt.kill(false, std::nullopt);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::ready) << "a go may not follow: not yet certain";
  take<DeletePod>(attempt);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::never_ran);
  attempt.go();
  EXPECT_FALSE(attempt.next(kBoot));
  PodAttempt unmade(launch_of(), "node-uid");
  unmade.kill(true, std::nullopt);
  EXPECT_EQ(unmade.report().phase, AttemptPhase::never_ran);
}

TEST(PodAttemptTest, AKillGivesTheScriptItsGraceAndALaterOneLess) {
  PodAttempt attempt = running();
  attempt.kill(false, std::nullopt);
  EXPECT_EQ(take<DeletePod>(attempt).grace_s, 30);
  attempt.kill(false, Seconds(60));
  EXPECT_FALSE(attempt.next(kBoot));
  attempt.kill(true, std::nullopt);
  EXPECT_EQ(take<DeletePod>(attempt).grace_s, 1);
  attempt.observe(ended(going(pod_of()), exited(0), 0));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::done) << "we deleted it";
}

// The kubelet removes the log together with a deleted pod.
TEST(PodAttemptTest, WhatPrintsToItsLogIsEndedBySignals) {
  PodObject pod = going(pod_of(PodObject::Main::running));
  pod.output = OutputState{};
  PodAttempt attempt(pod, launch_of().spec);
  attempt.kill(false, std::nullopt);
  const auto signal = [](const Annotate& written) {
    EXPECT_EQ(written.values.front().first, kWarningAnnotation);
    return decode_signal(written.values.front().second)->signal;
  };
  EXPECT_EQ(signal(take<Annotate>(attempt)), SIGTERM);
  EXPECT_FALSE(attempt.next(kBoot));
  EXPECT_EQ(attempt.retry_at(), kBoot + Seconds(30));
  attempt.set_output({.stored = 5});
  EXPECT_EQ(take<Annotate>(attempt).values.front().first, kOutputAnnotation)
      << "a script that waits for it can still end";
  PodAttempt patient = attempt;

  attempt.kill(true, std::nullopt);
  EXPECT_EQ(attempt.retry_at(), kBoot + Seconds(1));
  EXPECT_FALSE(attempt.next(kBoot));
  const auto killed = attempt.next(kBoot + Seconds(1));
  ASSERT_TRUE(killed && std::holds_alternative<Annotate>(*killed));
  EXPECT_EQ(signal(std::get<Annotate>(*killed)), SIGKILL);
  attempt.succeeded(*killed, "");
  EXPECT_FALSE(attempt.next(kBoot + Seconds(2)));
  PodAttempt deaf = attempt;

  attempt.observe(ended(pod, exited(1), 1));
  EXPECT_EQ(attempt.report().phase, AttemptPhase::done);
  EXPECT_FALSE(attempt.next(kBoot + Seconds(60))) << "its log is still to be read";
  attempt.release();
  EXPECT_EQ(take<DeletePod>(attempt).grace_s, 1);

  const auto deleted = deaf.next(*deaf.retry_at());
  ASSERT_TRUE(deleted && std::holds_alternative<DeletePod>(*deleted)) << "no kubelet tells it";
  EXPECT_FALSE(patient.next(kBoot + Seconds(29)));
  EXPECT_TRUE(std::holds_alternative<Annotate>(*patient.next(kBoot + Seconds(30))));
}

TEST(PodAttemptTest, TheTimeLimitCountsFromTheGo) {
  PodAttempt attempt = running(Seconds(100));
  EXPECT_EQ(attempt.next_deadline(), kWall + Seconds(100));
  attempt.tick(at(Seconds(99)));
  EXPECT_FALSE(attempt.next(kBoot));
  attempt.tick(at(Seconds(100)));
  const Annotate reason = take<Annotate>(attempt);
  EXPECT_EQ(reason.values.front().first, kEndAnnotation);
  EXPECT_EQ(take<DeletePod>(attempt).grace_s, 30);
  attempt.observe(ended(going(pod_of()), exited(0), 0));
  EXPECT_TRUE(attempt.report().exit.timed_out);
}

TEST(PodAttemptTest, ANewLimitIsRecordedInThePod) {
  PodAttempt attempt = running(Seconds(100));
  attempt.set_limit(Seconds(50));
  EXPECT_EQ(attempt.next_deadline(), kWall + Seconds(50));
  EXPECT_EQ(take<Annotate>(attempt).values.front().second, "50");
  attempt.set_limit(std::nullopt);
  EXPECT_FALSE(attempt.next_deadline());
  EXPECT_EQ(take<Annotate>(attempt).values.front().second, "unlimited");
}

TEST(PodAttemptTest, SignalsAreWrittenOneAfterTheOther) {
  PodAttempt attempt = running();
  attempt.signal(11, 10, true);
  attempt.signal(12, 12, false);
  const Annotate first = take<Annotate>(attempt);
  ASSERT_EQ(first.values.size(), 1U);
  EXPECT_EQ(decode_signal(first.values[0].second)->number, 11U);
  EXPECT_EQ(decode_signal(take<Annotate>(attempt).values[0].second)->signal, 12);
  EXPECT_FALSE(attempt.next(kBoot));
}

TEST(PodAttemptTest, ALaterAgentKnowsAllFromThePod) {
  PodObject pod = going(pod_of(PodObject::Main::running));
  pod.time_limit = "50";
  PodAttempt attempt(pod, launch_of(Seconds(100)).spec);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
  EXPECT_EQ(attempt.report().ran_since, kWall);
  EXPECT_EQ(attempt.next_deadline(), kWall + Seconds(50));
  EXPECT_FALSE(attempt.next(kBoot));

  PodAttempt waiting(pod_of(PodObject::Main::running), launch_of().spec);
  EXPECT_EQ(waiting.report().phase, AttemptPhase::ready);
  waiting.go();
  EXPECT_TRUE(std::holds_alternative<WriteGo>(*waiting.next(kBoot)));

  PodObject late = ended(going(pod_of()), exited(0), 0);
  late.end = "time limit";
  late.is_deleted = true;
  PodAttempt over(late, launch_of(Seconds(1)).spec);
  EXPECT_EQ(over.report().phase, AttemptPhase::done);
  EXPECT_TRUE(over.report().exit.timed_out);
}

TEST(PodAttemptTest, AnotherPodOfTheNameSaysNothing) {
  PodAttempt attempt = running();
  PodObject other = ended(pod_of(), exited(0), 0);
  other.uid = "other";
  attempt.observe(other);
  EXPECT_EQ(attempt.report().phase, AttemptPhase::running);
}

TEST(PodNamesTest, AFenceIsUsedOnce) {
  EXPECT_EQ(pod_name("c", Fence(70), 3), "ares-c-70-3");
}

TEST(PodAttemptTest, AMountThatIsRefusedIsTheJobsFault) {
  PodAttempt attempt(launch_of(), "node-uid");
  take<CreatePod>(attempt);
  PodObject pod = pod_of();
  pod.phase = "Failed";
  pod.gate_failed = pod.gate_refused = true;
  pod.gate_message = "cannot mount /home/x: Permission denied";
  attempt.observe(pod);
  ASSERT_TRUE(attempt.never_ran());
  EXPECT_FALSE(attempt.never_ran()->is_nodes_fault);
  EXPECT_THAT(attempt.never_ran()->cause, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace ares::kubernetes
