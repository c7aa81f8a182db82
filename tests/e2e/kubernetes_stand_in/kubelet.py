"""A kubelet for all nodes of a stand-in. It runs no program: what a job does stands in its script, in a line such as

    : stand-in {"code": 3, "prints": "hello\\n"}

with any of: code, the exit code (0); prints, its output; waits, whether it runs until it is told to end; deaf, whether it ignores SIGTERM;
oom, whether it exceeds its memory; evicted, whether the kubelet evicts the pod, or its message. The gate waits for its go and answers as ares-gate does.
"""

import base64
import copy
import datetime
import json
import re
import signal
import threading
import time

from .objects import Refused, now_text

MARK = "\x1eares "
MOST_OF_PAUSE = 0.1
ENDING = {signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP}


def fields_of(text):
    """The values of `key value` lines by key; a key may be there several times."""
    fields = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        fields.setdefault(key, []).append(re.sub(r"\\(.)", lambda found: {"n": "\n", "0": "\0"}.get(found[1], found[1]), value))
    return fields


def result_text(end, code=0, number=0, sealed=False, why=""):
    """As the gate leaves it for the agent."""
    return (f"end {end}\ncode {code}\nsignal {number}\nuser_cpu_us 1500000\nsystem_cpu_us 500000\nmax_rss {64 << 20}\n"
            f"sealed {int(sealed)}\nwhy {why}\n")


class Log:
    """What a container has written. Any thread."""

    def __init__(self):
        self.changed = threading.Condition()
        self.parts, self.is_closed = [], False

    def write(self, text):
        with self.changed:
            self.parts.append((time.time(), text.encode()))
            self.changed.notify_all()

    def close(self):
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()

    def read(self, since, follows):
        first = datetime.datetime.fromisoformat(since.replace("Z", "+00:00")).timestamp() if since else 0
        at = 0
        while True:
            with self.changed:
                if follows:
                    self.changed.wait_for(lambda: len(self.parts) > at or self.is_closed)
                parts, at, is_over = self.parts[at:], len(self.parts), self.is_closed or not follows
            yield from (text for when, text in parts if when >= first)
            if is_over and at == len(self.parts):
                return


class Container:
    """The main container of one pod, from its start on."""

    def __init__(self, pod, secret, node):
        data = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
        self.settings = fields_of(data["settings"])
        found = re.search(r"^: stand-in (.*)$", data.get("script", ""), re.MULTILINE)
        self.plan = json.loads(found[1]) if found else {}
        if "script" not in data:
            self.plan = {"waits": True, "holds": True}
        self.fence, self.node = pod["metadata"]["labels"]["ares.io/fence"], node
        self.log, self.started = Log(), now_text()
        self.go, self.seen, self.signals, self.told_to_end = None, {}, [], None
        self.problem = ""

    def step(self, pod):
        """Its end as (exit code, reason, message); none as long as it runs."""
        annotations, metadata = pod["metadata"].get("annotations", {}), pod["metadata"]
        is_deleted = bool(metadata.get("deletionTimestamp"))
        if is_deleted and self.told_to_end is None:
            self.told_to_end = time.monotonic() + metadata["deletionGracePeriodSeconds"]
        if not self.go:
            if not annotations.get("ares.io/go"):
                return (125, "Error", result_text("never_ran", sealed=True, why="ended before its go")) if is_deleted else None
            self.begin(fields_of(annotations["ares.io/go"]))
        self.take_signals(annotations)
        if self.plan.get("oom"):
            return 137, "OOMKilled", ""
        if self.plan.get("evicted"):
            return 137, "Evicted", ""
        if self.told_to_end is not None and time.monotonic() >= self.told_to_end:
            return 137, "Error", ""
        return self.end_by_script(is_deleted)

    def begin(self, go):
        self.go = go
        if go["fence"] != [self.fence] or go["boot_id"] != [self.node["status"]["nodeInfo"]["bootID"]]:
            self.problem = f"the go is for another attempt or another boot: {go}"
        if self.sends_output():
            text = self.plan.get("prints", "")
            self.log.write(f"{MARK}0 {int(time.time())}\n")
            self.log.write(text)

    def sends_output(self):
        return self.settings["sends_output"] == ["1"]

    def take_signals(self, annotations):
        for name in ("ares.io/signal", "ares.io/warning"):
            if told := fields_of(annotations.get(name, "")):
                number = int(told["number"][0])
                if number > self.seen.get(name, 0):
                    self.seen[name] = number
                    self.signals.append(int(told["signal"][0]))

    def end_by_script(self, is_deleted):
        told = [number for number in self.signals if number in ENDING] + ([signal.SIGTERM] if is_deleted else [])
        if self.plan.get("deaf"):
            told = [number for number in told if number == signal.SIGKILL]
        if self.plan.get("waits"):
            if not told:
                return None
            self.finish_output()
            if self.plan.get("holds"):
                return 0, "Completed", result_text("exited")
            return 128 + told[0], "Error", result_text("signalled", number=int(told[0]))
        self.finish_output()
        code = self.plan.get("code", 0)
        return code, "Error" if code else "Completed", result_text("exited", code=code)

    def finish_output(self):
        if self.sends_output():
            self.log.write(f"{MARK}end {len(self.plan.get('prints', '').encode())}\n")


