"""Rules that API servers check and their published definitions do not have: names, labels, sizes, and how fields belong together.

Sources: the Kubernetes API conventions, the reference of each object, and answers of real servers.
"""

import base64
import re
from fractions import Fraction

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # DNS-1123
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
NAME_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
SECRET_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
PORT_NAME = re.compile(r"(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?")
FIELD_OF_ANNOTATION = re.compile(r"metadata\.(annotations|labels)\['([^']+)'\]")
MOST_OF_ANNOTATIONS = 256 << 10
MOST_OF_SECRET = 1 << 20
SUFFIXES = {"n": Fraction(1, 10**9), "u": Fraction(1, 10**6), "m": Fraction(1, 1000), "": Fraction(1), "k": Fraction(10**3),
            **{letter: Fraction(10**power) for letter, power in zip("MGTPE", (6, 9, 12, 15, 18))},
            **{letter + "i": Fraction(1 << power) for letter, power in zip("KMGTPE", (10, 20, 30, 40, 50, 60))}}
# Values of enumerations; the definitions call them strings.
ENUMERATIONS = {
    "restartPolicy": {"Always", "OnFailure", "Never"},
    "dnsPolicy": {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"},
    "imagePullPolicy": {"Always", "Never", "IfNotPresent"},
    "protocol": {"TCP", "UDP", "SCTP"},
    "medium": {"", "Memory"},
}
HOST_PATHS = {"", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"}
RESOURCES = {"cpu", "memory", "ephemeral-storage"}


def amount(text):
    number, suffix = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)", text).groups()
    return Fraction(number) * SUFFIXES[suffix]


def is_label(text):
    return bool(LABEL.fullmatch(text))


def is_subdomain(text):
    return len(text) <= 253 and bool(SUBDOMAIN.fullmatch(text))


def is_qualified(text):
    """A key of a label or an annotation, or a name of a finalizer or a resource: NAME or PREFIX/NAME."""
    prefix, slash, name = text.rpartition("/")
    return bool(NAME_PART.fullmatch(name)) and (not slash or is_subdomain(prefix))


def of_metadata(metadata, is_new):
    name = metadata.get("name", "")
    if not is_subdomain(name):
        yield f"metadata.name: {name!r} is not a DNS-1123 subdomain"
    for key, value in metadata.get("labels", {}).items():
        if not is_qualified(key):
            yield f"metadata.labels: {key!r} is not a qualified name"
        if value and not NAME_PART.fullmatch(value):
            yield f"metadata.labels[{key}]: {value!r} is not the value of a label"
    annotations = metadata.get("annotations", {})
    yield from (f"metadata.annotations: {key!r} is not a qualified name" for key in annotations if not is_qualified(key.lower()))
    if (size := sum(len(text.encode()) for pair in annotations.items() for text in pair)) > MOST_OF_ANNOTATIONS:
        yield f"metadata.annotations: {size} bytes, at most {MOST_OF_ANNOTATIONS}"
    finalizers = metadata.get("finalizers", [])
    yield from (f"metadata.finalizers: {name!r} is not a qualified name with a prefix" for name in finalizers if "/" not in name or not is_qualified(name))
    if len(set(finalizers)) != len(finalizers):
        yield "metadata.finalizers: one is there twice"
    for owner in metadata.get("ownerReferences", []):
        yield from (f"metadata.ownerReferences: {key} is empty" for key in ("apiVersion", "kind", "name", "uid") if not owner.get(key))
    if is_new:
        yield from (f"metadata.{key}: is set by the server" for key in
                    ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "selfLink", "managedFields") if key in metadata)


def of_enumerations(value, path=""):
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from of_enumerations(item, f"{path}[{i}]")
    elif isinstance(value, dict):
        for key, member in value.items():
            if key in ENUMERATIONS and isinstance(member, str) and member not in ENUMERATIONS[key]:
                yield f"{path}.{key}: {member!r} is none of {sorted(ENUMERATIONS[key])}"
            yield from of_enumerations(member, f"{path}.{key}")


