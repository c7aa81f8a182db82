// The calls that the attempts of a ClusterAgent need, and what their answers mean.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/cluster_agent.h"
#include "exec/kubernetes/agent/pods/pod_call.h"
#include "os/clock.h"

namespace ares::kubernetes {
namespace {

std::optional<PodObject> pod_in(const std::string& body, const std::string& cluster) {
  const Result<Json> object = parse_object(body, "the answer");
  return object ? read_pod(*object, cluster) : std::nullopt;
}

}  // namespace

void ClusterAgent::perform(const std::string& name, Entry& entry, PodAction action) {
  const NodeObject* node = table_->find(entry.node);
  NodeObject gone;  // its pod can still be deleted
  gone.name = entry.node.substr(settings_.node_prefix.size());
  GateGo go;
  ApiRequest request = pod_call(action, entry.attempt,
                                {.settings = settings_,
                                 .space = entry.space,
                                 .pod = name,
                                 .node = node ? *node : gone,
                                 .hosts = hosts_of(entry.attempt.launch().spec),
                                 .now = os::wall_now()},
                                go);
  if (entry.anew) request.turn = std::min(request.turn, Turn::next);  // it waits for the removal
  if (std::holds_alternative<CreatePod>(action)) ++creations_;
  client_->call(std::move(request),
                [this, name, action = std::move(action), go = std::move(go)](ApiResult result) {
                  answered(name, action, go, std::move(result));
                });
}

void ClusterAgent::answered(const std::string& name, const PodAction& action, GateGo go,
                            ApiResult result) {
  PodAttempt& attempt = attempts_.at(name).attempt;
  touched_.insert(name);
  if (std::holds_alternative<CreatePod>(action)) --creations_;
  if (!result) {
    const Failure failure = result.error().failure;
    if (failure == Failure::already_exists && std::holds_alternative<CreatePod>(action))
      return look_at_existing(name, action);
    if (failure == Failure::already_exists && std::holds_alternative<CreateSecret>(action))
      return replace_secret(name, action);
    if (failure == Failure::conflict && std::holds_alternative<BindPod>(action))
      return look_at_existing(name, action);
    return attempt.failed(action, failure, result.error().error.message, os::boot_now());
  }
  const std::optional<PodObject> pod = pod_in(result->body, settings_.cluster);
  if (std::holds_alternative<CreatePod>(action) && !pod)
    return attempt.failed(action, Failure::unusable, "the API server did not return the pod",
                          os::boot_now());
  if (std::holds_alternative<WriteGo>(action))
    attempt.wrote_go(std::move(go));
  else
    attempt.succeeded(action, pod ? pod->uid : "");
  if (pod) attempt.observe(*pod);
}

// Whether an earlier try, or an earlier agent, has made or bound the very pod.
void ClusterAgent::look_at_existing(const std::string& name, const PodAction& action) {
  const std::string space = attempts_.at(name).space;
  client_->call(
      {.call = Call::get_pod, .target = {space, name}}, [this, name, action](ApiResult result) {
        Entry& entry = attempts_.at(name);
        touched_.insert(name);
        const std::optional<PodObject> pod =
            result ? pod_in(result->body, settings_.cluster) : std::nullopt;
        const bool is_bind = std::holds_alternative<BindPod>(action);
        const LaunchSpec& wanted = entry.attempt.launch().spec.launch;
        if (!pod || pod->is_deleted)
          return entry.attempt.failed(action, Failure::unavailable, "", os::boot_now());
        // It has changed since it was made: it is bound as it is now.
        if (is_bind && pod->node.empty() && pod->uid == entry.attempt.uid()) {
          entry.attempt.observe(*pod);
          return entry.attempt.failed(action, Failure::unavailable, "", os::boot_now());
        }
        const bool is_ours =
            pod->fence == wanted.fence && pod->attempt == wanted.attempt &&
            pod->node_uid == entry.attempt.node_uid() &&
            (pod->node.empty() ? !is_bind : settings_.node_prefix + pod->node == entry.node);
        if (!is_ours)
          return entry.attempt.failed(action, Failure::conflict, "another pod has the name " + name,
                                      os::boot_now());
        entry.attempt.succeeded(action, pod->uid);
        entry.attempt.observe(*pod);
      });
}

// It belongs to an earlier pod of the name, or was made by a call that was not answered. The pod is not bound yet: nothing reads it.
void ClusterAgent::replace_secret(const std::string& name, const PodAction& action) {
  const std::string space = attempts_.at(name).space;
  client_->call({.call = Call::delete_secret, .target = {space, name}}, [this, name,
                                                                         action](const ApiResult&) {
    touched_.insert(name);
    attempts_.at(name).attempt.failed(action, Failure::unavailable, "", os::boot_now());
  });
}

}  // namespace ares::kubernetes
