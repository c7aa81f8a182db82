#include "exec/kubernetes/agent/pods/pod_template.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ares::kubernetes {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text, bool has_own_space = false) {
  const auto read = read_pod_template(text, has_own_space);
  return read ? "" : read.error().message;
}

std::string in_spec(const std::string& fields) {
  return R"({"spec": {)" + fields + "}}";
}
std::string in_container(const std::string& fields) {
  return in_spec(R"("containers": [{"name": "main", )" + fields + "}]");
}
std::string in_volume(const std::string& fields) {
  return in_spec(R"("volumes": [{"name": "v", )" + fields + "}]");
}

Json pod() {
  return Json::parse(R"({"metadata": {"labels": {"ares.io/job": "7"}},
    "spec": {"volumes": [{"name": "ares-gate", "emptyDir": {}}],
             "containers": [{"name": "main", "securityContext": {"privileged": false}}]}})");
}

TEST(PodTemplate, AllowedFieldsAreTakenOver) {
  const std::string text = R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"labels": {"team": "x"}, "annotations": {"note": "y"}},
    "spec": {
      "enableServiceLinks": true, "dnsPolicy": "None",
      "dnsConfig": {"nameservers": ["10.0.0.1"], "searches": ["a.b"], "options": [{"name": "ndots", "value": "2"}]},
      "hostAliases": [{"ip": "10.0.0.2", "hostnames": ["db"]}],
      "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}}],
      "containers": [{"name": "main", "imagePullPolicy": "Always",
        "env": [{"name": "A", "value": "1"}],
        "ports": [{"name": "web", "containerPort": 8080, "protocol": "TCP"}],
        "securityContext": {"readOnlyRootFilesystem": true},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm", "readOnly": false}]}]}})";
  const auto read = read_pod_template(text, false);
  ASSERT_TRUE(read) << read.error().message;
  Json object = pod();
  add_template(*read, object);
  EXPECT_EQ(object["metadata"]["labels"], Json::parse(R"({"ares.io/job": "7", "team": "x"})"));
  EXPECT_EQ(object["metadata"]["annotations"]["note"], "y");
  const Json& spec = object["spec"];
  EXPECT_EQ(spec["volumes"].size(), 2U);
  EXPECT_EQ(spec["dnsConfig"]["nameservers"][0], "10.0.0.1");
  EXPECT_EQ(spec["hostAliases"][0]["ip"], "10.0.0.2");
  const Json& main = spec["containers"][0];
  EXPECT_EQ(main["securityContext"],
            Json::parse(R"({"privileged": false, "readOnlyRootFilesystem": true})"));
  EXPECT_EQ(main["env"][0]["name"], "A");
  EXPECT_EQ(main["ports"][0]["containerPort"], 8080);
  EXPECT_EQ(main["imagePullPolicy"], "Always");
}

TEST(PodTemplate, AnEmptyOneChangesNothing) {
  Json object = pod();
  add_template(*read_pod_template("{}", false), object);
  EXPECT_EQ(object, pod());
}

TEST(PodTemplate, HostileOnesAreRefusedByName) {
  const std::pair<std::string, std::string> cases[] = {
      {"[]", "is not an object"},
      {"{", "not valid JSON"},
      {R"({"apiVersion": "v2"})", "apiVersion has to be v1"},
      {R"({"kind": "Deployment"})", "kind has to be Pod"},
      {R"({"status": {}})", "status is not allowed"},
      {R"({"metadata": {"name": "other"}})", "metadata.name"},
      {R"({"metadata": {"namespace": "kube-system"}})", "metadata.namespace"},
      {R"({"metadata": {"finalizers": []}})", "metadata.finalizers"},
      {R"({"metadata": {"ownerReferences": []}})", "metadata.ownerReferences"},
      {R"({"metadata": {"labels": {"ares.io/job": "1"}}})", "the prefixed key \"ares.io/job\""},
      {R"({"metadata": {"labels": {"a": 1}}})", "metadata.labels has a value of another kind"},
      {R"({"metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}}})",
       "the prefixed key"},
      {in_spec(R"("hostNetwork": true)"), "spec.hostNetwork"},
      {in_spec(R"("hostPID": true)"), "spec.hostPID"},
      {in_spec(R"("hostIPC": true)"), "spec.hostIPC"},
      {in_spec(R"("hostUsers": true)"), "spec.hostUsers"},
      {in_spec(R"("shareProcessNamespace": true)"), "spec.shareProcessNamespace"},
      {in_spec(R"("nodeName": "n")"), "spec.nodeName"},
      {in_spec(R"("nodeSelector": {})"), "spec.nodeSelector"},
      {in_spec(R"("affinity": {})"), "spec.affinity"},
      {in_spec(R"("tolerations": [])"), "spec.tolerations"},
      {in_spec(R"("schedulerName": "x")"), "spec.schedulerName"},
      {in_spec(R"("priorityClassName": "system-node-critical")"), "spec.priorityClassName"},
      {in_spec(R"("runtimeClassName": "x")"), "spec.runtimeClassName"},
      {in_spec(R"("restartPolicy": "Always")"), "spec.restartPolicy"},
      {in_spec(R"("activeDeadlineSeconds": 1)"), "spec.activeDeadlineSeconds"},
      {in_spec(R"("terminationGracePeriodSeconds": 0)"), "spec.terminationGracePeriodSeconds"},
      {in_spec(R"("serviceAccountName": "admin")"), "spec.serviceAccountName"},
      {in_spec(R"("automountServiceAccountToken": true)"), "spec.automountServiceAccountToken"},
      {in_spec(R"("securityContext": {"runAsUser": 0})"), "spec.securityContext"},
      {in_spec(R"("initContainers": [])"), "spec.initContainers"},
      {in_spec(R"("ephemeralContainers": [])"), "spec.ephemeralContainers"},
      {in_spec(R"("dnsPolicy": "ClusterFirstWithHostNet")"), "spec.dnsPolicy has to be"},
      {in_spec(R"("containers": [])"), "has to have one container"},
      {in_spec(R"("containers": [{"name": "main"}, {"name": "side"}])"),
       "has to have one container"},
      {in_spec(R"("containers": [{"name": "other"}])"), "containers[0].name has to be main"},
      {in_spec(R"("containers": {})"), "another kind"},
      {in_container(R"("image": "x")"), "containers[0].image is not allowed"},
      {in_container(R"("command": ["sh"])"), "containers[0].command"},
      {in_container(R"("args": [])"), "containers[0].args"},
      {in_container(R"("resources": {})"), "containers[0].resources"},
      {in_container(R"("lifecycle": {"postStart": {}})"), "containers[0].lifecycle"},
      {in_container(R"("livenessProbe": {"exec": {"command": ["x"]}})"), "livenessProbe"},
      {in_container(R"("securityContext": {"privileged": true})"), "securityContext.privileged"},
      {in_container(R"("securityContext": {"capabilities": {}})"), "securityContext.capabilities"},
      {in_container(R"("ports": [{"containerPort": 80, "hostPort": 80}])"), "ports[0].hostPort"},
      {in_container(R"("env": [{"name": "A", "valueFrom": {}}])"), "env[0].valueFrom"},
      {in_container(R"("volumeMounts": [{"name": "ares-job", "mountPath": "/x"}])"),
       "a name of Ares' own volumes"},
      {in_container(R"("volumeMounts": [{"name": "v", "mountPath": "/ares/gate"}])"),
       "lies in /ares"},
      {in_container(R"("volumeMounts": [{"name": "v", "mountPath": "/x/../ares"}])"),
       "not in its normal form"},
      {in_container(R"("volumeMounts": [{"name": "v", "mountPath": "x"}])"),
       "not an absolute path"},
      {in_container(
           R"("volumeMounts": [{"name": "v", "mountPath": "/x", "mountPropagation": "Bidirectional"}])"),
       "mountPropagation"},
      {in_container(R"("volumeDevices": [])"), "volumeDevices"},
      {in_volume(R"("hostPath": {"path": "/"})"), "volumes[0].hostPath"},
      {in_volume(R"("csi": {})"), "volumes[0].csi"},
      {in_volume(R"("nfs": {"server": "s", "path": "/"})"), "volumes[0].nfs"},
      {in_volume(R"("projected": {"sources": []})"), "volumes[0].projected"},
      {in_volume(R"("emptyDir": {"medium": "HugePages"})"), "has to be empty or Memory"},
      {in_volume(R"("secret": {"secretName": "x"})"), "only with --namespace"},
      {in_volume(R"("configMap": {"name": "x"})"), "only with --namespace"},
      {in_volume(R"("persistentVolumeClaim": {"claimName": "x"})"), "only with --namespace"},
      {in_spec(R"("imagePullSecrets": [{"name": "x"}])"), "only with --namespace"},
      {in_spec(R"("volumes": [{"name": "mount-0", "emptyDir": {}}])"), "Ares' own volumes"},
  };
  for (const auto& [text, why] : cases) EXPECT_THAT(refusal(text), HasSubstr(why)) << text;
}

TEST(PodTemplate, InANamespaceOfItsUserItMayMountWhatIsThere) {
  for (const char* volume :
       {R"("secret": {"secretName": "x", "items": [{"key": "a", "path": "b", "mode": 256}]})",
        R"("configMap": {"name": "x", "optional": true})",
        R"("persistentVolumeClaim": {"claimName": "x", "readOnly": true})"})
    EXPECT_EQ(refusal(in_volume(volume), true), "") << volume;
  EXPECT_EQ(refusal(in_spec(R"("imagePullSecrets": [{"name": "x"}])"), true), "");
  EXPECT_THAT(refusal(in_volume(R"("secret": {"secretName": "ares-c-70-0"})"), true),
              HasSubstr("Ares' own objects"));
  EXPECT_THAT(refusal(in_volume(R"("hostPath": {"path": "/"})"), true), HasSubstr("hostPath"));
}

TEST(PodTemplate, DeepTextsAreRead) {
  EXPECT_THAT(refusal(std::string(20'000, '[')), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal(R"({"a\u001b[31m": 1})"), HasSubstr("is not allowed"));
  EXPECT_EQ(refusal(R"({"a\u001b[31m": 1})").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ares::kubernetes