def of_resources(resources, path):
    requests, limits = resources.get("requests", {}), resources.get("limits", {})
    for kind, amounts in (("requests", requests), ("limits", limits)):
        for name, text in amounts.items():
            if name not in RESOURCES and not ("/" in name and is_qualified(name)) and not name.startswith("hugepages-"):
                yield f"{path}.{kind}: {name!r} is not a resource of containers"
            elif amount(text) < 0:
                yield f"{path}.{kind}[{name}]: negative"
            elif "/" in name and amount(text).denominator != 1:
                yield f"{path}.{kind}[{name}]: {text} is not a whole number"
    for name in sorted({*requests, *limits}):
        if "/" in name and requests.get(name, limits.get(name)) != limits.get(name):
            yield f"{path}.requests[{name}]: not equal to the limit"
        elif name in requests and name in limits and amount(requests[name]) > amount(limits[name]):
            yield f"{path}.requests[{name}]: more than the limit"


def is_relative(path):
    return bool(path) and not path.startswith("/") and ".." not in path.split("/")


def of_volume(volume, path):
    sources = [key for key in volume if key != "name"]
    if not is_label(volume.get("name", "")):
        yield f"{path}.name: {volume.get('name')!r} is not a DNS-1123 label"
    if len(sources) != 1:
        yield f"{path}: {len(sources)} sources, not one"
    for item in volume.get("downwardAPI", {}).get("items", []):
        if not is_relative(item["path"]):
            yield f"{path}.downwardAPI: {item['path']!r} is not a relative path"
        field = FIELD_OF_ANNOTATION.fullmatch(item.get("fieldRef", {}).get("fieldPath", ""))
        if not field or not is_qualified(field[2]):
            yield f"{path}.downwardAPI: {item.get('fieldRef')!r} is not a field of pods"
    if (secret := volume.get("secret")) is not None:
        if not secret.get("secretName"):
            yield f"{path}.secret.secretName: required"
        if not 0 <= secret.get("defaultMode", 0) <= 0o777:
            yield f"{path}.secret.defaultMode: not between 0 and 0777"
    if (host := volume.get("hostPath")) is not None:
        if not host["path"] or ".." in host["path"].split("/"):
            yield f"{path}.hostPath.path: {host['path']!r}"
        if host.get("type", "") not in HOST_PATHS:
            yield f"{path}.hostPath.type: {host['type']!r}"


def of_container(container, path, volumes):
    if not is_label(container["name"]):
        yield f"{path}.name: {container['name']!r} is not a DNS-1123 label"
    if not container.get("image", "").strip() or container["image"] != container["image"].strip():
        yield f"{path}.image: {container.get('image')!r}"
    mounts = container.get("volumeMounts", [])
    for mount in mounts:
        if mount["name"] not in volumes:
            yield f"{path}.volumeMounts: the volume {mount['name']!r} is not there"
        if not mount["mountPath"] or ":" in mount["mountPath"]:
            yield f"{path}.volumeMounts: {mount['mountPath']!r} is not a path"
        if "subPath" in mount and not is_relative(mount["subPath"]):
            yield f"{path}.volumeMounts: {mount['subPath']!r} is not a relative path"
    if len({mount["mountPath"] for mount in mounts}) != len(mounts):
        yield f"{path}.volumeMounts: a path is there twice"
    yield from (f"{path}.env: {one['name']!r} is not a name of a variable" for one in container.get("env", []) if not ENV_NAME.fullmatch(one["name"]))
    for port in container.get("ports", []):
        if not 0 < port["containerPort"] < 1 << 16 or ("name" in port and not PORT_NAME.fullmatch(port["name"])):
            yield f"{path}.ports: {port}"
    security = container.get("securityContext", {})
    if security.get("privileged") and security.get("allowPrivilegeEscalation") is False:
        yield f"{path}.securityContext: privileged without allowPrivilegeEscalation"
    yield from of_resources(container.get("resources", {}), f"{path}.resources")


