"""Mail about jobs; the mail program is a script that stores its input."""

import os
import pwd

import pytest

from cluster import Cluster, f1, until

ME = pwd.getpwuid(os.getuid()).pw_name

# Each mail becomes one file, which gets its name when it is complete.
PROGRAM = """#!/bin/sh
out=$(mktemp {folder}/.new.XXXXXX)
{{ echo "$1"; echo "$2"; echo "$3"; cat; }} > "$out"
mv "$out" "{folder}/mail${{out##*.}}"
"""


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    return tmp_path_factory.mktemp("mail")


@pytest.fixture(scope="module")
def cluster(box):
    program = box / "program"
    program.write_text(PROGRAM.format(folder=box))
    program.chmod(0o755)
    made = Cluster(config=f1().replace("controller:\n", f"controller:\n  mail_program: {program}\n", 1))
    yield made
    made.close()


def mails(box, job):
    """Mails about a job, an array or its tasks: (number, rest of the subject, address, text)."""
    found = []
    for path in box.glob("mail*"):
        option, subject, address, text = path.read_text().split("\n", 3)
        assert option == "-s"
        number, said = subject.removeprefix("Ares job ").split(" ", 1)
        if number.split("_")[0] == job:
            found.append((number, said, address, text))
    return sorted(found, key=lambda mail: mail[1])


def settled(cluster, box):
    """Waits until all earlier mails are sent: mails are sent in order, two at a time."""
    for _ in range(2):
        last = cluster.wrap("true", "--mail-type=END")
        until(lambda: mails(box, last))


def test_ac037_one_mail_at_the_beginning_and_one_at_the_end(cluster, box):
    job = cluster.wrap("exit 3", "-J", "train", "--mail-type=begin,END", "--mail-user=team@example.org")
    cluster.wait_state(job, "FAILED")
    settled(cluster, box)
    began, ended = mails(box, job)
    assert began[1].startswith("(train) began after waiting 00:00:")
    assert ended[1].startswith("(train) ended: FAILED, exit code 3, run time 00:00:")
    assert began[2] == ended[2] == "team@example.org"
    for line in (f"Job:         {job}\n", "Name:        train\n", f"User:        {ME}\n", "State:       FAILED",
                 "Exit:        exit code 3\n", "Nodes:       n", f"Directory:   {cluster.work}\n"):
        assert line in ended[3], ended[3]


def test_type_fail_sends_mail_for_failed_jobs_only(cluster, box):
    good = cluster.wrap("true", "--mail-type=FAIL")
    bad = cluster.wrap("false", "--mail-type=FAIL,END")
    cancelled = cluster.wrap("true", "-H", "--mail-type=FAIL")
    silent = cluster.wrap("false", "--mail-type=NONE")
    cluster.cancel(cancelled)
    cluster.completed(good)
    cluster.wait_state(bad, "FAILED")
    cluster.wait_state(silent, "FAILED")
    settled(cluster, box)
    assert mails(box, good) == mails(box, cancelled) == mails(box, silent) == []
    only, = mails(box, bad)
    assert "failed: FAILED, exit code 1" in only[1] and only[2] == ME


def test_array_mails_are_for_the_whole_array_or_for_each_task(cluster, box):
    whole = cluster.wrap("exit $(( ARES_ARRAY_TASK_ID == 1 ))", "--array=0-2", "--mail-type=BEGIN,END")
    each = cluster.wrap("true", "--array=0-2", "--mail-type=END,ARRAY_TASKS")
    cluster.wait_end(whole)
    cluster.completed(each)
    settled(cluster, box)
    began, ended = mails(box, whole)
    assert began[0] == ended[0] == f"{whole}_[0-2]"
    assert "began" in began[1] and "exit code 1" in ended[1]
    assert "Tasks:       2 completed, 1 did not\n" in ended[3]
    assert sorted(mail[0] for mail in mails(box, each)) == [f"{each}_{i}" for i in range(3)]


def test_ac037_each_percentage_of_the_time_limit_is_mailed_once(cluster, box):
    job = cluster.wrap("sleep 600", "-t", "1", "--mail-type=END,TIME_LIMIT,TIME_LIMIT_50,TIME_LIMIT_80,TIME_LIMIT_90")
    cluster.wait_state(job, "RUNNING")
    cluster.run("actl", "update", f"job={job}", "TimeLimit=0:20")
    until(lambda: cluster.state(job) == "TIMEOUT", seconds=60)
    settled(cluster, box)
    said = [mail[1] for mail in mails(box, job)]
    assert [text for text in said if "has used" in text] == [
        f"(wrap) has used {percent} % of its time limit" for percent in (50, 80, 90)]
    assert len(said) == 4 and any("reached its time limit: TIMEOUT" in text for text in said)


def test_mail_options_in_directives_updates_and_refused_values(cluster, box):
    script = cluster.script("#!/bin/sh\n#ARES --mail-type=FAIL,INVALID_DEPEND\n#ARES --mail-user=a@example.org\n")
    job = cluster.submit("-H", str(script))
    assert "MailUser=a@example.org MailType=FAIL,INVALID_DEPEND" in cluster.show("job", job)
    cluster.run("actl", "update", f"job={job}", "MailType=END", "MailUser=")
    assert f"MailUser={ME} MailType=END" in cluster.show("job", job)
    cluster.cancel(job)
    other = cluster.submit("-H", "--wrap", "true", env={"ASUB_MAIL_TYPE": "END"})
    assert "MailType=END" in cluster.show("job", other)
    cluster.cancel(other)
    until(lambda: mails(box, job) and mails(box, other))
    assert mails(box, job)[0][1] == "(job.sh) ended: CANCELLED, never started"

    def refusal(*words):
        done = cluster.run("asub", *words, "--wrap", "true", check=False)
        assert done.returncode == 1
        return done.stderr
    assert "no burst buffers" in refusal("--mail-type=STAGE_OUT")
    assert "unknown mail type" in refusal("--mail-type=SOMETIMES")
    # A bad address costs the mail and not the job.
    for address in ("-froot", "|/bin/sh"):
        done = cluster.run("asub", "--mail-type=END", f"--mail-user={address}", "--wrap", "true")
        assert "does not begin with a letter or digit; no mail will be sent" in done.stderr
        cluster.completed(done.stdout.split()[-1])
        until(lambda: f"the mail address \"{address}\" does not begin" in cluster.logs())


def test_missing_mail_program_is_logged_once_and_delays_no_job(cluster, box):
    path = cluster.dir / "ares.yaml"
    text = path.read_text()
    path.write_text(text.replace(str(box / "program"), str(box / "missing")))
    assert "mail_program" in cluster.run("actl", "reconfigure").stdout
    jobs = [cluster.wrap("true", "--mail-type=ALL") for _ in range(3)]
    done = cluster.run("asub", "-H", "--mail-type=END", "--wrap", "true")
    assert f"asub: no mail will be sent: this site has no mail program {box}/missing" in done.stderr
    cluster.cancel(done.stdout.split()[-1])
    for job in jobs:
        cluster.completed(job)
    until(lambda: "is mended" in (cluster.dir / "log" / "aresctld.log").read_text())
    path.write_text(text)
    cluster.run("actl", "reconfigure")
    settled(cluster, box)
    log = (cluster.dir / "log" / "aresctld.log").read_text()
    assert log.count("it sends no message until that is mended") == 1
