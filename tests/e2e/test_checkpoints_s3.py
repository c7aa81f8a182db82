# Tests: checkpoint/s3/plugin, checkpoint/s3/transport, checkpoint/s3/transfer, checkpoint/s3/store, checkpoint/s3/client, acheckpoint/places, checkpoint_loader, checkpoint_abi, config/checkpoint_fields
"""acheckpoint with an S3 server that verifies signatures and fails on purpose; no cluster. tests/e2e/test_checkpoints_swift.py has a real server."""

import os

import pytest

import checkpoint_cluster
import s3_server
from checkpoint_job import Job, acheckpoint

PLACE = "s3://checkpoints/alice/12"
FIRST = f"{PLACE}/000001.1"
OBJECT = "/checkpoints/alice/12/000001.1/inner/model $a"


@pytest.fixture
def server():
    made = s3_server.S3Server()
    yield made
    made.close()


@pytest.fixture
def env(server, tmp_path):
    (tmp_path / "ares.yaml").write_text(f"checkpoint: {{s3: {{endpoint: '{server.endpoint}', region: {s3_server.REGION}, part_size: 8M, retries: 2, timeout: 1}}}}\n")
    return {"ARES_CONF": str(tmp_path / "ares.yaml"), "AWS_ACCESS_KEY_ID": s3_server.KEY, "AWS_SECRET_ACCESS_KEY": s3_server.SECRET,
            "ARES_CHECKPOINT_PATH": PLACE, "ARES_ATTEMPT_DIR": str(tmp_path / "attempt")}


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


