#include "kubernetes_scale/simulated/objects.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/api/rfc3339.h"
#include "exec/kubernetes/gate/gate_text.h"

namespace ares::kubernetes_scale {
namespace {

using nlohmann::json;

constexpr const char* kAddress = "127.0.0.1";
constexpr int kLeaseSeconds = 300;
constexpr int kKilled = 137;

// Times of pods and nodes have whole seconds.
std::string seconds_text(Time at) {
  std::string text = kubernetes::format_micro_time(at);
  return text.substr(0, text.find('.')) + "Z";
}

json condition(const char* type, bool is_true, const std::string& now) {
  return {{"type", type}, {"status", is_true ? "True" : "False"}, {"lastTransitionTime", now}};
}

json pod_conditions(bool is_ready, const std::string& now) {
  return json::array({condition("Initialized", true, now), condition("Ready", is_ready, now),
                      condition("ContainersReady", is_ready, now)});
}

json container_status(const char* name, bool is_ready, json state) {
  return {{"name", name},         {"ready", is_ready},      {"restartCount", 0},
          {"image", "simulated"}, {"imageID", "simulated"}, {"state", std::move(state)}};
}

std::string patch_of(const SeenPod& pod, json status) {
  return json{{"metadata", {{"uid", pod.uid}}}, {"status", std::move(status)}}.dump();
}

}  // namespace

std::string node_name(std::size_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "node-%05zu", number);
  return name;
}

std::string node_manifest(const std::string& name, const NodeShape& shape, Time now) {
  const std::string since = seconds_text(now);
  const json capacity = {{"cpu", std::to_string(shape.cpus)},
                         {"memory", std::to_string(shape.memory_gib) + "Gi"},
                         {"pods", std::to_string(shape.pods)},
                         {"ephemeral-storage", "100Gi"}};
  json conditions = json::array();
  for (const char* type : {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}) {
    conditions.push_back(condition(type, type == std::string_view("Ready"), since));
    conditions.back()["lastHeartbeatTime"] = since;
    conditions.back()["reason"] = "Simulated";
  }
  return json{{"apiVersion", "v1"},
              {"kind", "Node"},
              {"metadata",
               {{"name", name},
                {"labels",
                 {{"kubernetes.io/hostname", name},
                  {"kubernetes.io/os", "linux"},
                  {"kubernetes.io/arch", "amd64"}}}}},
              {"status",
               {{"capacity", capacity},
                {"allocatable", capacity},
                {"conditions", std::move(conditions)},
                {"addresses", json::array({{{"type", "Hostname"}, {"address", name}},
                                           {{"type", "InternalIP"}, {"address", kAddress}}})},
                {"nodeInfo",
                 {{"kubeletVersion", "simulated"},
                  {"bootID", "boot-of-" + name},
                  {"architecture", "amd64"},
                  {"containerRuntimeVersion", ""},
                  {"kernelVersion", ""},
                  {"kubeProxyVersion", ""},
                  {"machineID", ""},
                  {"operatingSystem", "linux"},
                  {"osImage", ""},
                  {"systemUUID", ""}}}}}}
      .dump();
}

std::string untainting_patch() {
  return R"({"spec":{"taints":null}})";
}

std::string lease_manifest(const std::string& node, Time now) {
  return json{{"apiVersion", "coordination.k8s.io/v1"},
              {"kind", "Lease"},
              {"metadata", {{"name", node}}},
              {"spec",
               {{"holderIdentity", node},
                {"leaseDurationSeconds", kLeaseSeconds},
                {"renewTime", kubernetes::format_micro_time(now)}}}}
      .dump();
}

std::string lease_renewal(Time now) {
  return json{{"spec", {{"renewTime", kubernetes::format_micro_time(now)}}}}.dump();
}

std::string running_patch(const SeenPod& pod, Time now) {
  const std::string since = seconds_text(now);
  json status = {{"phase", "Running"},
                 {"hostIP", kAddress},
                 {"podIP", kAddress},
                 {"podIPs", json::array({{{"ip", kAddress}}})},
                 {"startTime", since},
                 {"conditions", pod_conditions(true, since)},
                 {"containerStatuses",
                  json::array({container_status(kubernetes::kMainContainer, true,
                                                {{"running", {{"startedAt", since}}}})})}};
  if (pod.waits_for_gate)
    status["initContainerStatuses"] = json::array({container_status(
        kubernetes::kGateContainer, true,
        {{"terminated", {{"exitCode", 0}, {"reason", "Completed"}, {"finishedAt", since}}}})});
  return patch_of(pod, std::move(status));
}

std::string ended_patch(const SeenPod& pod, bool is_killed, Time now) {
  const std::string at = seconds_text(now);
  json end = {{"exitCode", is_killed ? kKilled : 0},
              {"reason", is_killed ? "Error" : "Completed"},
              {"startedAt", at},
              {"finishedAt", at}};
  if (pod.waits_for_gate && pod.has_go && !is_killed) {
    kubernetes::GateResult result;
    result.end = kubernetes::GateResult::End::exited;
    end["message"] = encode(result);
  }
  return patch_of(pod, {{"phase", is_killed ? "Failed" : "Succeeded"},
                        {"conditions", pod_conditions(false, at)},
                        {"containerStatuses",
                         json::array({container_status(kubernetes::kMainContainer, false,
                                                       {{"terminated", std::move(end)}})})}});
}

std::string removal_options(const SeenPod& pod) {
  return json{{"apiVersion", "v1"},
              {"kind", "DeleteOptions"},
              {"gracePeriodSeconds", 0},
              {"preconditions", {{"uid", pod.uid}}}}
      .dump();
}

}  // namespace ares::kubernetes_scale
