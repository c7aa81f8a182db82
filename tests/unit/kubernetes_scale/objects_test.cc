// What the simulated kubelet writes is read by the agent as what a real one writes.
#include "kubernetes_scale/simulated/objects.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/nodes/node_object.h"
#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/agent/pods/pod_object.h"
#include "exec/kubernetes/gate/gate_text.h"

namespace ares::kubernetes_scale {
namespace {

using kubernetes::Json;
using kubernetes::PodObject;

constexpr Time kNow{std::chrono::seconds(1'700'000'000)};

Json pod_of_a_job() {
  return {{"metadata",
           {{"namespace", "jobs"},
            {"name", "ares-c-7-0"},
            {"uid", "u"},
            {"labels",
             {{kubernetes::kClusterLabel, "c"},
              {kubernetes::kJobLabel, "1"},
              {kubernetes::kTaskLabel, "none"},
              {kubernetes::kAttemptLabel, "1"},
              {kubernetes::kFenceLabel, "7"},
              {kubernetes::kRankLabel, "0"}}}}},
          {"spec",
           {{"nodeName", "node-00000"},
            {"initContainers", Json::array({{{"name", kubernetes::kGateContainer}}})}}}};
}

PodObject read_by_agent(Json pod, const std::string& patch) {
  pod.merge_patch(Json::parse(patch));
  return kubernetes::read_pod(pod, "c").value();
}

TEST(SimulatedObjects, ARunningPodIsReady) {
  const Json pod = pod_of_a_job();
  const SeenPod seen = read_seen_pod(pod);
  EXPECT_TRUE(seen.waits_for_gate);
  const PodObject read = read_by_agent(pod, running_patch(seen, kNow));
  EXPECT_EQ(read.main, PodObject::Main::running);
  EXPECT_FALSE(read.gate_failed);
  EXPECT_FALSE(read.address.empty());
}

TEST(SimulatedObjects, TheEndAfterTheGoIsTheGatesResult) {
  Json pod = pod_of_a_job();
  pod["metadata"]["annotations"][kubernetes::kGoAnnotation] = "go";
  const PodObject read = read_by_agent(pod, ended_patch(read_seen_pod(pod), false, kNow));
  EXPECT_EQ(read.main, PodObject::Main::ended);
  EXPECT_EQ(read.phase, "Succeeded");
  EXPECT_EQ(read.ended_at, kNow);
  const auto result = kubernetes::decode_result(read.main_message);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->end, kubernetes::GateResult::End::exited);
  EXPECT_EQ(result->code, 0);
}

TEST(SimulatedObjects, AKilledPodHasFailedBySigkill) {
  const Json pod = pod_of_a_job();
  const PodObject read = read_by_agent(pod, ended_patch(read_seen_pod(pod), true, kNow));
  EXPECT_EQ(read.phase, "Failed");
  EXPECT_EQ(read.exit_code, 137);
  EXPECT_TRUE(read.main_message.empty());
}

TEST(SimulatedObjects, ANodeIsReadyAndHasItsShape) {
  Json node = Json::parse(node_manifest(node_name(42), {.cpus = 8, .memory_gib = 4}, kNow));
  node["metadata"]["uid"] = "u";
  node["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z";
  const kubernetes::NodeObject read = kubernetes::read_node(node);
  EXPECT_EQ(read.name, "node-00042");
  EXPECT_EQ(read.problem, "");
  EXPECT_EQ(read.allocatable.cpu, 8000);
  EXPECT_EQ(read.allocatable.memory, Bytes::mib(4096));
}

}  // namespace
}  // namespace ares::kubernetes_scale
