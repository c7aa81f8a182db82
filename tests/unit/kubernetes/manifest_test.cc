// Tests: kubernetes/manifest, kubernetes/pod_object, pods/pod_container, pods/launch, gate/gate_text
#include "exec/kubernetes/agent/pods/manifest.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "exec/kubernetes/agent/pods/pod_names.h"
#include "exec/kubernetes/agent/pods/pod_object.h"
#include "exec/kubernetes/api/json.h"
#include "exec/kubernetes/api/login/base64.h"

namespace ares::kubernetes {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() {
    settings.cluster = "c";
    settings.space = "jobs";
    settings.image = "job:1";
    settings.gate_image = "gate:1";
    settings.mounts = {"/home"};
    node.name = "n1";
    node.uid = "node-uid";
    node.incarnation = 12;
    node.allocatable.devices["nvidia.com/gpu"] = 4;
    node.labels["nvidia.com/gpu.product"] = "NVIDIA-A100-SXM4-80GB";
    job->name = "train";
    job->uid = UserId(1000);
    job->gid = GroupId(100);
    job->user = "alice";
    job->work_dir = "/home/alice/run";
    job->arguments = {"a b", ""};
    job->umask = 027;
    LaunchSpec& spec = launch.spec.launch;
    spec.attempt = {{JobId(7), TaskIndex{3}}, AttemptNo(2)};
    spec.fence = Fence(70);
    spec.own_id = JobId(10);
    spec.cluster_name = "c";
    spec.node_name = "n1";
    spec.layout = std::make_shared<const NodeLayout>(std::vector<std::string>{"n1", "n2"},
                                                     std::vector<std::uint32_t>{2, 2},
                                                     std::vector<std::uint32_t>{2, 1});
    spec.share.cpus = 2;
    spec.share.memory = Bytes::mib(512);
    spec.gpu_types = {"a100", "a100"};
    spec.kill_wait = Seconds(45);
    spec.spec = job;
    launch.script = "#!/bin/sh\necho";
    launch.environment = std::string("PATH=/bin\0FOO=a\nb\0", 18);
  }
  Json pod() const { return Json::parse(pod_manifest(launch, settings, node)); }
  std::string secret(const char* key) const {
    const Json object = Json::parse(secret_manifest(launch, settings, "pod-uid", Time{}));
    return decode_base64(object.at("data").value(key, "")).value_or("?");
  }
  std::string refusal() const {
    const Status possible = check_launch(launch, settings, node);
    return possible ? "" : possible.error().message;
  }

  Settings settings;
  NodeObject node;
  std::shared_ptr<JobSpec> job = std::make_shared<JobSpec>();
  Launch launch;
};

TEST_F(ManifestTest, ThePodIsTheUsersAndHasNoPrivilege) {
  const Json object = pod();
  EXPECT_EQ(object["metadata"]["name"], "ares-c-70-0");
  const Json& spec = object["spec"];
  EXPECT_EQ(spec["schedulerName"], "ares");
  EXPECT_EQ(spec["restartPolicy"], "Never");
  EXPECT_EQ(spec["automountServiceAccountToken"], false);
  EXPECT_EQ(spec["terminationGracePeriodSeconds"], 45);
  EXPECT_EQ(spec["securityContext"]["runAsUser"], 1000);
  EXPECT_EQ(spec["securityContext"]["runAsGroup"], 100);
  EXPECT_FALSE(spec["securityContext"].contains("supplementalGroups"));
  EXPECT_FALSE(spec.contains("nodeName")) << "it is bound when its Secret exists";
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"})
    EXPECT_FALSE(spec.contains(field));
  for (const char* list : {"initContainers", "containers"}) {
    const Json& security = spec[list][0]["securityContext"];
    EXPECT_EQ(security["allowPrivilegeEscalation"], false);
    EXPECT_EQ(security["privileged"], false);
    EXPECT_EQ(security["capabilities"]["drop"], Json::array({"ALL"}));
  }
}

TEST_F(ManifestTest, TheUsersGroupsComeAlong) {
  launch.spec.user.groups = {GroupId(100), GroupId(27)};
  EXPECT_EQ(pod()["spec"]["securityContext"]["supplementalGroups"], Json::array({100, 27}));
}

TEST_F(ManifestTest, RequestsAreLimits) {
  const Json resources = pod()["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"], resources["limits"]);
  EXPECT_EQ(resources["limits"],
            Json::parse(R"({"cpu": "2", "memory": "536870912", "nvidia.com/gpu": "2"})"));
}