def of_pod(pod):
    spec = pod.get("spec", {})
    if "status" in pod:
        yield "status: is not set by clients"
    if not spec.get("containers"):
        yield "spec.containers: empty"
    volumes = [volume.get("name") for volume in spec.get("volumes", [])]
    if len(set(volumes)) != len(volumes):
        yield "spec.volumes: a name is there twice"
    for i, volume in enumerate(spec.get("volumes", [])):
        yield from of_volume(volume, f"spec.volumes[{i}]")
    names = []
    for kind in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(kind, [])):
            names.append(container["name"])
            yield from of_container(container, f"spec.{kind}[{i}]", volumes)
    if len(set(names)) != len(names):
        yield "spec.containers: a name is there twice"
    if spec.get("terminationGracePeriodSeconds", 30) < 0:
        yield "spec.terminationGracePeriodSeconds: negative"
    if "nodeName" in spec and spec.get("schedulingGates"):
        yield "spec.nodeName: with scheduling gates"
    security = spec.get("securityContext", {})
    for number in (security.get("runAsUser", 0), security.get("runAsGroup", 0), *security.get("supplementalGroups", [])):
        if not 0 <= number < 1 << 31:
            yield f"spec.securityContext: {number} is not an id"
    yield from of_enumerations(spec, "spec")


def of_secret(secret):
    data = secret.get("data", {})
    yield from (f"data: {key!r} is not a key" for key in data if not SECRET_KEY.fullmatch(key) or key in (".", ".."))
    if (size := sum(len(base64.b64decode(value)) for value in data.values())) > MOST_OF_SECRET:
        yield f"data: {size} bytes, at most {MOST_OF_SECRET}"


def of_lease(lease):
    spec = lease.get("spec", {})
    if spec.get("holderIdentity") == "":
        yield "spec.holderIdentity: empty"
    if spec.get("leaseDurationSeconds", 1) <= 0:
        yield "spec.leaseDurationSeconds: not positive"
    if spec.get("leaseTransitions", 0) < 0:
        yield "spec.leaseTransitions: negative"


def of_binding(binding):
    target = binding["target"]
    if target.get("kind") not in ("", "Node", None):
        yield f"target.kind: {target['kind']!r} is not a node"
    if not is_subdomain(target.get("name", "")):
        yield f"target.name: {target.get('name')!r}"


def of_options(options):
    if options.get("gracePeriodSeconds", 0) < 0:
        yield "gracePeriodSeconds: negative"
    if "orphanDependents" in options and "propagationPolicy" in options:
        yield "propagationPolicy: together with orphanDependents"


def of_review(review):
    spec = review["spec"]
    if len([key for key in ("resourceAttributes", "nonResourceAttributes") if key in spec]) != 1:
        yield "spec: exactly one of resourceAttributes and nonResourceAttributes"


OF_KIND = {"Pod": of_pod, "Secret": of_secret, "Lease": of_lease, "Binding": of_binding, "DeleteOptions": of_options, "SelfSubjectAccessReview": of_review}
VERSIONS = {"Lease": "coordination.k8s.io/v1", "SelfSubjectAccessReview": "authorization.k8s.io/v1"}


def problems(kind, value, is_new):
    """What is wrong with an object whose fields have the types of its definition."""
    found = [f"{key}: {value.get(key)!r} is not {wanted!r}" for key, wanted in (("kind", kind), ("apiVersion", VERSIONS.get(kind, "v1"))) if value.get(key) != wanted]
    if kind not in ("DeleteOptions", "SelfSubjectAccessReview"):
        found += of_metadata(value.get("metadata", {}), is_new and kind != "Binding")
    return found + list(OF_KIND[kind](value))
