"""What the stand-in for a Kubernetes API server finds wrong with bodies of requests. Each case is one change of a body that is right."""

import copy
import json

import pytest

from kubernetes_stand_in import definitions, rules

POD = {
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "ares-kube-7-0", "namespace": "jobs", "labels": {"ares.io/job": "7", "ares.io/task": "none"},
                 "annotations": {"ares.io/spec": "any\ntext"}, "finalizers": ["ares.io/result"]},
    "spec": {
        "restartPolicy": "Never", "terminationGracePeriodSeconds": 30,
        "securityContext": {"runAsUser": 0, "runAsGroup": 0, "supplementalGroups": [4]},
        "containers": [{"name": "main", "image": "debian:12", "command": ["/ares/gate/ares-gate", "run"],
                        "resources": {"requests": {"cpu": "2", "nvidia.com/gpu": "1"}, "limits": {"cpu": "2", "nvidia.com/gpu": "1"}},
                        "securityContext": {"privileged": False, "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
                        "volumeMounts": [{"name": "ares-job", "mountPath": "/ares/job", "readOnly": True}]}],
        "volumes": [{"name": "ares-job", "secret": {"secretName": "ares-kube-7-0", "defaultMode": 0o555}},
                    {"name": "ares-pod", "downwardAPI": {"items": [{"path": "go", "fieldRef": {"fieldPath": "metadata.annotations['ares.io/go']"}}]}}]}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": True, "metadata": {"name": "ares-kube-7-0"}, "data": {"script": "YQ=="}}
LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "ares-kube"},
         "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 0, "renewTime": "2026-01-01T00:00:00.000000Z"}}
BINDING = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "ares-kube-7-0", "uid": "u"}, "target": {"kind": "Node", "name": "node1"}}
OPTIONS = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 1, "preconditions": {"uid": "u"}}
RIGHT = {"Pod": POD, "Secret": SECRET, "Lease": LEASE, "Binding": BINDING, "DeleteOptions": OPTIONS}
MAIN = "spec.containers.0."
GONE = object()

# Path of a member, what is put there, and a part of what is said of it.
WRONG_PODS = [
    ("spec.restartpolicy", "Never", "unknown field"), ("metadata.clustername", "a", "unknown field"), ("spec.dnsConfig", {"servers": []}, "unknown field"),
    ("spec.terminationGracePeriodSeconds", "30", "not an integer"), ("spec.terminationGracePeriodSeconds", True, "not an integer"),
    ("spec.priority", 1 << 31, "beyond int32"), ("metadata.labels", [], "not a map"), ("metadata.labels.a", 7, "not a string"),
    ("spec.hostNetwork", "false", "not a boolean"), ("spec.containers", {}, "not a list"), ("spec.securityContext.supplementalGroups", ["4"], "not an integer"),
    ("spec.hostname", None, "null"), (MAIN + "name", GONE, "required"), (MAIN + "volumeMounts.0.mountPath", GONE, "required"),
    (MAIN + "resources.limits.cpu", "two", "not a quantity"), (MAIN + "resources.limits.cpu", 2, "not a string"),
    ("spec.affinity", {}, "nothing is known"),
    ("kind", "pod", "kind"), ("apiVersion", GONE, "apiVersion"), ("metadata.name", "Ares_7", "DNS-1123"), ("metadata.name", "a" * 254, "DNS-1123"),
    ("metadata.labels.a b", "c", "qualified name"), ("metadata.labels.Ares.io/", "c", "qualified name"), ("metadata.labels.a", "-", "value of a label"),
    ("metadata.labels.a", "b" * 64, "value of a label"), ("metadata.annotations.a/b/c", "", "qualified name"),
    ("metadata.annotations.a", "b" * (256 << 10), "at most 262144"), ("metadata.finalizers", ["result"], "with a prefix"),
    ("metadata.finalizers", ["ares.io/result"] * 2, "twice"), ("metadata.uid", "u", "set by the server"), ("metadata.resourceVersion", "1", "set by the server"),
    ("metadata.ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a"}], "required"),
    ("metadata.ownerReferences", [{"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": ""}], "is empty"),
    ("status", {"phase": "Running"}, "nothing is known"), ("spec.restartPolicy", "never", "none of"), ("spec.dnsPolicy", "Own", "none of"),
    ("spec.terminationGracePeriodSeconds", -1, "negative"), ("spec.securityContext.runAsUser", -1, "not an id"), ("spec.containers", [], "empty"),
    (MAIN + "name", "Main", "DNS-1123 label"), (MAIN + "image", GONE, "image"), (MAIN + "image", "debian:12 ", "image"),
    (MAIN + "imagePullPolicy", "Sometimes", "none of"), (MAIN + "volumeMounts.0.name", "other", "is not there"), (MAIN + "volumeMounts.0.mountPath", "/a:b", "not a path"),
    (MAIN + "volumeMounts.0.subPath", "../a", "relative path"), (MAIN + "env", [{"name": "1=", "value": "a"}], "name of a variable"),
    (MAIN + "ports", [{"containerPort": 0}], "ports"), (MAIN + "ports", [{"containerPort": 1, "name": "UPPER"}], "ports"),
    (MAIN + "securityContext.privileged", True, "privileged without"), (MAIN + "resources.limits", {"cpu": "1", "nvidia.com/gpu": "1"}, "more than the limit"),
    (MAIN + "resources.requests", {"nvidia.com/gpu": "2"}, "equal to the limit"), (MAIN + "resources.limits", {"cpu": "2"}, "equal to the limit"),
    (MAIN + "resources", {"limits": {"nvidia.com/gpu": "500m"}}, "whole number"), (MAIN + "resources", {"limits": {"gpu": "1"}}, "not a resource"),
    (MAIN + "resources", {"limits": {"memory": "-1Mi"}}, "negative"), ("spec.volumes.0.name", "ares_job", "DNS-1123 label"), ("spec.volumes.0.emptyDir", {}, "2 sources"),
    ("spec.volumes.0.secret", GONE, "0 sources"), ("spec.volumes.0.secret.defaultMode", 0o1000, "0777"), ("spec.volumes.0.secret.secretName", "", "required"),
    ("spec.volumes.1.downwardAPI.items.0.path", "/go", "relative path"), ("spec.volumes.1.downwardAPI.items.0.fieldRef.fieldPath", "metadata.annotations[a]", "not a field"),
    ("spec.volumes.1.name", "ares-job", "twice"), ("spec.volumes.1", {"name": "m", "hostPath": {"path": "/a", "type": "Folder"}}, "hostPath.type"),
    ("spec.volumes.1", {"name": "m", "hostPath": {"path": "/a/../b"}}, "hostPath.path"), ("spec.volumes.1", {"name": "m", "emptyDir": {"medium": "Disk"}}, "none of"),
]
WRONG_OTHERS = [
    ("Secret", "data.script", "a", "not a byte"), ("Secret", "data.a/b", "YQ==", "not a key"), ("Secret", "data.script", "YWFh" * (1 << 19), "at most 1048576"),
    ("Secret", "immutable", "true", "not a boolean"), ("Lease", "spec.holderIdentity", "", "empty"), ("Lease", "spec.leaseDurationSeconds", 0, "not positive"),
    ("Lease", "spec.renewTime", "2026-01-01T00:00:00Z", "not a micro-time"), ("Lease", "spec.leaseTransitions", -1, "negative"), ("Binding", "target", GONE, "required"),
    ("Binding", "target.kind", "Pod", "not a node"), ("Binding", "target.name", "", "target.name"), ("DeleteOptions", "gracePeriodSeconds", -1, "negative"),
    ("DeleteOptions", "preconditions.name", "a", "unknown field"),
]