TEST_F(ManifestTest, TemporaryStorageIsEphemeralStorage) {
  EXPECT_FALSE(pod()["spec"]["containers"][0]["resources"]["limits"].contains("ephemeral-storage"));
  auto storing = std::make_shared<JobSpec>(*launch.spec.launch.spec);
  storing->tmp_disk = Bytes::gib(2);
  launch.spec.launch.spec = storing;
  const Json resources = pod()["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"]["ephemeral-storage"], "2147483648");
  EXPECT_EQ(resources["limits"]["ephemeral-storage"], "2147483648");
}

TEST_F(ManifestTest, AFractionOfACpuIsInThousandths) {
  launch.spec.launch.share.cpus = 1;
  launch.spec.launch.share.cpu_thousandths = 490;
  const Json resources = pod()["spec"]["containers"][0]["resources"];
  EXPECT_EQ(resources["requests"]["cpu"], "490m");
  EXPECT_EQ(resources["limits"]["cpu"], "490m");
}

TEST_F(ManifestTest, ThePodTellsALaterAgentWhatItIs) {
  Json object = pod();
  object["metadata"]["uid"] = "pod-uid";
  object["spec"]["nodeName"] = "n1";
  object["metadata"]["annotations"][kGoAnnotation] =
      encode(GateGo{Fence(70), Time(Seconds(9)), "b", {"h"}, {"A=1"}});
  const std::optional<PodObject> read = read_pod(object, "c");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->attempt, launch.spec.launch.attempt);
  EXPECT_EQ(read->fence, Fence(70));
  EXPECT_EQ(read->node_uid, "node-uid");
  EXPECT_EQ(read->node_incarnation, 12U);
  EXPECT_TRUE(read->has_finalizer && read->is_going);
  EXPECT_EQ(read->go->at, Time(Seconds(9)));
  const auto spec = node::decode_step_spec(read->spec);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->launch.spec->name, "train");
  EXPECT_FALSE(read_pod(object, "other"));
}

TEST_F(ManifestTest, LabelsAloneDoNotMakeAPodOurs) {
  Json object = pod();
  object["metadata"]["name"] = "mine";
  EXPECT_FALSE(read_pod(object, "c"));
  object = pod();
  object["metadata"]["labels"][kFenceLabel] = "x";
  EXPECT_FALSE(read_pod(object, "c"));
  EXPECT_FALSE(read_pod(Json::parse("{}"), "c"));
}

TEST_F(ManifestTest, StatesOfContainers) {
  Json object = pod();
  object["status"] = Json::parse(R"({"phase": "Failed", "reason": "Evicted", "podIP": "10.0.0.1",
    "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
      "message": "m", "finishedAt": "2026-01-02T03:04:05Z"}}}],
    "initContainerStatuses": [{"name": "gate", "state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]})");
  const PodObject ended = *read_pod(object, "c");
  EXPECT_EQ(ended.main, PodObject::Main::ended);
  EXPECT_EQ(ended.exit_code, 137);
  EXPECT_TRUE(ended.gate_failed && ended.ended_at);
  EXPECT_EQ(ended.address, "10.0.0.1");
  object["status"] = Json::parse(R"({"phase": "Pending",
    "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ErrImagePull"}}}]})");
  EXPECT_EQ(read_pod(object, "c")->main_reason, "ErrImagePull");
  object["status"] =
      Json::parse(R"({"containerStatuses": [{"name": "main", "state": {"running": {}}}]})");
  EXPECT_EQ(read_pod(object, "c")->main, PodObject::Main::running);
}

// A kubelet that was killed while it ended a deleted pod, and started again.
TEST_F(ManifestTest, ContainerThatTheKubeletNoLongerFindsHasEnded) {
  Json object = pod();
  object["status"] =
      Json::parse(R"({"phase": "Failed", "containerStatuses": [{"name": "main", "restartCount": 0,
    "lastState": {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "finishedAt": null,
      "message": "The container could not be located when the pod was deleted.  The container used to be Running"}},
    "state": {"waiting": {"reason": "PodInitializing"}}}]})");
  const PodObject ended = *read_pod(object, "c");
  EXPECT_EQ(ended.main, PodObject::Main::ended);
  EXPECT_EQ(ended.main_reason, "ContainerStatusUnknown");
  EXPECT_FALSE(ended.ended_at);
  object["status"]["phase"] = "Running";
  EXPECT_EQ(read_pod(object, "c")->main, PodObject::Main::waiting) << "it may begin again";
}

