#!/usr/bin/env python3
"""Reduces OpenAPI documents of a Kubernetes API server to the objects that the agent of Ares sends.

    reduce_openapi.py VERSION DOCUMENT... > tests/data/kubernetes/definitions-VERSION.json

A document is what the server answers to /openapi/v2, or one of those below /openapi/v3. Kept are the names of fields, their types,
which of them are required, and the values of enumerations; descriptions are not. A type is written as

    string  string:FORMAT  boolean  integer:FORMAT  number   a value; FORMAT as published, or quantity, micro-time
    A|B                                                      a string with one of these values
    [TYPE]  {TYPE}                                           a list; a map by text
    #NAME                                                    an object that has a definition here
    ?                                                        an object that the agent does not send
"""

import json
import sys

SENT = """Pod PodSpec Container ContainerPort EnvVar VolumeMount ResourceRequirements SecurityContext Capabilities PodSecurityContext
    Volume EmptyDirVolumeSource SecretVolumeSource ConfigMapVolumeSource KeyToPath PersistentVolumeClaimVolumeSource HostPathVolumeSource
    DownwardAPIVolumeSource DownwardAPIVolumeFile ObjectFieldSelector LocalObjectReference HostAlias PodDNSConfig PodDNSConfigOption
    Secret Binding ObjectReference ObjectMeta OwnerReference DeleteOptions Preconditions Lease LeaseSpec
    SelfSubjectAccessReview SelfSubjectAccessReviewSpec ResourceAttributes""".split()
GROUPS = ("io.k8s.api.core.v1.", "io.k8s.api.coordination.v1.", "io.k8s.api.authorization.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1.")
# Definitions that are values and not objects.
VALUES = {"Quantity": "string:quantity", "Time": "string:date-time", "MicroTime": "string:micro-time", "IntOrString": "string:int-or-string"}


def type_of(schema):
    for part in schema.get("allOf", []):  # how documents of version 3 give a reference a default
        schema = {**part, **schema}
    if "$ref" in schema:
        name = schema["$ref"].rpartition(".")[2]
        return VALUES.get(name) or (f"#{name}" if name in SENT else "?")
    if "enum" in schema:
        return "|".join(schema["enum"])
    kind = schema.get("type", "?")
    if kind == "array":
        return f"[{type_of(schema['items'])}]"
    if kind == "object":
        return f"{{{type_of(schema['additionalProperties'])}}}" if "additionalProperties" in schema else "?"
    return f"{kind}:{schema['format']}" if "format" in schema else kind


def reduced(documents):
    found = {}
    for document in documents:
        schemas = document.get("definitions") or document["components"]["schemas"]
        for full, schema in schemas.items():
            name = full.rpartition(".")[2]
            if name in SENT and full.startswith(GROUPS):
                found[name] = {"fields": {field: type_of(of) for field, of in schema["properties"].items()}}
                if schema.get("required"):
                    found[name]["required"] = schema["required"]
    return dict(sorted(found.items()))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    documents = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            documents.append(json.load(file))
    found = reduced(documents)
    if missing := set(SENT) - set(found):
        sys.exit(f"no definition of {', '.join(sorted(missing))}")
    rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(of)}" for name, of in found.items())
    print(f'{{\n  "version": {json.dumps(sys.argv[1])},\n  "definitions": {{\n{rows}\n  }}\n}}')


if __name__ == "__main__":
    main()