def problems(kind, value, minor=34):
    return definitions.Definitions(minor).problems(kind, value) or rules.problems(kind, value, is_new="resourceVersion" not in value.get("metadata", {}) or kind == "Pod")


def changed(value, path, member):
    """A copy with one member put there or taken away. A key of labels, annotations or data may have dots."""
    value = copy.deepcopy(value)
    keys = path.split(".")
    for place, key in enumerate(keys):
        if key in ("labels", "annotations", "data", "preconditions") and place < len(keys) - 1:
            keys[place + 1:] = [".".join(keys[place + 1:])]
            break
    at = value
    for key in keys[:-1]:
        at = at[int(key)] if isinstance(at, list) else at[key]
    if member is GONE:
        del at[keys[-1]]
    elif isinstance(at, list):
        at[int(keys[-1])] = member
    else:
        at[keys[-1]] = member
    return value


@pytest.mark.parametrize("minor", [20, 34])
@pytest.mark.parametrize("kind", RIGHT)
def test_nothing_is_found_in_right_objects(kind, minor):
    assert problems(kind, RIGHT[kind], minor) == []


@pytest.mark.parametrize("path, member, said", WRONG_PODS, ids=[f"{i}-{row[0]}" for i, row in enumerate(WRONG_PODS)])
def test_each_mistake_in_a_pod_is_found(path, member, said):
    found = problems("Pod", changed(POD, path, member))
    assert any(said in text for text in found), found


@pytest.mark.parametrize("kind, path, member, said", WRONG_OTHERS, ids=[f"{i}-{row[0]}-{row[1]}" for i, row in enumerate(WRONG_OTHERS)])
def test_each_mistake_in_another_object_is_found(kind, path, member, said):
    found = problems(kind, changed(RIGHT[kind], path, member))
    assert any(said in text for text in found), found


def test_fields_are_those_of_the_version():
    gated = changed(changed(POD, "spec.schedulingGates", []), "spec.hostUsers", False)
    assert problems("Pod", gated, 34) == []
    assert [text for text in problems("Pod", gated, 33) if "unknown field" in text] != [], "1.33 is checked by the definitions of 1.20"


def test_what_readers_of_json_accept_silently_is_found():
    assert definitions.parse('{"a": {"b": 1, "b": 2}}')[1] == ["the key 'b' is there twice"]
    assert definitions.parse('{"a": NaN}')[1] == ["NaN is not JSON"]
    assert "not JSON" in definitions.parse(b'{"a": "\xff"}')[1][0]
    assert definitions.parse(json.dumps(POD)) == (POD, [])


def test_a_patch_need_not_have_what_is_required():
    of = definitions.Definitions(34)
    assert of.problems("Pod", {"metadata": {"annotations": {"a": None}, "$deleteFromPrimitiveList/finalizers": ["a/b"]}}, is_patch=True) == []
    assert of.problems("Pod", {"metadata": {"annotation": {}}}, is_patch=True) == ["metadata.annotation: unknown field of ObjectMeta"]
    assert of.problems("Pod", {"metadata": {"$deleteFromPrimitiveList/finalizer": []}}, is_patch=True) != []
