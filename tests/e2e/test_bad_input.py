# Tests: ingress
"""Invalid input is refused with a clear message, and no job is submitted."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from cluster import BIN

SCRIPT = "#!/bin/sh\ntrue\n"

# The options, and a word that the message must contain.
REFUSED = {
    "unknown partition": (["-p", "nowhere"], "nowhere"),
    "time": (["-t", "1:2:3:4"], "1:2:3:4"),
    "time of words": (["-t", "soon"], "soon"),
    "memory": (["--mem=12X"], "12X"),
    "negative memory": (["--mem=-5"], "-5"),
    "array": (["--array=1-"], "1-"),
    "array too big": (["--array=0-100000000"], "100000001 tasks"),
    "array of gaps": (["--array=0-20000:2"], "at most 10000 separate ranges"),
    "array of gigabytes": (["--array=0-1999998:2,2000000-3999998:2"], "too many numbers"),
    "memory that wraps round": (["--gpus-per-node=4", "--mem-per-gpu=4096P"], "at most 1P"),
    "too many dependencies": (["-d", "afterany:1_[0-1000]"], "at most 1000 are allowed"),
    "dependency": (["-d", "sometime:1"], "sometime"),
    "dependency of nothing": (["-d", "afterok:"], "dependency"),
    "hostlist": (["-w", "n[1-"], "n[1-"),
    "unknown node": (["-w", "n99"], "n99"),
    "no CPUs": (["-c", "0"], "0"),
    "too many CPUs": (["-c", "5"], "CPU"),
    "too much memory": (["--mem=5000"], "5000"),
    "no such GPU": (["--gpus-per-node=b900:1"], "b900"),
    "too many nodes": (["-N", "5"], "node"),
    "nodes backwards": (["-N", "3-2"], "3-2"),
    "begin": (["--begin=whenever"], "whenever"),
    "unbuilt option": (["--reservation=x"], "reservation"),
    "unknown licence": (["--licenses=x"], "Invalid license specification"),
    "constraint": (["-C", "a|"], "Invalid feature specification"),
    "unknown feature": (["-C", "wheels"], "Requested node configuration is not available"),
    "no nodes": (["-C", "[f1*0&f2*1]"], "Invalid feature specification"),
    "deadline in the past": (["--deadline=2015-03-27T04:30:00"], "Requested time limit is invalid"),
    "deadline too near": (["--deadline=now+1hour", "-t120"], "Requested time limit is invalid"),
    "unknown option": (["--wibble"], "wibble"),
    "control characters in a name": (["-J", "a\x1bb"], "name"),
}


def refused(cluster, done, *words):
    assert done.returncode not in (0, -6, -11, 134, 139), done
    assert done.stderr.startswith("asub: ") and len(done.stderr) < 1000, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
    assert done.stdout == ""
    assert cluster.run("aqueue", "-h").stdout == ""


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_options_are_refused(cluster, case):
    words, expected = REFUSED[case]
    refused(cluster, cluster.run("asub", *words, cluster.script(SCRIPT), check=False), expected)


def test_missing_script_is_refused(cluster):
    refused(cluster, cluster.run("asub", "./nothing.sh", check=False), "nothing.sh")


def test_folder_as_script_is_refused(cluster):
    refused(cluster, cluster.run("asub", "/tmp/", check=False), "/tmp")


def test_unreadable_script_is_refused(cluster, others):
    path = cluster.script(SCRIPT, "secret.sh")
    path.chmod(0o600)
    refused(cluster, cluster.run("asub", path, user=others[0], check=False), "secret.sh")


def test_binary_script_is_refused(cluster):
    path = cluster.work / "binary"
    path.write_bytes(b"\x7fELF\0\0\0\1")
    refused(cluster, cluster.run("asub", path, check=False), "binary")


def test_script_without_interpreter_is_refused(cluster):
    refused(cluster, cluster.run("asub", cluster.script("echo hi\n", "plain.sh"), check=False), "#!")


def test_empty_script_is_refused(cluster):
    refused(cluster, cluster.run("asub", check=False, input=""))


def test_huge_script_is_refused(cluster):
    path = cluster.work / "huge.sh"
    with path.open("w") as file:
        file.write("#!/bin/sh\n")
        file.truncate(100 << 20)
    refused(cluster, cluster.run("asub", path, check=False), "huge.sh")
    path.unlink()


def test_script_with_dos_line_ends_is_refused(cluster):
    refused(cluster, cluster.run("asub", cluster.script("#!/bin/sh\r\necho\r\n", "dos.sh"), check=False))


def test_environment_of_a_megabyte_reaches_the_job(cluster):
    big = {f"BIG{i}": "x" * 100_000 for i in range(10)}
    job = cluster.wrap('echo ${#BIG0} ${#BIG9}', env=big)
    cluster.completed(job)
    assert cluster.output(job).split() == ["100000", "100000"]


@pytest.mark.parametrize("name", ["Robert'); DROP TABLE journal;--", "%s%n", "äöü", "a b", "$(reboot)"])
def test_special_characters_in_job_names_have_no_effect(cluster, name):
    job = cluster.wrap("true", "-J", name, "-o", "strange.out")
    cluster.completed(job)
    assert cluster.account(job, "JobName") == name


def test_operands_that_are_not_utf8_are_refused_by_their_text(cluster):
    name = "caf\udce9"  # the byte E9
    job = cluster.wrap("true", "-H")
    for command in (("actl", "update", f"job={job}", f"jobname={name}"), ("actl", "update", f"job={job}", f"comment={name}"),
                    ("actl", "hold", f"name={name}"), ("actl", "drain", "n1", f"reason={name}"), ("actl", "show", "partition", name),
                    ("actl", "delete", f"reservation={name}"), ("actl", "notify", job, name), ("areport", "user", "top", f"users={name}")):
        done = cluster.run(*command, check=False)
        assert done.returncode == 1 and re.fullmatch(rf'{command[0]}: ".*caf\?" is not valid UTF-8\n', done.stderr), done
    cluster.run("actl", "write", "batch_script", job, name, errors="surrogateescape")
    assert "true" in (cluster.work / name).read_text(), "names of files may be of any bytes"
    cluster.cancel(job)


def test_output_that_cannot_be_written_is_an_error(cluster):
    def to_full(*words):
        with open("/dev/full", "wb") as full:
            return subprocess.run([BIN / words[0], *words[1:]], stdout=full, stderr=subprocess.PIPE, text=True, env=cluster.environment(), cwd=cluster.work)
    for words in (("ainfo",), ("aqueue", "--json"), ("aacct",), ("actl", "show", "config"), ("aqueue", "--help")):
        done = to_full(*words)
        assert done.returncode == 1 and f"{words[0]}: cannot write standard output" in done.stderr, (words, done)
    done = to_full("asub", "--parsable", "--wrap", "true")
    job = re.match(r"asub: job (\d+) is submitted\n", done.stderr)
    assert done.returncode == 1 and job, done
    cluster.completed(job[1])


def test_same_request_id_submits_one_job(cluster):
    script = cluster.script(SCRIPT, "once.sh")
    first = cluster.submit("--request-id=abc-1", script)
    assert cluster.submit("--request-id=abc-1", script) == first
    done = cluster.run("asub", "--request-id=abc-1", cluster.script("#!/bin/sh\nfalse\n", "other.sh"), check=False)
    assert done.returncode != 0 and first in done.stderr
    cluster.completed(first)


def test_repeated_request_ids_start_each_job_once(cluster):
    script = cluster.script("#!/bin/sh\n#ARES -o /dev/null\necho started >> starts.$1\n", "replay.sh")
    def submit(n):
        return n, subprocess.run([BIN / "asub", "--parsable", f"--request-id=replay-{n}", script, str(n)], text=True,
                                 check=True, capture_output=True, cwd=cluster.work,
                                 env=cluster.environment()).stdout.strip()
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(submit, [n for n in range(100) for _ in range(10)]))
    ids = {n: {job for m, job in answers if m == n} for n in range(100)}
    assert all(len(jobs) == 1 for jobs in ids.values())
    assert len(set.union(*ids.values())) == 100
    for jobs in ids.values():
        cluster.completed(next(iter(jobs)), 120)
    assert all((cluster.work / f"starts.{n}").read_text() == "started\n" for n in range(100))
