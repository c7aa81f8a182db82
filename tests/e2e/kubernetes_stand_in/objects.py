"""The objects of an API server in memory, with their versions, deletions and what watches are told."""

import collections
import datetime
import itertools
import marshal
import threading
import uuid


def copied(thing):
    """A copy of what JSON can say; copy.deepcopy takes ten times as long."""
    return marshal.loads(marshal.dumps(thing))


def now_text():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Refused(Exception):
    """An answer that is not a success, as a Status object."""

    def __init__(self, status, reason, message, headers=()):
        super().__init__(message)
        self.status, self.reason, self.headers = status, reason, dict(headers)

    def body(self):
        return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": str(self), "reason": self.reason, "code": self.status}


def not_found(kind, name):
    return Refused(404, "NotFound", f'{kind} "{name}" not found')


def conflict(kind, name, why):
    return Refused(409, "Conflict", f'Operation cannot be fulfilled on {kind} "{name}": {why}')


def expired(what):
    return Refused(410, "Expired", f"{what}: the resource version is too old")


def merge(target, patch):
    """A JSON merge patch (RFC 7386)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def merge_strategically(target, patch):
    """A strategic merge patch, as far as it removes members of lists and merges maps."""
    result = dict(target)
    for key, value in patch.items():
        directive, _, field = key.partition("/")
        if directive == "$deleteFromPrimitiveList":
            result[field] = [item for item in result.get(field, []) if item not in value]
            if not result[field]:
                del result[field]
        elif value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = merge_strategically(result.get(key, {}), value)
        else:
            result[key] = value
    return result


def selects(selector, thing):
    """Whether a label selector selects an object; None is no object."""
    labels = (thing or {}).get("metadata", {}).get("labels", {})
    for part in filter(None, selector.split(",")):
        key, _, value = part.replace("==", "=").partition("=")
        if part.startswith("!"):
            if part[1:] in labels:
                return False
        elif "=" not in part:
            if part not in labels:
                return False
        elif key.endswith("!"):
            if labels.get(key[:-1]) == value:
                return False
        elif labels.get(key) != value:
            return False
    return thing is not None


class Event:
    def __init__(self, version, kind, before, after):
        self.version, self.kind, self.before, self.after = version, kind, before, after

    def seen_by(self, space, selector):
        """Its type and object for a watch; none if it is not told."""
        of = self.after or self.before
        if space and of["metadata"].get("namespace") != space:
            return None
        had, has = selects(selector, self.before), selects(selector, self.after)
        if not had and not has:
            return None
        if has:
            return ("MODIFIED" if had else "ADDED"), self.after
        last = copied(self.after or self.before)
        last["metadata"]["resourceVersion"] = str(self.version)
        return "DELETED", last


MOST_OF_EVENTS = 100_000


class Store:
    """Objects by (kind, namespace, name), where the kind is the name of the resource: pods. Any thread; `changed` is its lock."""

    def __init__(self):
        self.changed = threading.Condition(threading.RLock())
        self.version = 1000
        self.oldest = 1000  # watches from an earlier version are too old
        self.objects, self.events, self.pages = {}, collections.deque(), {}
        self.keys = collections.defaultdict(set)  # of objects, by kind
        self.uids, self.owned = set(), collections.defaultdict(set)  # uids that are there; keys of objects by the uid of an owner
        self.endings = 0  # how often all watches were ended

    # --- reading

    def get(self, kind, space, name):
        with self.changed:
            if (found := self.objects.get((kind, space, name))) is None:
                raise not_found(kind, name)
            return copied(found)

    def all(self, kind, space="", selector=""):
        with self.changed:
            return [copied(self.objects[key]) for key in sorted(self.keys[kind])
                    if space in ("", key[1]) and selects(selector, self.objects[key])]

    def page(self, kind, space, selector, limit, token):
        """The items of a page, the version of the list, the token for the next page, and how many items are left."""
        with self.changed:
            if token:
                if token not in self.pages:
                    raise expired("The provided continue parameter is too old")
                version, items = self.pages.pop(token)
            else:
                version, items = self.version, self.all(kind, space, selector)
            if not limit or len(items) <= limit:
                return items, version, "", 0
            following = uuid.uuid4().hex
            self.pages[following] = (version, items[limit:])
            return items[:limit], version, following, len(items) - limit

    def wait_for_events(self, kind, after, endings, seconds):
        """Events of that kind beyond a version, and the version up to which that is all; none when watches were ended, or too late."""
        with self.changed:
            def fresh():
                newer = itertools.takewhile(lambda event: event.version > after, reversed(self.events))
                return [event for event in newer if event.kind == kind][::-1]

            self.changed.wait_for(lambda: self.endings != endings or fresh(), seconds)
            return (None, self.version) if self.endings != endings or after < self.oldest else (fresh(), self.version)

    def is_too_old(self, version):
        with self.changed:
            return version < self.oldest

    # --- writing

    def record(self, kind, before, after):
        self.version += 1
        if after:
            after["metadata"]["resourceVersion"] = str(self.version)
        self.events.append(Event(self.version, kind, before, copied(after)))
        if len(self.events) > MOST_OF_EVENTS:
            self.oldest = self.events.popleft().version
        self.changed.notify_all()

    def create(self, kind, space, given):
        with self.changed:
            name = given["metadata"]["name"]
            if (kind, space, name) in self.objects:
                raise Refused(409, "AlreadyExists", f'{kind} "{name}" already exists')
            made = copied(given)
            made["metadata"].update({"uid": str(uuid.uuid4()), "creationTimestamp": now_text(), **({"namespace": space} if space else {})})
            self.objects[kind, space, name] = made
            self.keys[kind].add((kind, space, name))
            self.uids.add(made["metadata"]["uid"])
            for owner in made["metadata"].get("ownerReferences", []):
                self.owned[owner["uid"]].add((kind, space, name))
            self.record(kind, None, made)
            self.collect_garbage([(kind, space, name)])
            return copied(made)

    def change(self, kind, space, name, to):
        """Puts `to(object)` in the place of the object; nothing happens if that is the same. An object whose last finalizer goes is removed."""
        with self.changed:
            before = self.get(kind, space, name)
            after = to(copied(before))
            if after == before:
                return before
            self.objects[kind, space, name] = after
            metadata = after["metadata"]
            if metadata.get("deletionGracePeriodSeconds") == 0 and not metadata.get("finalizers"):
                return self.remove(kind, space, name)
            self.record(kind, before, after)
            return copied(after)

    def remove(self, kind, space, name):
        with self.changed:
            gone = self.objects.pop((kind, space, name))
            self.keys[kind].discard((kind, space, name))
            self.uids.discard(gone["metadata"]["uid"])
            self.record(kind, gone, None)
            self.collect_garbage(self.owned.pop(gone["metadata"]["uid"], ()))
            return copied(gone)

    def collect_garbage(self, keys):
        """Removes those of these objects that have owners of which none is there."""
        for key in keys:
            owners = self.objects[key]["metadata"].get("ownerReferences", []) if key in self.objects else []
            if owners and not any(owner["uid"] in self.uids for owner in owners):
                self.remove(*key)

    def check_preconditions(self, kind, thing, uid, version):
        metadata = thing["metadata"]
        if uid is not None and uid != metadata["uid"]:
            raise conflict(kind, metadata["name"], f"Precondition failed: UID in precondition: {uid}, UID in object meta: {metadata['uid']}")
        if version is not None and version != metadata["resourceVersion"]:
            raise conflict(kind, metadata["name"], "the object has been modified; please apply your changes to the latest version and try again")

    def delete(self, kind, space, name, options):
        with self.changed:
            thing = self.get(kind, space, name)
            wanted = options.get("preconditions", {})
            self.check_preconditions(kind, thing, wanted.get("uid"), wanted.get("resourceVersion"))
            grace = self.grace_of(kind, thing, options)
            metadata = thing["metadata"]
            if grace == 0 and not metadata.get("finalizers"):
                return self.remove(kind, space, name)
            if metadata.get("deletionGracePeriodSeconds", grace + 1) <= grace:
                return thing  # a time of grace can only be shortened
            at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=grace)

            def mark(one):
                one["metadata"].update({"deletionTimestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"), "deletionGracePeriodSeconds": grace})
                return one

            return self.change(kind, space, name, mark)

    @staticmethod
    def grace_of(kind, thing, options):
        """Only pods that a kubelet has, and that have not ended, get time."""
        if kind != "pods" or not thing["spec"].get("nodeName") or thing["status"].get("phase") in ("Succeeded", "Failed"):
            return 0
        return options.get("gracePeriodSeconds", thing["spec"].get("terminationGracePeriodSeconds", 30))

    # --- what tests do to it

    def compact(self):
        """Forgets all events, as after a restart of the API server: watches from earlier versions are too old, and so are tokens of lists."""
        with self.changed:
            self.version += 1
            self.oldest = self.version
            self.events.clear()
            self.pages.clear()

    def end_watches(self):
        with self.changed:
            self.endings += 1
            self.changed.notify_all()