TEST_F(ManifestTest, TheSecretGoesWithItsPod) {
  const Json object = Json::parse(secret_manifest(launch, settings, "pod-uid", Time{}));
  EXPECT_EQ(object["immutable"], true);
  EXPECT_EQ(object["metadata"]["ownerReferences"][0]["uid"], "pod-uid");
  EXPECT_EQ(secret("script"), launch.script);
  const std::string environment = secret("environment");
  EXPECT_THAT(environment, HasSubstr(std::string("FOO=a\nb\0", 8)));
  EXPECT_THAT(environment, HasSubstr("ARES_JOB_ID=10"));
  EXPECT_THAT(environment, HasSubstr("WORLD_SIZE=2"));
  EXPECT_THAT(environment, HasSubstr("USER=alice"));
  EXPECT_THAT(environment, Not(HasSubstr("ares-rsh")));
}

TEST_F(ManifestTest, OnlyTheFirstRankRunsTheScript) {
  EXPECT_TRUE(decode_settings(secret("settings"))->runs_script);
  launch.spec.launch.rank = 1;
  EXPECT_EQ(pod()["metadata"]["name"], "ares-c-70-1");
  EXPECT_FALSE(decode_settings(secret("settings"))->runs_script);
  EXPECT_THAT(secret("script"), IsEmpty());
}

TEST_F(ManifestTest, TheContainerNumbersItsGpusByItself) {
  launch.spec.launch.share.gpus = {GpuIndex(2), GpuIndex(3)};
  EXPECT_THAT(secret("environment"), HasSubstr(std::string("CUDA_VISIBLE_DEVICES=0,1\0", 25)));
}

TEST_F(ManifestTest, EachRankRunsTheScriptIfAskedTo) {
  job->container.emplace().is_per_rank = true;
  job->std_out = "out";
  launch.spec.launch.rank = 1;
  EXPECT_TRUE(decode_settings(secret("settings"))->runs_script);
  EXPECT_EQ(secret("script"), launch.script);
  EXPECT_EQ(decode_settings(secret("settings"))->output, "/home/alice/run/out.1")
      << "ranks do not truncate each other's file";
  job->std_out = "out.%n";
  EXPECT_EQ(decode_settings(secret("settings"))->output, "/home/alice/run/out.1");
  launch.spec.launch.rank = 0;
  EXPECT_EQ(decode_settings(secret("settings"))->output, "/home/alice/run/out.0");
}

TEST_F(ManifestTest, TheJobsImageComesBeforeThePartitionsAndTheNodes) {
  const auto image = [&] { return pod()["spec"]["containers"][0]["image"]; };
  EXPECT_EQ(image(), "job:1");
  launch.spec.launch.container_image = "partition:2";  // the controller chose it
  EXPECT_EQ(image(), "partition:2");
  EXPECT_FALSE(decode_settings(secret("settings"))->is_image_first);
}

TEST_F(ManifestTest, AnImageThatTheJobNamesKeepsItsEnvironment) {
  ContainerRequest& request = job->container.emplace();
  request.image = "own:1";
  request.variables = {"FOO"};
  const GateSettings gate = *decode_settings(secret("settings"));
  EXPECT_TRUE(gate.is_image_first);
  EXPECT_THAT(gate.kept_variables, Contains("FOO"));
  EXPECT_THAT(gate.kept_variables, Contains("ARES_JOB_ID"));
  EXPECT_THAT(gate.kept_variables, Contains("RANK"));
  EXPECT_THAT(gate.kept_variables, Not(Contains("PATH"))) << "the image's, not the submitter's";
}

