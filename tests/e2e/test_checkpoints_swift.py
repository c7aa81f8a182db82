# Tests: checkpoint/s3/store, checkpoint/s3/client
"""Checkpoints in OpenStack Swift of Debian, which verifies signatures, read by s3cmd of Debian as well. Skipped where they are not installed."""

import os
import shutil
import subprocess

import pytest

import checkpoint_cluster
import swift
from checkpoint_job import Job, acheckpoint


@pytest.fixture(scope="module")
def server():
    if absent := swift.missing():
        pytest.skip(absent)
    made = swift.Swift()
    assert made.request("PUT", "/checkpoints")[0] == 200
    yield made
    made.close()


@pytest.fixture
def place(server, request):
    return f"s3://checkpoints/{request.node.name.lower()}/12"


@pytest.fixture
def env(server, tmp_path, place):
    (tmp_path / "ares.yaml").write_text(f"checkpoint: {{s3: {{endpoint: '{server.endpoint}', region: {swift.REGION}, part_size: 8M, retries: 1}}}}\n")
    credentials = tmp_path / "credentials"
    credentials.write_text(f"[default]\naws_access_key_id = {swift.KEY}\naws_secret_access_key = {swift.SECRET}\n")
    credentials.chmod(0o600)
    return {"ARES_CONF": str(tmp_path / "ares.yaml"), "AWS_SHARED_CREDENTIALS_FILE": str(credentials), "ARES_CHECKPOINT_PATH": place,
            "ARES_ATTEMPT_DIR": str(tmp_path / "attempt")}


@pytest.fixture
def job(tmp_path):
    made = Job(tmp_path / "attempt")
    yield made
    made.close()


def save(tmp_path, size=100):
    new = tmp_path / "new"
    (new / "inner").mkdir(parents=True)
    (new / "inner/model $a").write_bytes(os.urandom(size))
    (new / "empty").touch()
    return new


def commit(tmp_path, env, size=100, *words):
    new = save(tmp_path, size)
    files = {path.relative_to(new): path.read_bytes() for path in new.rglob("*") if path.is_file()}
    done = acheckpoint("commit", new, *words, env=env)
    assert done.returncode == 0, done.stderr
    assert not new.exists()
    return files


def test_swift_has_no_conditional_put(server):
    """Then the names, which have the attempt, keep two attempts apart; the manifest is looked for before it is written."""
    assert server.request("PUT", "/checkpoints/conditional", b"x", {"If-None-Match": "*"})[0] == 501


def test_committed_checkpoint_is_listed_verified_and_fetched(server, tmp_path, env, job, place):
    files = commit(tmp_path, env, 100, "--step=7")
    listed = acheckpoint("list", env=env)
    assert listed.stdout.startswith(f"{place}/000001.1 sequence=1 attempt=1 files=2 bytes=100 step=7"), listed
    assert "is intact" in acheckpoint("verify", f"{place}/000001.1", env=env).stdout
    done = acheckpoint("fetch", f"--sha256={job.committed[0][1]}", f"{place}/000001.1", tmp_path / "got", env=env)
    assert done.returncode == 0, done.stderr
    assert {path: (tmp_path / "got" / path).read_bytes() for path in files} == files
    assert "is intact" in acheckpoint("verify", tmp_path / "got", env=env).stdout


def test_large_file_is_sent_in_parts(server, tmp_path, env, job, place):
    files = commit(tmp_path, env, (20 << 20) + 5)
    done = acheckpoint("fetch", f"{place}/000001.1", tmp_path / "got", env=env)
    assert done.returncode == 0, done.stderr
    assert {path: (tmp_path / "got" / path).read_bytes() for path in files} == files


def test_older_checkpoints_are_removed(server, tmp_path, env, job, place):
    for _ in range(4):
        commit(tmp_path, env)
    names = [line.split(" ")[0].rsplit("/", 1)[1] for line in acheckpoint("list", env=env).stdout.splitlines()]
    assert names == ["000003.1", "000004.1"]
    assert b"000001.1" not in server.request("GET", "/checkpoints?list-type=2")[1].split(place.split("/", 3)[3].encode())[-1]


def test_damaged_and_missing_objects_are_found(server, tmp_path, env, job, place):
    commit(tmp_path, env)
    path = "/checkpoints/" + place.split("/", 3)[3] + "/000001.1/inner/model $a"
    assert server.request("PUT", path, b"x" * 100)[0] == 200
    for words in (["verify"], ["fetch"]):
        more = [tmp_path / "got"] if words == ["fetch"] else []
        done = acheckpoint(*words, f"{place}/000001.1", *more, env=env)
        assert done.returncode == 1 and "is damaged: its SHA-256 is another one" in done.stderr, done
    assert not (tmp_path / "got").exists()
    assert server.request("DELETE", path)[0] == 204
    done = acheckpoint("fetch", f"{place}/000001.1", tmp_path / "got", env=env)
    assert done.returncode == 1 and "it is not there" in done.stderr


def test_wrong_secret_is_refused_and_not_shown(server, tmp_path, env, job):
    (tmp_path / "credentials").write_text(f"[default]\naws_access_key_id = {swift.KEY}\naws_secret_access_key = hidden\n")
    done = acheckpoint("commit", save(tmp_path), env=env)
    assert done.returncode == 1 and "refuses these credentials" in done.stderr and "hidden" not in done.stderr, done
    listed = acheckpoint("list", env=env)
    assert listed.returncode == 1 and "SignatureDoesNotMatch" in listed.stderr and "hidden" not in listed.stderr, listed
    assert (tmp_path / "new/empty").exists() and not job.committed


def test_s3cmd_reads_the_same_files(server, tmp_path, env, job, place):
    if not shutil.which("s3cmd"):
        pytest.skip("s3cmd is not installed")
    files = commit(tmp_path, env)
    host = server.endpoint.removeprefix("http://")
    (tmp_path / "s3cfg").write_text(f"[default]\naccess_key = {swift.KEY}\nsecret_key = {swift.SECRET}\nhost_base = {host}\nhost_bucket = {host}\n"
                                    f"use_https = False\nbucket_location = {swift.REGION}\nsignature_v2 = False\n")
    (tmp_path / "got").mkdir()
    done = subprocess.run(["s3cmd", "-c", tmp_path / "s3cfg", "get", "--recursive", f"{place}/000001.1/", tmp_path / "got"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {path: (tmp_path / "got" / path).read_bytes() for path in files} == files


def test_job_goes_on_from_the_newest_intact_checkpoint(server):
    def damage(uri):
        assert server.request("PUT", uri.removeprefix("s3:/"), b"9\n")[0] == 200
    checkpoint_cluster.job_goes_on_from_the_newest_intact_one(server.endpoint, swift.REGION, swift.KEY, swift.SECRET, damage)
