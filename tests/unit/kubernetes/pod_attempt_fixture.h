// A job's pod in each state of its life, for tests of PodAttempt.
#pragma once

#include <gtest/gtest.h>

#include "exec/kubernetes/agent/pods/pod_attempt.h"

namespace ares::kubernetes::pods_of_tests {

inline constexpr BootTime kBoot{std::chrono::hours(1)};
inline const Time kWall{std::chrono::hours(480'000)};

inline node::Moment at(Duration since = {}) {
  return {kWall + since, kBoot + since};
}

inline Launch launch_of(std::optional<Seconds> limit = std::nullopt) {
  auto job = std::make_shared<JobSpec>();
  job->name = "job";
  Launch launch;
  launch.spec.launch.attempt = {{JobId(7), TaskIndex{}}, AttemptNo(2)};
  launch.spec.launch.fence = Fence(70);
  launch.spec.launch.time_limit = limit;
  launch.spec.launch.kill_wait = Seconds(30);
  launch.spec.launch.spec = job;
  launch.script = "#!/bin/sh\n";
  return launch;
}

inline PodObject pod_of(PodObject::Main main = PodObject::Main::waiting) {
  PodObject pod;
  pod.name = "ares-c-70-0";
  pod.uid = "pod-uid";
  pod.node_uid = "node-uid";
  pod.node = "node1";
  pod.attempt = {{JobId(7), TaskIndex{}}, AttemptNo(2)};
  pod.fence = Fence(70);
  pod.phase = "Pending";
  pod.main = main;
  pod.has_finalizer = true;
  return pod;
}

inline PodObject going(PodObject pod) {
  pod.is_going = true;
  pod.go = GateGo{Fence(70), kWall, "boot-1", {}, {}};
  return pod;
}

inline PodObject ended(PodObject pod, const GateResult& result, int code) {
  pod.main = PodObject::Main::ended;
  pod.main_reason = code == 0 ? "Completed" : "Error";
  pod.main_message = encode(result);
  pod.exit_code = code;
  pod.ended_at = kWall + Seconds(5);
  return pod;
}

inline GateResult exited(int code) {
  GateResult result;
  result.end = GateResult::End::exited;
  result.code = code;
  result.user_cpu = Seconds(2);
  return result;
}

// The next call must be of that kind, and succeeds.
template <class Action>
Action take(PodAttempt& attempt) {
  std::optional<PodAction> action = attempt.next(kBoot);
  if (!action || !std::holds_alternative<Action>(*action)) {
    ADD_FAILURE() << "another call, or none: " << (action ? static_cast<int>(action->index()) : -1);
    return {};
  }
  attempt.succeeded(*action, "pod-uid");
  return std::get<Action>(*action);
}

inline PodAttempt bound() {
  PodAttempt attempt(launch_of(), "node-uid");
  take<CreatePod>(attempt);
  take<CreateSecret>(attempt);
  take<BindPod>(attempt);
  return attempt;
}

inline PodAttempt ready(std::optional<Seconds> limit = std::nullopt) {
  PodAttempt attempt(launch_of(limit), "node-uid");
  take<CreatePod>(attempt);
  take<CreateSecret>(attempt);
  take<BindPod>(attempt);
  attempt.observe(pod_of(PodObject::Main::running));
  return attempt;
}

inline PodAttempt running(std::optional<Seconds> limit = std::nullopt) {
  PodAttempt attempt = ready(limit);
  attempt.go();
  EXPECT_TRUE(std::holds_alternative<WriteGo>(*attempt.next(kBoot)));
  attempt.wrote_go({Fence(70), kWall, "boot-1", {}, {}});
  return attempt;
}

}  // namespace ares::kubernetes::pods_of_tests