def contents(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def commit(tmp_path, env, size=100):
    new = save(tmp_path, size)
    files = contents(new)
    done = acheckpoint("commit", new, env=env)
    assert done.returncode == 0, done.stderr
    assert not new.exists()
    return files


def fetched(tmp_path, env, *words):
    done = acheckpoint("fetch", *words, FIRST, tmp_path / "got", env=env)
    assert done.returncode == 0, done.stderr
    found = contents(tmp_path / "got")
    return {path: data for path, data in found.items() if path.name != "MANIFEST.json"}


@pytest.mark.parametrize("size", [0, 100, (8 << 20) + 1])
def test_fetched_files_are_those_that_were_committed(server, tmp_path, env, job, size):
    files = commit(tmp_path, env, size)
    assert fetched(tmp_path, env, f"--sha256={job.committed[0][1]}") == files
    assert not server.uploads
    written = [path for method, path, _ in server.seen if method == "PUT"]
    assert written[-1].endswith("/MANIFEST.json")


def test_temporary_failures_are_tried_again(server, tmp_path, env, job):
    server.fail("PUT .*model", 503, 2)
    server.fail("PUT .*MANIFEST", 500)
    server.fail("HEAD", "silent")
    files = commit(tmp_path, env)
    server.fail("GET .*model", "truncated")
    server.fail("GET .*MANIFEST", 500)
    assert fetched(tmp_path, env) == files


def test_lasting_failure_leaves_everything_as_it_was(server, tmp_path, env, job):
    server.fail("PUT .*model.*partNumber=2", 500, 100)
    new = save(tmp_path, 9 << 20)
    done = acheckpoint("commit", new, env=env)
    assert done.returncode == 75 and "no success after 3 tries: HTTP status 500, InternalError" in done.stderr, done
    assert (new / "inner/model $a").exists() and not job.committed and not server.uploads
    assert not any(path.endswith("MANIFEST.json") for path in server.objects)
    assert acheckpoint("list", env=env).stdout == ""


def test_manifest_whose_answer_was_lost_is_its_own(server, tmp_path, env, job):
    """The first try writes it and is not answered; the second is told that it exists."""
    original = s3_server.Handler.do_PUT_signed

    def lose_one(handler, owner, path, query, body):
        if path.endswith("MANIFEST.json") and path not in owner.objects:
            owner.objects[path] = body
            return handler.error(500, "InternalError")
        return original(handler, owner, path, query, body)

    s3_server.Handler.do_PUT_signed = lose_one
    try:
        commit(tmp_path, env)
    finally:
        s3_server.Handler.do_PUT_signed = original


def test_published_checkpoint_is_never_replaced(server, tmp_path, env, job):
    commit(tmp_path, env)
    before = dict(server.objects)
    job.next = 1
    for server.conditional in (True, False):
        done = acheckpoint("commit", save(tmp_path) if server.conditional else tmp_path / "new", env=env)
        assert done.returncode == 1 and "published already" in done.stderr, done
        assert server.objects == before
        job.next = 1


def test_server_without_conditions_is_enough(server, tmp_path, env, job):
    server.conditional = False
    files = commit(tmp_path, env)
    assert fetched(tmp_path, env) == files


def test_refused_commit_leaves_nothing_in_the_bucket(server, tmp_path, env, job):
    job.refuse = "a newer checkpoint was committed meanwhile"
    new = save(tmp_path)
    done = acheckpoint("commit", new, env=env)
    assert done.returncode == 1 and "a newer checkpoint" in done.stderr
    assert not server.objects and (new / "inner/model $a").exists()


def test_older_checkpoints_are_removed(server, tmp_path, env, job):
    for _ in range(4):
        commit(tmp_path, env)
    assert {path.split("/")[4] for path in server.objects} == {"000003.1", "000004.1"}
    assert [line.split(" ")[0] for line in acheckpoint("list", env=env).stdout.splitlines()] == [f"{PLACE}/000003.1", f"{PLACE}/000004.1"]


@pytest.mark.parametrize("how, why", [(lambda data: b"x" * len(data), "its SHA-256 is another one"), (lambda data: data[:-1], "it has another size"),
                                      (lambda data: data + b"x", "it has another size")])
def test_damaged_object_is_found(server, tmp_path, env, job, how, why):
    commit(tmp_path, env)
    server.objects[OBJECT] = how(server.objects[OBJECT])
    done = acheckpoint("fetch", FIRST, tmp_path / "got", env=env)
    assert done.returncode == 1 and why in done.stderr, done
    assert not (tmp_path / "got").exists()
    assert acheckpoint("verify", FIRST, env=env).returncode == 1


def test_another_manifest_and_an_added_object_are_found(server, tmp_path, env, job):
    commit(tmp_path, env)
    done = acheckpoint("fetch", "--sha256=" + "0" * 64, FIRST, tmp_path / "got", env=env)
    assert done.returncode == 1 and "is not the one that was committed" in done.stderr
    server.objects["/checkpoints/alice/12/000001.1/more"] = b"x"
    done = acheckpoint("verify", FIRST, env=env)
    assert done.returncode == 1 and "was added" in done.stderr


def test_wrong_secret_is_refused_and_shown_nowhere(server, tmp_path, env, job):
    done = acheckpoint("list", env={**env, "AWS_SECRET_ACCESS_KEY": "hidden"})
    assert done.returncode == 1 and "SignatureDoesNotMatch" in done.stderr and "hidden" not in done.stderr
    done = acheckpoint("fetch", FIRST, tmp_path / "got", env={**env, "AWS_SECRET_ACCESS_KEY": "hidden"})
    assert done.returncode == 75, "it may be intact"


def test_credentials_file_must_be_private(server, tmp_path, env, job):
    file = tmp_path / "credentials"
    file.write_text(f"[other]\naws_access_key_id={s3_server.KEY}\naws_secret_access_key={s3_server.SECRET}\n")
    file.chmod(0o640)
    own = {name: value for name, value in env.items() if not name.startswith("AWS_")} | {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "other"}
    done = acheckpoint("list", env=own)
    assert done.returncode == 1 and "others can use it: chmod 600" in done.stderr
    file.chmod(0o600)
    assert acheckpoint("list", env=own).returncode == 0


def test_endpoint_that_the_site_does_not_allow_is_refused(server, tmp_path, env, job):
    other = {**env, "AWS_ENDPOINT_URL": server.endpoint.replace("127.0.0.1", "localhost")}
    done = acheckpoint("list", env=other)
    assert done.returncode == 1 and "is not one that the site allows" in done.stderr
    config = tmp_path / "ares.yaml"
    config.write_text(config.read_text().replace("region:", f"allowed_endpoints: ['{other['AWS_ENDPOINT_URL']}'], region:"))
    assert acheckpoint("list", env={**other, "AWS_REGION": s3_server.REGION}).returncode == 0


def test_job_goes_on_from_the_newest_intact_checkpoint(server):
    def damage(uri):
        server.objects[uri.removeprefix("s3:/")] = b"9\n"
    checkpoint_cluster.job_goes_on_from_the_newest_intact_one(server.endpoint, s3_server.REGION, s3_server.KEY, s3_server.SECRET, damage)
