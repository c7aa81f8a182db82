"""What a server of a version says that it has: answers to /version, /api, /apis and the lists of resources, in the form before aggregation."""

KINDS = {"pods": "Pod", "nodes": "Node", "secrets": "Secret", "namespaces": "Namespace", "leases": "Lease", "selfsubjectaccessreviews": "SelfSubjectAccessReview"}


class Discovery:
    """`without`: resources that the server does not have. `minor_text`: as a cloud writes its minor version, such as "24+"."""

    def __init__(self, minor, rows, without=(), minor_text=""):
        self.minor, self.rows, self.without, self.minor_text = minor, rows, set(without), minor_text or str(minor)

    def version(self):
        return {"major": "1", "minor": self.minor_text, "gitVersion": f"v1.{self.minor}.1", "gitCommit": "0" * 40, "gitTreeState": "clean",
                "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.24.6", "compiler": "gc", "platform": "linux/amd64",
                **({"emulationMajor": "1", "emulationMinor": str(self.minor)} if self.minor >= 34 else {})}

    def groups(self):
        """The versions of groups beside the core group, the preferred one first."""
        policy = (["v1"] if self.minor >= 21 else []) + (["v1beta1"] if self.minor < 25 else [])
        return {"apps": ["v1"], "authentication.k8s.io": ["v1"], "authorization.k8s.io": ["v1"], "batch": ["v1"], "coordination.k8s.io": ["v1"],
                "events.k8s.io": ["v1"], "policy": policy, "rbac.authorization.k8s.io": ["v1"], **({"resource.k8s.io": ["v1"]} if self.minor >= 34 else {})}

    def resources(self, group):
        found = {}
        for row in self.rows:
            if row.group == group and row.full_resource() not in self.without:
                found.setdefault(row.full_resource(), (row, set()))[1].add({"remove": "delete"}.get(row.verb, row.verb))
        return [{"name": name, "singularName": "" if self.minor < 27 or row.subresource else row.resource[:-1], "namespaced": row.namespaced,
                 "kind": "Binding" if row.subresource == "binding" else KINDS[row.resource], "verbs": sorted(verbs)} for name, (row, verbs) in sorted(found.items())]

    def answer(self, path):
        """The object at a path; none if that is not one of discovery."""
        if path == "/version":
            return self.version()
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]}
        if path == "/apis":
            versions = lambda name, all: [{"groupVersion": f"{name}/{one}", "version": one} for one in all]
            return {"kind": "APIGroupList", "apiVersion": "v1",
                    "groups": [{"name": name, "versions": versions(name, all), "preferredVersion": versions(name, all)[0]} for name, all in self.groups().items()]}
        group, _, version = path.removeprefix("/apis/").removeprefix("/api/").rpartition("/")
        if path.count("/") == (3 if group else 2) and version in (["v1"] if not group else self.groups().get(group, [])):
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{group}/{version}".lstrip("/"), "resources": self.resources(group)}
        return None
