"""Carries out the calls of the table on a Store, and reports what a strict API server would refuse."""

import collections
import json
import time

from . import calls, rules
from .definitions import Definitions, parse
from .discovery import KINDS, Discovery
from .objects import Refused, conflict, expired, merge, merge_strategically, not_found

MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
WRITES = {"fieldValidation"}
QUERIES = {"list": {"limit", "continue", "labelSelector"}, "create": WRITES, "update": WRITES, "patch": WRITES,
           "watch": {"watch", "resourceVersion", "allowWatchBookmarks", "timeoutSeconds", "labelSelector"}}


class Request:
    def __init__(self, method, path, query, headers, body):
        self.method, self.path, self.query, self.headers, self.body = method, path, query, headers, body
        self.row = None  # of the table of calls; none for discovery
        self.space = self.name = ""
        self.at = time.monotonic()


class Stream:
    """An answer in parts: lines of a watch or of a log."""

    def __init__(self, parts, content_type):
        self.parts, self.content_type = parts, content_type


class Api:
    """`problems`: what the agent did wrong, one text each. `checked`: how many bodies were checked, by kind. `seen`: all requests."""

    def __init__(self, store, minor, without=(), minor_text=""):
        self.store, self.minor = store, minor
        self.rows = calls.read_table()
        self.discovery = Discovery(minor, self.rows, without, minor_text)
        self.definitions = Definitions(minor)
        self.problems, self.checked, self.seen = [], collections.Counter(), []
        self.denied = set()  # pairs of a verb and a resource with its subresource
        self.kubelet = None  # has the logs
        self.gone = "status"  # how a watch is told 410: by a "status", by its "first event", or by the "last event" of one that goes on
        self.seconds_to_bookmark = 1.0

    def counts(self):
        return collections.Counter(request.row.call for request in list(self.seen) if request.row)

    def report(self, request, text):
        self.problems.append(f"{request.method} {request.path}: {text}")

    def find(self, request):
        """Sets the row of the request; refuses one that is not in the table."""
        if self.discovery.answer(request.path) is None:
            found = calls.find(self.rows, request.method, request.path, request.query.get("watch") == "true")
            if not found:
                self.report(request, "is not in the table of calls")
                raise Refused(404, "NotFound", "the stand-in does not know this request")
            request.row, request.space, request.name = found
        self.seen.append(request)
        if request.headers.get("Accept") != "application/json" or not request.headers.get("User-Agent", "").startswith("ares/"):
            self.report(request, f"the headers {dict(request.headers)}")

    def carry_out(self, request):
        """The status and the object of the answer, or a status and a Stream."""
        if request.row is None:
            return 200, self.discovery.answer(request.path)
        allowed = {"container", "sinceTime", "follow"} if request.row.call == "get_pod_log" else QUERIES.get(request.row.verb, set())
        if unknown := set(request.query) - allowed:
            self.report(request, f"unknown parameters {sorted(unknown)}")
        if request.row.full_resource() in self.discovery.without:
            raise Refused(404, "NotFound", "the server could not find the requested resource")
        if request.row.namespaced and request.space and ("namespaces", "", request.space) not in self.store.objects:
            raise not_found("namespaces", request.space)
        return getattr(self, request.row.call)(request)

    # --- bodies

    def take(self, request, kind, is_new=True):
        """The object in a body that has nothing wrong."""
        self.checked[kind] += 1
        self.expect_type(request, "application/json")
        value, wrong = parse(request.body)
        wrong = wrong or self.definitions.problems(kind, value)
        status = 400
        if not wrong:
            wrong, status = rules.problems(kind, value, is_new), 422
        self.refuse(request, wrong, status)
        metadata = value.get("metadata", {})
        if kind != "SelfSubjectAccessReview":
            if request.space and metadata.get("namespace", request.space) != request.space:
                self.refuse(request, ["the namespace of the object is another one than that of the path"], 400)
            if request.name and kind != "DeleteOptions" and metadata.get("name") != request.name:
                self.refuse(request, ["the name of the object is another one than that of the path"], 400)
        return value

    def expect_type(self, request, *types):
        if request.headers.get("Content-Type") not in types:
            self.refuse(request, [f"the type {request.headers.get('Content-Type')!r}"], 415)

    def refuse(self, request, wrong, status):
        for text in wrong:
            self.report(request, text)
        if wrong:
            reason = {400: "BadRequest", 415: "UnsupportedMediaType", 422: "Invalid"}[status]
            raise Refused(status, reason, "; ".join(wrong))

    # --- reading

    def page(self, request):
        resource = request.row.resource
        items, version, token, left = self.store.page(resource, request.space, request.query.get("labelSelector", ""),
                                                      int(request.query.get("limit", 0)), request.query.get("continue", ""))
        more = {"continue": token, "remainingItemCount": left} if token else {}
        return 200, {"kind": f"{KINDS[resource]}List", "apiVersion": "v1", "metadata": {"resourceVersion": str(version), **more}, "items": items}

    list_pods = list_nodes = page

    def watch(self, request):
        after = int(request.query.get("resourceVersion") or 0)
        if self.store.is_too_old(after):
            gone = expired(f"too old resource version: {after} ({self.store.oldest})")
            if self.gone == "status":
                raise gone
            return 200, Stream(iter([line_of("ERROR", gone.body())]), "application/json")
        return 200, Stream(self.events(request, after), "application/json")

    watch_pods = watch_nodes = watch

    def events(self, request, after):
        resource, endings = request.row.resource, self.store.endings
        left = float(request.query["timeoutSeconds"])
        while left > 0:
            events, upto = self.store.wait_for_events(resource, after, endings, min(left, self.seconds_to_bookmark))
            if events is None:
                if self.gone == "last event":
                    yield line_of("ERROR", expired("The resourceVersion for the provided watch is too old").body())
                return
            for event in events:
                if seen := event.seen_by(request.space, request.query.get("labelSelector", "")):
                    yield line_of(*seen)
            if not events:
                left -= self.seconds_to_bookmark
                if request.query.get("allowWatchBookmarks") == "true":
                    yield line_of("BOOKMARK", {"kind": KINDS[resource], "apiVersion": "v1",
                                               "metadata": {"resourceVersion": str(upto), "creationTimestamp": None}})
            after = upto

    def get(self, request):
        return 200, self.store.get(request.row.resource, request.space, request.name)

    get_pod = get_node = get_lease = get_namespace = get

    def get_pod_log(self, request):
        pod = self.store.get("pods", request.space, request.name)
        if request.query.get("container") not in [one["name"] for one in pod["spec"]["containers"]]:
            raise Refused(400, "BadRequest", f"container {request.query.get('container')!r} is not valid for pod {request.name}")
        log = self.kubelet.log_of(pod["metadata"]["uid"])
        if log is None:
            raise Refused(400, "BadRequest", f'container "main" in pod "{request.name}" is waiting to start: ContainerCreating')
        return 200, Stream(log.read(request.query.get("sinceTime", ""), request.query.get("follow") == "true"), "text/plain")

    # --- writing

    def create_pod(self, request):
        pod = self.take(request, "Pod")
        pod["status"] = {"phase": "Pending", "qosClass": "Guaranteed"}
        return 201, self.store.create("pods", request.space, pod)

    def create_secret(self, request):
        return 201, self.store.create("secrets", request.space, self.take(request, "Secret"))

    def create_lease(self, request):
        return 201, self.store.create("leases", request.space, self.take(request, "Lease"))

    def update_lease(self, request):
        lease = self.take(request, "Lease", is_new=False)
        version = lease["metadata"].get("resourceVersion")
        if not version:
            self.refuse(request, ["metadata.resourceVersion: must be specified for an update"], 422)

        def to(before):
            self.store.check_preconditions("leases", before, lease["metadata"].get("uid"), version)
            lease["metadata"] = {**before["metadata"], **lease["metadata"]}
            return lease

        return 200, self.store.change("leases", request.space, request.name, to)

    def patch_pod(self, request):
        self.checked["patch"] += 1
        self.expect_type(request, MERGE, STRATEGIC)
        patch, wrong = parse(request.body)
        self.refuse(request, wrong or self.definitions.problems("Pod", patch, is_patch=True), 400)
        apply = merge if request.headers["Content-Type"] == MERGE else merge_strategically

        def to(before):
            given = patch.get("metadata", {})
            self.store.check_preconditions("pods", before, given.get("uid"), given.get("resourceVersion"))
            after = apply(before, patch)
            if {**after, "metadata": None} != {**before, "metadata": None}:
                self.refuse(request, ["changes more than the metadata"], 422)
            self.refuse(request, list(rules.of_metadata(after["metadata"], is_new=False)), 422)
            if before["metadata"].get("deletionTimestamp") and set(after["metadata"].get("finalizers", [])) - set(before["metadata"].get("finalizers", [])):
                self.refuse(request, ["adds a finalizer to a pod that is being deleted"], 422)
            return after

        return 200, self.store.change("pods", request.space, request.name, to)

    def bind_pod(self, request):
        binding = self.take(request, "Binding")

        def to(pod):
            self.store.check_preconditions("pods", pod, binding["metadata"].get("uid"), binding["metadata"].get("resourceVersion"))
            if pod["metadata"].get("deletionTimestamp"):
                raise conflict("pods/binding", request.name, f"pod {request.name} is being deleted, cannot be assigned to a host")
            if pod["spec"].get("nodeName"):
                raise conflict("pods/binding", request.name, f'pod {request.name} is already assigned to node "{pod["spec"]["nodeName"]}"')
            pod["spec"]["nodeName"] = binding["target"]["name"]
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
            return pod

        self.store.change("pods", request.space, request.name, to)
        return 201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}

    def delete(self, request):
        options = self.take(request, "DeleteOptions") if request.body else {}
        return 200, self.store.delete(request.row.resource, request.space, request.name, options)

    delete_pod = delete_secret = delete

    def create_access_review(self, request):
        review = self.take(request, "SelfSubjectAccessReview")
        asked = review["spec"]["resourceAttributes"]
        resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
        return 201, {**review, "metadata": {}, "status": {"allowed": (asked["verb"], resource) not in self.denied}}


def line_of(kind, thing):
    return json.dumps({"type": kind, "object": thing}, separators=(",", ":")).encode() + b"\n"
