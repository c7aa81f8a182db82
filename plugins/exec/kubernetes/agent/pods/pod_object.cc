#include "exec/kubernetes/agent/pods/pod_object.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/api/rfc3339.h"
#include "node/text_fields.h"

namespace ares::kubernetes {
namespace {

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const std::string& label(const Json& pod, std::string_view name) {
  return text_at(pod, {"metadata", "labels", name});
}

const std::string& annotation(const Json& pod, std::string_view name) {
  return text_at(pod, {"metadata", "annotations", name});
}

std::uint64_t number_of_signal(const std::string& text) {
  const auto signal = decode_signal(text);
  return text.empty() || !signal ? 0 : signal->number;
}

// The entry of that name in a list of statuses; null: there is none.
const Json* status_of(const Json& pod, std::string_view list, std::string_view container) {
  const Json* statuses = find(pod, {"status", list});
  if (!statuses || !statuses->is_array()) return nullptr;
  for (const Json& status : *statuses)
    if (text_at(status, {"name"}) == container) return &status;
  return nullptr;
}

// How it has ended; null: it has not. A kubelet that is restarted after it has removed the container of a deleted pod says that the pod is
// over and the container waits, and has its end, of which it knows nothing, as an earlier one.
const Json* end_of(const Json& status, const PodObject& pod) {
  if (const Json* ended = find(status, {"state", "terminated"})) return ended;
  const bool is_over = pod.phase == "Failed" || pod.phase == "Succeeded";
  return is_over && find(status, {"state", "waiting"}) ? find(status, {"lastState", "terminated"})
                                                       : nullptr;
}

void read_main(const Json& status, PodObject& pod) {
  if (const Json* ended = end_of(status, pod)) {
    pod.main = PodObject::Main::ended;
    pod.main_reason = text_at(*ended, {"reason"});
    pod.main_message = text_at(*ended, {"message"});
    pod.exit_code = static_cast<std::int32_t>(number_at(*ended, {"exitCode"}).value_or(0));
    pod.ended_at = parse_rfc3339(text_at(*ended, {"finishedAt"}));
  } else if (find(status, {"state", "running"})) {
    pod.main = PodObject::Main::running;
  } else if (const Json* waiting = find(status, {"state", "waiting"})) {
    pod.main = PodObject::Main::waiting;
    pod.main_reason = text_at(*waiting, {"reason"});
    pod.main_message = text_at(*waiting, {"message"});
  }
}

void read_gate(const Json& status, PodObject& pod) {
  if (const Json* ended = find(status, {"state", "terminated"})) {
    pod.gate_failed = number_at(*ended, {"exitCode"}).value_or(0) != 0;
    pod.gate_refused = number_at(*ended, {"exitCode"}).value_or(0) == kGateRefused;
    if (!pod.gate_failed) return;
    pod.gate_reason = text_at(*ended, {"reason"});
    pod.gate_message = text_at(*ended, {"message"});
  } else if (const Json* waiting = find(status, {"state", "waiting"})) {
    pod.gate_reason = text_at(*waiting, {"reason"});
    pod.gate_message = text_at(*waiting, {"message"});
  }
}

}  // namespace

std::string pod_name(std::string_view cluster, Fence fence, std::uint32_t rank) {
  return "ares-" + std::string(cluster) + "-" + std::to_string(fence.value()) + "-" +
         std::to_string(rank);
}

std::optional<PodObject> read_pod(const Json& pod, std::string_view cluster) {
  if (label(pod, kClusterLabel) != cluster) return std::nullopt;
  const auto job = number_of<std::uint64_t>(label(pod, kJobLabel));
  const std::string& task_text = label(pod, kTaskLabel);
  const auto task =
      task_text == "none" ? std::optional(TaskIndex::kNone) : number_of<std::uint32_t>(task_text);
  const auto attempt = number_of<std::uint32_t>(label(pod, kAttemptLabel));
  const auto fence = number_of<std::uint64_t>(label(pod, kFenceLabel));
  const auto rank = number_of<std::uint32_t>(label(pod, kRankLabel));
  if (!job || !task || !attempt || !fence || !rank) return std::nullopt;

  PodObject read;
  read.name = text_at(pod, {"metadata", "name"});
  read.space = text_at(pod, {"metadata", "namespace"});
  read.uid = text_at(pod, {"metadata", "uid"});
  read.version = text_at(pod, {"metadata", "resourceVersion"});
  read.attempt = {{JobId(*job), TaskIndex{*task}}, AttemptNo(*attempt)};
  read.fence = Fence(*fence);
  read.rank = *rank;
  // A user may have put these labels on another pod.
  if (read.name != pod_name(cluster, read.fence, read.rank)) return std::nullopt;
  read.spec = annotation(pod, kSpecAnnotation);
  read.node_uid = annotation(pod, kNodeAnnotation);
  read.node_incarnation =
      number_of<std::uint64_t>(annotation(pod, kIncarnationAnnotation)).value_or(0);
  read.node = text_at(pod, {"spec", "nodeName"});
  read.address = text_at(pod, {"status", "podIP"});
  if (const std::string& go = annotation(pod, kGoAnnotation); !go.empty()) {
    read.is_going = true;
    if (Result<GateGo> given = decode_go(go)) read.go = std::move(*given);
  }
  read.time_limit = annotation(pod, kLimitAnnotation);
  read.end = annotation(pod, kEndAnnotation);
  read.warned = number_of_signal(annotation(pod, kWarningAnnotation));
  if (const std::string& output = annotation(pod, kOutputAnnotation); !output.empty())
    if (Result<OutputState> state = decode_output_state(output)) read.output = *state;
  read.is_deleted = !text_at(pod, {"metadata", "deletionTimestamp"}).empty();
  if (const Json* finalizers = find(pod, {"metadata", "finalizers"});
      finalizers && finalizers->is_array())
    for (const Json& finalizer : *finalizers)
      if (finalizer == kFinalizer) read.has_finalizer = true;
  read.phase = text_at(pod, {"status", "phase"});
  read.reason = text_at(pod, {"status", "reason"});
  read.message = text_at(pod, {"status", "message"});
  if (const Json* status = status_of(pod, "containerStatuses", kMainContainer))
    read_main(*status, read);
  if (const Json* status = status_of(pod, "initContainerStatuses", kGateContainer))
    read_gate(*status, read);
  return read;
}

}  // namespace ares::kubernetes
