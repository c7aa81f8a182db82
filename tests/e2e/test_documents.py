# Tests: cli/output/yaml, document, topology_json
"""--yaml of every command that has --json: a reader of YAML finds the same tree."""

import json

import pytest

from cluster import f1, until

yaml = pytest.importorskip("yaml")
CHANGING = {"now", "lsn", "moved", "last_heard", "heard_at"}


def settled(tree):
    """Without what differs between two looks."""
    if isinstance(tree, dict):
        return {key: settled(value) for key, value in tree.items() if key not in CHANGING}
    return [settled(item) for item in tree] if isinstance(tree, list) else tree


def test_yaml_is_the_same_document_as_json(fresh):
    cluster = fresh(config=f1())
    waiting = cluster.wrap("true", "-H", "-J", "yes", "--comment", "a: b # c", "--extra", '{"x": "2030-01-01"}')
    done = cluster.wrap("true", "-J", "12")
    cluster.wait_end(done)
    until(lambda: cluster.run("aacct", "-n", "-X", "-j", done, "-o", "State").stdout.split() == ["COMPLETED"])
    for words in (["aqueue"], ["aqueue", "-j", waiting], ["aqueue", "--why", waiting], ["aqueue", "-s"], ["ainfo"],
                  ["aacct", "-a", "-j", f"{waiting},{done}"], ["astat", "-a"], ["aprio"], ["ashare", "-a"],
                  ["areport", "cluster", "utilization"], ["aacctmgr", "show", "account"], ["aacctmgr", "show", "transactions"],
                  ["actl", "show", "job", waiting], ["actl", "show", "node", "n1"], ["actl", "show", "partition"],
                  ["actl", "show", "reservation"], ["actl", "show", "licenses"], ["actl", "show", "config"],
                  ["actl", "show", "hostnames", "n[1-3]"]):
        options = words[:1] + ["--json"] + words[1:]
        expected = json.loads(cluster.run(*options).stdout)
        text = cluster.run(*words[:1], "--yaml", *words[1:]).stdout
        assert settled(yaml.safe_load(text)) == settled(expected), words
        assert not text.startswith(("{", "[")) or text in ("{}\n", "[]\n"), text
    refused = cluster.run("aqueue", "--json", "--yaml", check=False)
    assert refused.returncode == 1 and "mutually exclusive" in refused.stderr
    for command in ("aqueue", "ainfo", "aacct", "astat", "aprio", "ashare", "areport", "aacctmgr", "actl"):
        assert "--yaml" in cluster.run(command, "--help-completion").stdout.split(), command