class Kubelet:
    """Serves the pods that are bound to nodes of the store. `containers`: by the uid of the pod, also when it is gone."""

    def __init__(self, store, api):
        self.store, self.api = store, api
        self.containers, self.addresses, self.ended = {}, {}, set()
        self.is_stopped = False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        self.is_stopped = True
        self.thread.join()
        for container in self.containers.values():
            container.log.close()

    def run(self):
        while not self.is_stopped:
            for pod in self.store.all("pods", selector="ares.io/cluster"):
                try:
                    self.serve(pod)
                except Refused:
                    pass  # it has gone meanwhile
            with self.store.changed:
                self.store.changed.wait(MOST_OF_PAUSE)

    def log_of(self, uid):
        container = self.containers.get(uid)
        return container.log if container else None

    def of_job(self, job):
        """The containers of a job."""
        uids = [pod["metadata"]["uid"] for pod in self.store.all("pods", selector=f"ares.io/job={job}")]
        return [self.containers[uid] for uid in uids if uid in self.containers]

    def finish(self, job, code=0):
        """The scripts of a job that wait end with this exit code."""
        for container in self.of_job(job):
            if not container.plan.get("holds"):
                container.plan = {**container.plan, "waits": False, "code": code}
        with self.store.changed:
            self.store.changed.notify_all()

    def set_status(self, pod, status):
        space, name, uid = (pod["metadata"][key] for key in ("namespace", "name", "uid"))

        def to(now):
            if now["metadata"]["uid"] == uid:
                now["status"].update(copy.deepcopy(status))
            return now

        self.store.change("pods", space, name, to)

    def serve(self, pod):
        metadata, node = pod["metadata"], pod["spec"].get("nodeName")
        if not node or ("nodes", "", node) not in self.store.objects:
            return
        uid = metadata["uid"]
        if uid not in self.containers and uid not in self.ended:
            self.start(pod, self.store.get("nodes", "", node))
        container = self.containers.get(uid)
        if container and uid not in self.ended and (end := container.step(pod)):
            self.ended.add(uid)
            if container.problem:
                self.api.problems.append(f"{metadata['name']}: {container.problem}")
            container.log.close()
            self.report_end(pod, container, *end)
        # Its containers have ended, or never began: the API server may remove it.
        if metadata.get("deletionGracePeriodSeconds") and (uid in self.ended or not container):
            self.store.delete("pods", metadata["namespace"], metadata["name"], {"gracePeriodSeconds": 0})

    def start(self, pod, node):
        metadata, spec = pod["metadata"], pod["spec"]
        init = {"name": spec["initContainers"][0]["name"], "ready": False, "restartCount": 0, "image": spec["initContainers"][0]["image"], "imageID": ""}
        main = {"name": spec["containers"][0]["name"], "ready": False, "restartCount": 0, "image": spec["containers"][0]["image"], "imageID": "", "started": False}
        waiting = {"waiting": {"reason": "PodInitializing"}}
        found = self.store.objects.get(("secrets", metadata["namespace"], metadata["name"]))
        address = self.addresses.setdefault(metadata["uid"], f"10.0.0.{len(self.addresses) + 1}")
        status = {"phase": "Pending", "hostIP": "127.0.0.1", "startTime": now_text(), "podIP": address, "podIPs": [{"ip": address}]}
        if metadata.get("deletionTimestamp") or not found:
            return self.set_status(pod, {"initContainerStatuses": [{**init, "state": waiting}], "containerStatuses": [{**main, "state": waiting}]})
        if "absent" in init["image"]:
            refused = {"waiting": {"reason": "ImagePullBackOff", "message": f"Back-off pulling image {init['image']}"}}
            return self.set_status(pod, {**status, "initContainerStatuses": [{**init, "state": refused}], "containerStatuses": [{**main, "state": waiting}]})
        ran = {**init, "ready": True, "state": {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now_text(), "finishedAt": now_text()}}}
        if "absent" in main["image"]:
            refused = {"waiting": {"reason": "ImagePullBackOff", "message": f"Back-off pulling image {main['image']}"}}
            return self.set_status(pod, {**status, "initContainerStatuses": [ran], "containerStatuses": [{**main, "state": refused}]})
        container = Container(pod, found, node)
        self.containers[metadata["uid"]] = container
        running = {**main, "ready": True, "started": True, "state": {"running": {"startedAt": container.started}}}
        return self.set_status(pod, {**status, "phase": "Running", "initContainerStatuses": [ran], "containerStatuses": [running]})

    def report_end(self, pod, container, code, reason, message):
        was_evicted = reason == "Evicted"
        ended = {"exitCode": code, "reason": "Error" if was_evicted else reason, "startedAt": container.started, "finishedAt": now_text(),
                 **({"message": message} if message else {})}
        main = {**pod["status"]["containerStatuses"][0], "ready": False, "started": False, "state": {"terminated": ended}}
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [main]}
        if was_evicted:
            told = container.plan["evicted"]
            status.update(reason="Evicted", message=told if isinstance(told, str) else "The node was low on resource: memory.")
        self.set_status(pod, status)
