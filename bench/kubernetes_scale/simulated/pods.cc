#include "kubernetes_scale/simulated/pods.h"

#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/pods/pod_names.h"

namespace ares::kubernetes_scale {
namespace {

using kubernetes::find;
using kubernetes::Json;
using kubernetes::text_at;

// Until a call that has failed is made again.
constexpr std::chrono::seconds kTryAgain{1};

bool has_gate(const Json& pod) {
  const Json* containers = find(pod, {"spec", "initContainers"});
  if (!containers || !containers->is_array()) return false;
  for (const Json& container : *containers)
    if (text_at(container, {"name"}) == kubernetes::kGateContainer) return true;
  return false;
}

}  // namespace

SeenPod read_seen_pod(const Json& pod) {
  SeenPod seen;
  seen.space = text_at(pod, {"metadata", "namespace"});
  seen.name = text_at(pod, {"metadata", "name"});
  seen.uid = text_at(pod, {"metadata", "uid"});
  seen.is_bound = !text_at(pod, {"spec", "nodeName"}).empty();
  // The API server does not wait for the kubelet if there is no time of grace.
  seen.is_deleted =
      kubernetes::number_at(pod, {"metadata", "deletionGracePeriodSeconds"}).value_or(0) > 0;
  const std::string& phase = text_at(pod, {"status", "phase"});
  seen.has_ended = phase == "Succeeded" || phase == "Failed";
  seen.waits_for_gate = has_gate(pod);
  seen.has_go = !text_at(pod, {"metadata", "annotations", kubernetes::kGoAnnotation}).empty();
  return seen;
}

void SimulatedPods::see(const SeenPod& pod, BootTime now) {
  if (!pod.is_bound) return;
  Pod& known = pods_[pod.uid];
  known.seen = pod;
  known.has_ended = known.has_ended || pod.has_ended;
  if (!known.ends_at && known.is_running && (!pod.waits_for_gate || pod.has_go))
    known.ends_at = now + run_time_;
  plan(pod.uid, known, now);
}

void SimulatedPods::gone(const std::string& uid) {
  const auto found = pods_.find(uid);
  if (found == pods_.end()) return;
  if (found->second.planned) due_.erase({*found->second.planned, uid});
  pods_.erase(found);
}

std::optional<PodCall> SimulatedPods::next_call(const Pod& pod, BootTime now) const {
  if (pod.in_flight || pod.is_removed) return std::nullopt;
  if (pod.has_ended)
    return pod.seen.is_deleted ? std::optional(PodCall{PodCall::Kind::remove, pod.seen})
                               : std::nullopt;
  if (pod.seen.is_deleted) return PodCall{PodCall::Kind::report_ended, pod.seen, true};
  if (!pod.is_running) return PodCall{PodCall::Kind::report_running, pod.seen};
  if (pod.ends_at && *pod.ends_at <= now) return PodCall{PodCall::Kind::report_ended, pod.seen};
  return std::nullopt;
}

// When to look at the pod again.
void SimulatedPods::plan(const std::string& uid, Pod& pod, BootTime now) {
  std::optional<BootTime> at;
  if (next_call(pod, now))
    at = now;
  else if (pod.ends_at && !pod.in_flight && !pod.has_ended)
    at = pod.ends_at;
  if (at == pod.planned) return;
  if (pod.planned) due_.erase({*pod.planned, uid});
  pod.planned = at;
  if (at) due_.emplace(*at, uid);
}

std::vector<PodCall> SimulatedPods::due(BootTime now) {
  std::vector<PodCall> calls;
  while (!due_.empty() && due_.begin()->first <= now) {
    Pod& pod = pods_.at(due_.begin()->second);
    due_.erase(due_.begin());
    pod.planned.reset();
    std::optional<PodCall> call = next_call(pod, now);
    if (!call) continue;
    pod.in_flight = true;
    calls.push_back(std::move(*call));
  }
  return calls;
}

void SimulatedPods::done(const PodCall& call, bool succeeded, BootTime now) {
  const auto found = pods_.find(call.pod.uid);
  if (found == pods_.end()) return;
  Pod& pod = found->second;
  pod.in_flight = false;
  if (!succeeded) {
    pod.planned = now + kTryAgain;
    due_.emplace(*pod.planned, call.pod.uid);
    return;
  }
  switch (call.kind) {
    case PodCall::Kind::report_running:
      pod.is_running = true;
      if (!pod.seen.waits_for_gate || pod.seen.has_go) pod.ends_at = now + run_time_;
      break;
    case PodCall::Kind::report_ended: pod.has_ended = true; break;
    case PodCall::Kind::remove: pod.is_removed = true; break;
  }
  plan(call.pod.uid, pod, now);
}

std::optional<BootTime> SimulatedPods::next_deadline() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

}  // namespace ares::kubernetes_scale
