"""The calls that the plugin's own table permits. What is not in it is not answered."""

import pathlib
import re

TABLE = pathlib.Path(__file__).resolve().parents[3] / "plugins/exec/kubernetes/api/calls.cc"
METHODS = {"get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH", "remove": "DELETE"}


class Row:
    def __init__(self, call, verb, group, resource, subresource, namespaced):
        self.call, self.verb, self.group, self.resource, self.subresource, self.namespaced = call, verb, group, resource, subresource, namespaced

    def full_resource(self):
        return self.resource + ("/" + self.subresource if self.subresource else "")


def read_table():
    text = TABLE.read_text(encoding="utf-8")
    names = dict(re.findall(r'constexpr std::string_view (\w+) = "([^"]*)";', text))
    rows = re.findall(r'CallRow\{Call::(\w+), Verb::(\w+), ("[^"]*"|\w+), "(\w+)", "(\w*)", (true|false),', text)
    assert rows, f"{TABLE} has no rows that can be read"
    return [Row(call, verb, group.strip('"') if group[0] == '"' else names[group], resource, subresource, namespaced == "true")
            for call, verb, group, resource, subresource, namespaced in rows]


def parse_path(path):
    """Group, namespace, resource, name and subresource of a path below /api or /apis; none of another."""
    parts = path.strip("/").split("/")
    if parts[:2] == ["api", "v1"]:
        group, rest = "", parts[2:]
    elif parts[0] == "apis" and len(parts) > 3 and parts[2] == "v1":
        group, rest = parts[1], parts[3:]
    else:
        return None
    space = ""
    if rest and rest[0] == "namespaces" and len(rest) > 2:
        space, rest = rest[1], rest[2:]
    if not 1 <= len(rest) <= 3:
        return None
    return (group, space, *rest, *[""] * (3 - len(rest)))


def find(rows, method, path, is_watch):
    """The row of a request, its namespace and its name; none if it is not in the table."""
    if (parsed := parse_path(path)) is None:
        return None
    group, space, resource, name, subresource = parsed
    for row in rows:
        is_for_one = row.verb in ("get", "update", "patch", "remove") or (row.verb == "create" and row.subresource)
        needs_space = row.namespaced and row.verb not in ("list", "watch")
        if ((row.group, row.resource, row.subresource, METHODS[row.verb]) == (group, resource, subresource, method)
                and bool(name) == bool(is_for_one) and (row.verb == "watch") == is_watch
                and (space or not needs_space) and (row.namespaced or not space)):
            return row, space, name
    return None
