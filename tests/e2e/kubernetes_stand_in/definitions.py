"""Checks bodies of requests against published definitions of objects (tests/data/kubernetes, made by contrib/kubernetes/reduce_openapi.py)."""

import base64
import binascii
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "data/kubernetes"

QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
MICRO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)")  # what servers of all versions read


def is_base64(text):
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True


FORMATS = {"quantity": QUANTITY.fullmatch, "date-time": DATE_TIME.fullmatch, "micro-time": MICRO_TIME.fullmatch, "byte": is_base64}
BITS = {"int32": 31, "int64": 63}


def parse(text):
    """The value of a text of JSON, and what is wrong with it as text. Other readers accept these silently."""
    problems = []

    def to_object(pairs):
        keys = [key for key, _ in pairs]
        problems.extend(f"the key {key!r} is there twice" for key in sorted({key for key in keys if keys.count(key) > 1}))
        return dict(pairs)

    def refuse(word):
        problems.append(f"{word} is not JSON")

    try:
        return json.loads(text, object_pairs_hook=to_object, parse_constant=refuse), problems
    except ValueError as error:  # also of bytes that are not UTF-8
        return None, [f"not JSON: {error}"]


def newest_for(minor):
    """The file of the newest version that is not newer."""
    files = {int(path.stem.rpartition(".")[2]): path for path in FOLDER.glob("definitions-1.*.json")}
    return files[max(version for version in files if version <= minor)]


class Definitions:
    def __init__(self, minor):
        self.objects = json.loads(newest_for(minor).read_text(encoding="utf-8"))["definitions"]

    def problems(self, name, value, is_patch=False):
        """What is wrong with an object, one text each. A merge patch need not have what is required, and removes by null."""
        return list(self.of_object(name, value, "", is_patch))

    def of_object(self, name, value, path, is_patch):
        if not isinstance(value, dict):
            yield f"{path or 'it'}: not an object"
            return
        definition = self.objects[name]
        for key, member in value.items():
            its_path = f"{path}.{key}" if path else key
            of = definition["fields"].get(key)
            if is_patch and key.startswith("$deleteFromPrimitiveList/"):
                of = definition["fields"].get(key.partition("/")[2])
            if of is None:
                yield f"{its_path}: unknown field of {name}"
            elif member is None:
                if not is_patch:
                    yield f"{its_path}: null"
            else:
                yield from self.of_type(of, member, its_path, is_patch)
        if not is_patch:
            yield from (f"{path + '.' if path else ''}{key}: required" for key in definition.get("required", []) if key not in value)

    def of_type(self, of, value, path, is_patch):
        if of[0] == "#":
            yield from self.of_object(of[1:], value, path, is_patch)
        elif of[0] == "[":
            if not isinstance(value, list):
                yield f"{path}: not a list"
                return
            for i, item in enumerate(value):
                yield from self.of_type(of[1:-1], item, f"{path}[{i}]", is_patch)
        elif of[0] == "{":
            if not isinstance(value, dict):
                yield f"{path}: not a map"
                return
            for key, item in value.items():
                if not (is_patch and item is None):
                    yield from self.of_type(of[1:-1], item, f"{path}[{key}]", is_patch)
        elif of == "?":
            yield f"{path}: nothing is known of this field here; see contrib/kubernetes/reduce_openapi.py"
        else:
            yield from of_value(of, value, path)


def of_value(of, value, path):
    kind, _, form = of.partition(":")
    if form == "int-or-string":
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            yield f"{path}: neither a number nor a text"
    elif kind == "boolean":
        if not isinstance(value, bool):
            yield f"{path}: not a boolean"
    elif kind == "integer":
        if isinstance(value, bool) or not isinstance(value, int):
            yield f"{path}: not an integer"
        elif form in BITS and not -(1 << BITS[form]) <= value < 1 << BITS[form]:
            yield f"{path}: beyond {form}"
    elif kind == "number":
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{path}: not a number"
    elif not isinstance(value, str):
        yield f"{path}: not a string"
    elif "|" in kind:
        if value not in kind.split("|"):
            yield f"{path}: {value!r} is none of {kind}"
    elif form in FORMATS and not FORMATS[form](value):
        yield f"{path}: {value!r} is not a {form}"