TEST_F(ManifestTest, MountsLieBelowTheSites) {
  ContainerRequest& request = job->container.emplace();
  request.mounts = {{"/home/alice/data", "/data", true}, {"/home", "/all", false}};
  request.work_dir = "/data/x";
  const Json spec = pod()["spec"];
  const Json mounts = spec["containers"][0]["volumeMounts"];
  EXPECT_THAT(mounts, Contains(Json::parse(
                          R"({"name": "mount-0", "mountPath": "/data", "subPath": "alice/data",
                              "readOnly": true})")));
  EXPECT_THAT(mounts, Contains(Json::parse(R"({"name": "mount-0", "mountPath": "/all"})")));
  EXPECT_THAT(mounts, Contains(Json::parse(R"({"name": "mount-0", "mountPath": "/home"})")));
  const Json& gate = spec["initContainers"][0];
  EXPECT_EQ(gate["command"], Json::parse(
                                 R"(["/ares-gate", "install", "/ares/gate", "/home/alice/data",
                                     "/home"])"));
  EXPECT_EQ(decode_settings(secret("settings"))->directory, "/data/x");
  EXPECT_TRUE(decode_settings(secret("settings"))->needs_directory);
  EXPECT_EQ(decode_settings(secret("settings"))->output, "/home/alice/run/ares-7_3.out")
      << "files are where the job was submitted";
}

TEST_F(ManifestTest, TheGateOfTheNodeNeedsNoInitContainer) {
  settings.gate_folder = "/opt/ares-gate";
  Json spec = pod()["spec"];
  EXPECT_FALSE(spec.contains("initContainers"));
  EXPECT_THAT(spec["volumes"], Contains(Json::parse(R"({"name": "ares-gate",
      "hostPath": {"path": "/opt/ares-gate", "type": "Directory"}})")));
  EXPECT_THAT(spec["containers"][0]["volumeMounts"],
              Contains(Json::parse(
                  R"({"name": "ares-gate", "mountPath": "/ares/gate", "readOnly": true})")));
  job->container.emplace().mounts = {{"/home/alice/data", "/data", true}};
  spec = pod()["spec"];
  EXPECT_EQ(spec["initContainers"].size(), 1U) << "it looks whether the user may enter the folder";
  EXPECT_THAT(spec["volumes"], Contains(Json::parse(R"({"name": "ares-gate", "emptyDir": {}})")));
}

TEST_F(ManifestTest, OtherMountsAreRefused) {
  const auto refused = [&](const char* source, const char* target) {
    job->container.emplace().mounts = {{source, target, false}};
    return refusal();
  };
  EXPECT_THAT(refused("/home/a", "/data"), IsEmpty());
  EXPECT_THAT(refused("/home/a", "/home/a"), IsEmpty());
  EXPECT_THAT(refused("/etc", "/data"), HasSubstr("none of the directories"));
  EXPECT_THAT(refused("/home2/a", "/data"), HasSubstr("none of the directories"));
  EXPECT_THAT(refused("/home/../etc", "/data"), HasSubstr("normal form"));
  EXPECT_THAT(refused("/home/a/", "/data"), HasSubstr("normal form"));
  EXPECT_THAT(refused("/home/a", "/home/b"), HasSubstr("would hide"));
  EXPECT_THAT(refused("/home/a", "/"), HasSubstr("root"));
  for (const char* target : {"/ares", "/ares/gate", "/proc", "/sys/fs", "/dev/nvidia0"})
    EXPECT_THAT(refused("/home/a", target), HasSubstr("lies in")) << target;
  EXPECT_THAT(refused("/home/a", "/dev/shm"), IsEmpty());
}

TEST_F(ManifestTest, NamespacesAndServiceAccountsAreGranted) {
  settings.grants = {{{"alice"}, {"ml"}, {"team"}, {"reader"}}};
  ContainerRequest& request = job->container.emplace();
  request.space = "team";
  request.service_account = "reader";
  launch.spec.user.name = "bob";
  EXPECT_THAT(refusal(), HasSubstr("may not use service account \"reader\" of namespace \"team\""));
  launch.groups = {"ml"};
  EXPECT_THAT(refusal(), IsEmpty());
  const Json object = pod();
  EXPECT_EQ(object["metadata"]["namespace"], "team");
  EXPECT_EQ(object["spec"]["serviceAccountName"], "reader");
  EXPECT_EQ(object["spec"]["automountServiceAccountToken"], true);
  EXPECT_EQ(Json::parse(secret_manifest(launch, settings, "u", Time{}))["metadata"]["namespace"],
            "team");
  request.service_account.clear();
  request.space = "kube-system";
  EXPECT_THAT(refusal(), HasSubstr("may not use namespace"));
  request.space.clear();
  request.service_account = "reader";
  EXPECT_THAT(refusal(), HasSubstr("may not use")) << "the grant is for the other namespace";
}

TEST_F(ManifestTest, ATemplateAddsToThePod) {
  ContainerRequest& request = job->container.emplace();
  request.pod_template = R"({"metadata": {"labels": {"team": "x"}}, "spec": {
    "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    "containers": [{"name": "main", "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}]}})";
  EXPECT_THAT(refusal(), IsEmpty());
  const Json object = pod();
  EXPECT_EQ(object["metadata"]["labels"]["team"], "x");
  EXPECT_EQ(object["metadata"]["labels"][kJobLabel], "7");
  EXPECT_THAT(object["spec"]["containers"][0]["volumeMounts"],
              Contains(Json::parse(R"({"name": "shm", "mountPath": "/dev/shm"})")));
  request.pod_template = R"({"spec": {"hostNetwork": true}})";
  EXPECT_THAT(refusal(), HasSubstr("spec.hostNetwork is not allowed"));
}

