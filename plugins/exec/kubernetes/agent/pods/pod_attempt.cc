#include "exec/kubernetes/agent/pods/pod_attempt.h"

#include <algorithm>
#include <charconv>
#include <csignal>

#include "exec/kubernetes/agent/pods/pod_names.h"

namespace ares::kubernetes {
namespace {

constexpr std::chrono::seconds kTryAgain{2};
constexpr const char* kPastLimit = "time limit";
constexpr const char* kUnlimited = "unlimited";
// A deletion at once would remove the pod while its processes may live.
constexpr std::int64_t kAtOnce = 1;
// From a SIGKILL by the gate to the deletion of a pod that has not ended: its gate or its kubelet may not work.
constexpr std::chrono::seconds kNotHeard{15};
// Numbers of what the agent itself sends to the processes.
constexpr std::uint64_t kLimitWarning = 1, kTerminate = 2, kKill = 3;

// Reasons of a waiting container that another try on another node would not change.
bool is_final_reason(const std::string& reason) {
  constexpr std::string_view kReasons[] = {"InvalidImageName",     "ErrImageNeverPull",
                                           "ImagePullBackOff",     "CreateContainerConfigError",
                                           "CreateContainerError", "RunContainerError"};
  return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

std::string explained(const std::string& what, const std::string& reason,
                      const std::string& message) {
  std::string text = what;
  if (!reason.empty()) text += ": " + reason;
  if (!message.empty()) text += (reason.empty() ? ": " : ", ") + message;
  return text;
}

// Whether the kubelet evicted the pod because it has used more storage than its limits allow, and not because the node has too little.
bool is_over_own_limit(const PodObject& pod) {
  constexpr std::string_view kMessages[] = {"exceeds the total limit of containers",
                                            "exceeded its local ephemeral storage limit",
                                            "Usage of EmptyDir volume"};
  return pod.reason == "Evicted" &&
         std::any_of(std::begin(kMessages), std::end(kMessages), [&](std::string_view text) {
           return pod.message.find(text) != std::string::npos;
         });
}

std::optional<Seconds> limit_of(const std::string& text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Seconds(seconds);
}

}  // namespace

PodAttempt::PodAttempt(Launch launch, std::string node_uid)
    : launch_(std::move(launch)), node_uid_(std::move(node_uid)) {
  limit_ = launch_.spec.launch.time_limit;
}

PodAttempt::PodAttempt(const PodObject& pod, node::StepSpec spec)
    : launch_{std::move(spec), {}, {}}, node_uid_(pod.node_uid), uid_(pod.uid) {
  is_created_ = has_secret_ = is_bound_ = true;
  limit_ = pod.time_limit.empty() ? launch_.spec.launch.time_limit : limit_of(pod.time_limit);
  is_past_limit_ = pod.end == kPastLimit;
  has_warned_ = pod.warned > 0;
  if (is_past_limit_) kill_grace_ = launch_.spec.launch.kill_wait.count();
  if (pod.is_deleted) deleted_grace_ = INT64_MAX;  // by an earlier agent
  observe(pod);
}

// --- commands -----------------------------------------------------------------------------------

void PodAttempt::kill(bool immediately, std::optional<Seconds> grace) {
  const std::int64_t wanted =
      immediately ? kAtOnce
                  : std::max(kAtOnce, grace.value_or(launch_.spec.launch.kill_wait).count());
  kill_grace_ = std::min(kill_grace_.value_or(wanted), wanted);
  retry_at_.reset();
  look_for_end();
}

void PodAttempt::signal(std::uint64_t number, std::int32_t signal, bool script_only) {
  annotations_.emplace_back(kSignalAnnotation, encode(GateSignal{number, signal, script_only}));
}

void PodAttempt::set_output(const OutputState& state) {
  // Only the newest state counts. The first one in the list may be in flight.
  for (std::size_t i = in_flight_ ? 1 : 0; i < annotations_.size(); ++i)
    if (annotations_[i].first == kOutputAnnotation) {
      annotations_[i].second = encode(state);
      return;
    }
  annotations_.emplace_back(kOutputAnnotation, encode(state));
}

void PodAttempt::set_limit(std::optional<Seconds> limit) {
  limit_ = limit;
  annotations_.emplace_back(kLimitAnnotation, limit ? std::to_string(limit->count()) : kUnlimited);
}

void PodAttempt::give_up() {
  is_given_up_ = true;
  look_for_end();
}

void PodAttempt::release() {
  is_released_ = true;
  retry_at_.reset();
}

// --- what happens to the pod ----------------------------------------------------------------------

void PodAttempt::observe(const PodObject& pod) {
  if (!uid_.empty() && pod.uid != uid_) return;
  pod_ = pod;
  if (!pod.address.empty()) address_ = pod.address;
  if (!pod.node.empty()) is_bound_ = true;
  if (pod.is_going && !go_) {
    go_ = pod.go.value_or(GateGo{});
    is_go_sent_ = true;
  }
  if (pod.main == PodObject::Main::running) is_ready_ = true;
  if (has_ended()) return;
  if (!go_ && !is_go_sent_) look_for_failure(pod);
  look_for_end();
}

// The first reason why it cannot begin.
void PodAttempt::look_for_failure(const PodObject& pod) {
  if (must_end()) return;
  if (pod.gate_refused) return fail_before_go(false, pod.gate_message);
  if (pod.main == PodObject::Main::ended)
    return fail_before_go(
        pod.main_reason != "StartError" && pod.main_reason != "ContainerCannotRun",
        explained("the container ended before its go", pod.main_reason, pod.main_message));
  if (pod.phase == "Failed")
    return fail_before_go(true, explained("Kubernetes refused the pod", pod.reason, pod.message));
  if (pod.is_deleted)
    return fail_before_go(true, "the pod was deleted in Kubernetes before its go");
  if (pod.gate_failed || is_final_reason(pod.gate_reason))
    return fail_before_go(true, explained("the container with ares-gate cannot be run; see "
                                          "node.kubernetes.gate_image",
                                          pod.gate_reason, pod.gate_message));
  if (pod.main == PodObject::Main::waiting && is_final_reason(pod.main_reason))
    return fail_before_go(
        false, explained("the container cannot be started", pod.main_reason, pod.main_message));
}

void PodAttempt::fail_before_go(bool is_nodes_fault, std::string cause) {
  if (!never_ran_) never_ran_ = NeverRan{is_nodes_fault, std::move(cause)};
}

void PodAttempt::vanish() {
  has_vanished_ = true;
  if (has_ended()) return;
  if (!go_ && !is_go_sent_) fail_before_go(true, "the pod has disappeared before its go");
  look_for_end();
}

void PodAttempt::node_removed() {
  if (has_ended()) return;
  // No go is given for it from here on: see next().
  if (!go_ && !is_go_sent_)
    fail_before_go(true, "its node was removed from Kubernetes before its go");
  else
    is_node_gone_ = true;
  look_for_end();
}

void PodAttempt::node_found() {
  is_node_gone_ = false;
}

// Why nothing may ever tell whether it runs; empty: something will.
std::string PodAttempt::doubt() const {
  if (!go_ && !is_go_sent_) return {};
  if (is_node_gone_)
    return "its node was removed from Kubernetes; whether it still runs there is not known";
  if (has_vanished_)
    return "its pod has disappeared from Kubernetes; whether it still runs is not known";
  return {};
}

void PodAttempt::node_booted(const std::string& boot) {
  if (has_ended() || !go_ || go_->boot_id.empty() || boot.empty() || boot == go_->boot_id) return;
  end_as_lost("the node has booted since the job started");
}

void PodAttempt::end_as_lost(std::string why) {
  AttemptReport lost = report();
  lost.phase = AttemptPhase::lost;
  lost.detail = std::move(why);
  end_ = std::move(lost);
}

// Whether it has ended, as far as is proven.
void PodAttempt::look_for_end() {
  if (has_ended()) return;
  const bool has_main_ended = pod_ && pod_->main == PodObject::Main::ended;
  if (go_ || is_go_sent_) {
    // Whether a go was written whose call was not answered, the gate knows.
    if (has_main_ended && (go_ || !in_flight_))
      end_with(*pod_);
    else if (is_given_up_ && !doubt().empty())
      end_as_lost(doubt());
    return;
  }
  if (in_flight_ || !must_end()) return;
  const bool was_refused = has_main_ended || (pod_ && pod_->phase == "Failed");
  // A go is never written into a pod that is being deleted.
  if (!is_created_ || has_vanished_ || was_refused || deleted_grace_) end_as_never_ran();
}

void PodAttempt::end_as_never_ran() {
  AttemptReport report = this->report();
  report.phase = AttemptPhase::never_ran;
  report.detail = never_ran_ ? never_ran_->cause : "ended before its go";
  if (!never_ran_) never_ran_ = NeverRan{false, report.detail};
  report.fault = never_ran_->is_nodes_fault     ? LaunchFault::node
                 : never_ran_->is_systems_fault ? LaunchFault::system
                                                : LaunchFault::user;
  end_ = std::move(report);
}

// It was to start, and the gate ended before it read its go: either the go is not in the pod, or the gate has made sure that no later start
// of the container runs the script. So it runs again elsewhere as if it had not been told to start.
void PodAttempt::end_as_not_begun(const PodObject& pod, const std::string& why) {
  const bool was_evicted = pod.reason == "Evicted";
  const bool was_deleted = pod.is_deleted && !deleted_grace_;
  never_ran_ = NeverRan{!kill_grace_ && !was_deleted, why, kill_grace_ || was_deleted};
  if (was_evicted && !kill_grace_)
    never_ran_ = NeverRan{true, explained("Kubernetes evicted the pod", "", pod.message)};
  end_as_never_ran();
}

void PodAttempt::end_with(const PodObject& pod) {
  AttemptReport report = this->report();
  report.phase = AttemptPhase::done;
  report.detail.clear();
  report.ended_at = pod.ended_at;
  report.exit.out_of_memory = pod.main_reason == "OOMKilled";
  report.exit.timed_out = is_past_limit_;
  const bool was_evicted = pod.reason == "Evicted";
  const Result<GateResult> result = decode_result(pod.main_message);
  if (pod.main_message.empty() || !result) {
    // The gate itself was killed. Above 128 the code says by which signal.
    report.exit.signal = pod.exit_code > 128 ? pod.exit_code - 128 : 0;
    report.exit.code = pod.exit_code > 128 ? 0 : pod.exit_code;
    // A busy kubelet removes the container of a deleted pod before it has seen its end. One that was to end has been killed.
    if (pod.main_reason == "ContainerStatusUnknown" && !kill_grace_) {
      report.phase = AttemptPhase::lost;
      report.detail = explained("the kubelet does not know how it ended", "", pod.message);
    }
  } else {
    report.usage.user_cpu = result->user_cpu;
    report.usage.system_cpu = result->system_cpu;
    report.usage.max_rss = result->max_rss;
    has_script_ended_ =
        result->end == GateResult::End::exited || result->end == GateResult::End::signalled;
    report.exit.code = result->code;
    report.exit.signal = result->signal;
    if (result->end == GateResult::End::not_started) {
      report.exit.code = 127;
      report.detail = "cannot start the script: " + result->why;
    }
    const bool is_never_ran = result->end == GateResult::End::never_ran;
    if (is_never_ran && (!go_ || result->is_sealed)) return end_as_not_begun(pod, result->why);
    if (result->end == GateResult::End::ran_before || result->end == GateResult::End::never_ran) {
      report.phase = AttemptPhase::lost;
      report.detail = "lost, not run again: " + result->why;
    }
  }
  if (was_evicted && !kill_grace_) {
    report.detail = explained("Kubernetes evicted the pod", "", pod.message);
    const bool has_failed = report.exit.signal != 0 || report.exit.code != 0;
    if (!is_over_own_limit(pod))
      report.phase = AttemptPhase::lost;
    else if (!has_failed)  // nothing told how its processes ended
      report.exit.signal = SIGKILL;
  } else if (pod.is_deleted && (!deleted_grace_ || is_go_withdrawn_) && !kill_grace_ &&
             report.exit.signal != 0) {
    report.phase = AttemptPhase::lost;
    report.detail = is_go_withdrawn_ ? "its node was removed from Kubernetes as it was to start"
                                     : "the pod was deleted in Kubernetes";
  }
  end_ = std::move(report);
}

// --- time ---------------------------------------------------------------------------------------

std::optional<Time> PodAttempt::limit_at() const {
  if (!go_ || has_ended() || !limit_) return std::nullopt;
  return go_->at + *limit_;
}

std::optional<Time> PodAttempt::next_deadline() const {
  const std::optional<Time> end = limit_at();
  if (!end || is_past_limit_) return std::nullopt;
  const Boxed<WarningSignal>& warning = launch_.spec.launch.spec->warning;
  return warning && !has_warned_ ? *end - warning->before : *end;
}

void PodAttempt::tick(node::Moment now) {
  const std::optional<Time> end = limit_at();
  if (!end) return;
  const Boxed<WarningSignal>& warning = launch_.spec.launch.spec->warning;
  if (warning && !has_warned_ && now.wall >= *end - warning->before) {
    has_warned_ = true;
    annotations_.emplace_back(kWarningAnnotation, encode(GateSignal{kLimitWarning, warning->signal,
                                                                    warning->batch_only}));
  }
  if (is_past_limit_ || now.wall < *end) return;
  is_past_limit_ = true;
  annotations_.emplace_back(kEndAnnotation, kPastLimit);
  kill(false, std::nullopt);
}

// --- calls --------------------------------------------------------------------------------------

// The kubelet removes the log with a deleted pod. Where the output is read from there, the gate ends the processes, and the pod is deleted
// when all is stored. When the next step of this is due; none: the pod is deleted to end it.
std::optional<BootTime> PodAttempt::end_step_at() const {
  if (!kill_grace_ || !output() || has_ended() || is_released_ || deleted_grace_ || has_vanished_)
    return std::nullopt;
  if (killed_at_) return *killed_at_ + kNotHeard;
  return terminated_at_ ? *terminated_at_ + Seconds(*kill_grace_) : BootTime{};
}

std::optional<BootTime> PodAttempt::retry_at() const {
  if (has_vanished_) return std::nullopt;  // there is nothing to call for
  return in_flight_ || retry_at_ ? retry_at_ : end_step_at();
}

std::optional<PodAction> PodAttempt::ending(BootTime now) {
  if (const std::optional<BootTime> at = end_step_at()) {
    if (now < *at) return std::nullopt;
    if (!killed_at_) {
      const bool is_grace_over = terminated_at_.has_value();
      (is_grace_over ? killed_at_ : terminated_at_) = now;
      annotations_.emplace_back(kWarningAnnotation,
                                encode(is_grace_over ? GateSignal{kKill, SIGKILL, false}
                                                     : GateSignal{kTerminate, SIGTERM, false}));
      return Annotate{{annotations_.front()}};
    }
  }
  const std::int64_t grace =
      has_ended() || never_ran_ || is_released_ ? kAtOnce : kill_grace_.value_or(kAtOnce);
  if (!deleted_grace_ || *deleted_grace_ > grace) return DeletePod{grace};
  if (is_released_ && !is_finalizer_removed_) return RemoveFinalizer{};
  return std::nullopt;
}

std::optional<PodAction> PodAttempt::next(BootTime now, bool may_go) {
  if (in_flight_ || has_vanished_ || (retry_at_ && now < *retry_at_)) return std::nullopt;
  retry_at_.reset();
  std::optional<PodAction> action;
  const bool is_end_wanted = must_end() && (is_released_ || !has_ended());
  if (!is_created_) {
    if (!must_end()) action = CreatePod{};
  } else if (!annotations_.empty() && go_ && !has_ended()) {
    action = Annotate{{annotations_.front()}};  // one at a time: each signal counts
  } else if (is_end_wanted) {
    action = ending(now);
  } else if (!has_secret_) {
    action = CreateSecret{};
  } else if (!is_bound_) {
    action = BindPod{};
  } else if (is_go_wanted_ && may_go && is_ready_ && !go_ && !has_ended()) {
    action = WriteGo{};
  } else if (is_go_sent_ && !go_ && !may_go && !has_ended() && !deleted_grace_) {
    is_go_withdrawn_ = true;
    action = DeletePod{std::max(kAtOnce, launch_.spec.launch.kill_wait.count())};
  }
  if (!action) return std::nullopt;
  in_flight_ = true;
  if (std::holds_alternative<WriteGo>(*action)) is_go_sent_ = true;
  return action;
}

void PodAttempt::succeeded(const PodAction& action, const std::string& uid) {
  in_flight_ = false;
  if (std::holds_alternative<CreatePod>(action)) {
    is_created_ = true;
    uid_ = uid;
  } else if (std::holds_alternative<CreateSecret>(action)) {
    has_secret_ = true;
    // Not needed any more, and tens of thousands may run.
    for (std::string* text : {&launch_.script, &launch_.environment}) std::string().swap(*text);
  } else if (std::holds_alternative<BindPod>(action)) {
    is_bound_ = true;
  } else if (const auto* written = std::get_if<Annotate>(&action)) {
    if (!annotations_.empty() && !written->values.empty()) annotations_.erase(annotations_.begin());
  } else if (const auto* deleted = std::get_if<DeletePod>(&action)) {
    deleted_grace_ = deleted->grace_s;
  } else if (std::holds_alternative<RemoveFinalizer>(action)) {
    is_finalizer_removed_ = true;
  }
  look_for_end();
}

void PodAttempt::wrote_go(GateGo go) {
  in_flight_ = false;
  if (!go_) go_ = std::move(go);
  look_for_end();
}

void PodAttempt::failed(const PodAction& action, Failure failure, const std::string& why,
                        BootTime now) {
  in_flight_ = false;
  retry_at_ = now + kTryAgain;
  const bool is_creating = std::holds_alternative<CreatePod>(action);
  const bool is_starting = is_creating || std::holds_alternative<CreateSecret>(action) ||
                           std::holds_alternative<BindPod>(action);
  if (failure == Failure::not_found && !is_creating &&
      !std::holds_alternative<CreateSecret>(action))
    return vanish();
  if (is_starting && (failure == Failure::invalid || failure == Failure::forbidden ||
                      failure == Failure::conflict || failure == Failure::terminating ||
                      failure == Failure::unusable))
    fail_before_go(failure != Failure::invalid && failure != Failure::forbidden, why);
  look_for_end();
}

AttemptReport PodAttempt::report() const {
  if (end_) return *end_;
  AttemptReport report;
  report.attempt = launch_.spec.launch.attempt;
  report.fence = launch_.spec.launch.fence;
  report.phase = go_         ? AttemptPhase::running
                 : is_ready_ ? AttemptPhase::ready
                             : AttemptPhase::accepted;
  if (go_) report.ran_since = go_->at;
  report.detail = doubt();
  return report;
}

}  // namespace ares::kubernetes