TEST_F(ManifestTest, OutputIsWrittenOnlyToWhatIsMounted) {
  const auto output = [&](const char* pattern) {
    job->std_out = pattern;
    return decode_settings(secret("settings"))->output;
  };
  EXPECT_EQ(output(""), "/home/alice/run/ares-7_3.out");
  EXPECT_EQ(output("%x.txt"), "/home/alice/run/train.txt");
  EXPECT_EQ(output("/home/x"), "/home/x");
  EXPECT_THAT(output("/homes/x"), IsEmpty());
  EXPECT_THAT(output("/home/../etc/x"), IsEmpty());
  const GateSettings gate = *decode_settings(secret("settings"));
  EXPECT_THAT(gate.arguments, ElementsAre("a b", ""));
  EXPECT_EQ(gate.umask, 027U);
  EXPECT_EQ(gate.fence, Fence(70));
  EXPECT_THAT(gate.tasks, ElementsAre(2, 1));
}

TEST_F(ManifestTest, TheGoNamesTheFirstPodAndTheTime) {
  launch.spec.launch.master_port = 4711;
  const GateGo go = go_of(launch.spec, Time(Seconds(99)), "boot", {"10.0.0.1", "10.0.0.2"});
  EXPECT_THAT(go.variables, Contains("MASTER_ADDR=10.0.0.1"));
  EXPECT_THAT(go.variables, Contains("MASTER_PORT=4711"));
  EXPECT_THAT(go.variables, Contains("ARES_JOB_START_TIME=99"));
  EXPECT_THAT(go_of(launch.spec, Time{}, "", {}).variables,
              Not(Contains(HasSubstr("MASTER_ADDR"))));
}

TEST_F(ManifestTest, WhatCannotRunIsRefusedByName) {
  EXPECT_THAT(refusal(), IsEmpty());
  job->uid = UserId(0);
  EXPECT_THAT(refusal(), HasSubstr("allow_root"));
  settings.allow_root = true;
  EXPECT_THAT(refusal(), IsEmpty());
  launch.spec.launch.share.gpu_part = 500;
  EXPECT_THAT(refusal(), HasSubstr("part of a GPU"));
  launch.spec.launch.share.gpu_part = 0;
  launch.spec.launch.gpu_types = {"h100"};
  EXPECT_THAT(refusal(), HasSubstr("h100"));
  launch.spec.launch.gpu_types.clear();
  settings.image.clear();
  EXPECT_THAT(refusal(), HasSubstr("image"));
  settings.image = "i";
  launch.script.resize(kMostOfSecret + 1);
  EXPECT_THAT(refusal(), HasSubstr("at most"));
}

TEST_F(ManifestTest, PatchesAndDeletionsAreForThisPodOnly) {
  const Json patch = Json::parse(annotation_patch("u", {{"a", "1"}}));
  EXPECT_EQ(patch["metadata"]["uid"], "u");
  EXPECT_EQ(patch["metadata"]["annotations"]["a"], "1");
  EXPECT_EQ(Json::parse(finalizer_patch("u"))["metadata"]["uid"], "u");
  const Json options = Json::parse(delete_options("u", 30));
  EXPECT_EQ(options["preconditions"]["uid"], "u");
  EXPECT_EQ(options["gracePeriodSeconds"], 30);
  const Json binding = Json::parse(binding_manifest("p", "u", "17", "n"));
  EXPECT_EQ(binding["metadata"]["uid"], "u");
  EXPECT_EQ(binding["metadata"]["resourceVersion"], "17");
}

TEST(GateTextTest, RoundTrips) {
  const GateGo go =
      *decode_go(encode(GateGo{Fence(1), Time(Seconds(2)), "b", {"h1", "h2"}, {"A=x\ny"}}));
  EXPECT_THAT(go.hosts, ElementsAre("h1", "h2"));
  EXPECT_THAT(go.variables, ElementsAre("A=x\ny"));
  GateResult result;
  result.end = GateResult::End::not_started;
  result.why = std::string(5000, 'x');
  const std::string text = encode(result);
  EXPECT_LT(text.size(), 4096U) << "the most that a termination message has";
  EXPECT_EQ(decode_result(text)->end, GateResult::End::not_started);
  EXPECT_FALSE(decode_result("end nonsense\n"));
  EXPECT_FALSE(decode_go("garbage"));
  EXPECT_FALSE(decode_signal(""));
  EXPECT_FALSE(decode_settings("fence x\n"));
}

}  // namespace
}  // namespace ares::kubernetes
