# Tests: job_waiters
"""Submission and scripts: AC-003 to AC-018, AC-026, AC-034, AC-035; directives and options on the command line."""

import os
import pwd
import re

import pytest

from cluster import until


def test_ac003_wrap(cluster):
    job = cluster.wrap("echo hi")
    cluster.completed(job)
    assert cluster.output(job) == "hi\n"
    assert cluster.account(job, "JobName") == "wrap"


def test_ac004_default_output_holds_both_streams(cluster):
    job = cluster.wrap("echo out; echo err >&2")
    cluster.completed(job)
    assert sorted(cluster.output(job).split()) == ["err", "out"]


def test_ac005_output_and_error_apart(cluster):
    job = cluster.wrap("echo out; echo err >&2", "-o", "o.%j", "-e", "e.%j")
    cluster.completed(job)
    assert cluster.output(job, f"o.{job}") == "out\n"
    assert cluster.output(job, f"e.{job}") == "err\n"


def test_ac006_pattern_escapes(cluster):
    job = cluster.wrap("echo hi", "-o", "x%%y_%j_%u")
    cluster.completed(job)
    user = pwd.getpwuid(os.geteuid()).pw_name
    assert cluster.output(job, f"x%y_{job}_{user}") == "hi\n"


def test_ac007_zero_padding(cluster):
    job = cluster.wrap("echo hi", "-o", "%8j.out")
    cluster.completed(job)
    assert cluster.output(job, f"{int(job):08d}.out") == "hi\n"


def test_ac009_output_by_environment(cluster):
    job = cluster.wrap("echo f", env={"ASUB_OUTPUT": "f9"})
    cluster.completed(job)
    assert cluster.output(job, "f9") == "f\n"
    job = cluster.wrap("echo g", "-o", "g9", env={"ASUB_OUTPUT": "f9"})
    cluster.completed(job)
    assert cluster.output(job, "g9") == "g\n"
    assert cluster.output(job, "f9") == "f\n"


def test_ac010_open_mode(cluster):
    for mode, expected in [("truncate", 1), ("append", 2), ("truncate", 1)]:
        job = cluster.wrap("echo line", "-o", "mode.out", f"--open-mode={mode}")
        cluster.completed(job)
        assert cluster.output(job, "mode.out") == "line\n" * expected


def test_ac011_command_line_overrides_environment_overrides_directives(cluster):
    script = cluster.script("#!/bin/sh\n#ARES --job-name=a\ntrue\n", "prec.sh")
    for words, env, expected in [(["-J", "c"], {"ASUB_JOB_NAME": "b"}, "c"), ([], {"ASUB_JOB_NAME": "b"}, "b"), ([], {}, "a")]:
        job = cluster.submit(*words, script, env=env)
        cluster.completed(job)
        assert cluster.account(job, "JobName") == expected


def test_ac012_directives_stop_at_the_first_command(cluster):
    job = cluster.submit(cluster.script("#!/bin/sh\ntrue\n#ARES -J late\n", "stops.sh"))
    cluster.completed(job)
    assert cluster.account(job, "JobName") == "stops.sh"


def test_ac014_script_from_standard_input(cluster):
    job = cluster.submit(input="#!/bin/sh\n#ARES -o stdin.out\necho from stdin\n")
    cluster.completed(job)
    assert cluster.output(job, "stdin.out") == "from stdin\n"


def test_ac015_multi_node_job_runs_its_script_once(cluster):
    job = cluster.wrap('echo "$ARESD_NODENAME" >> once.txt', "-N3", "-n6")
    cluster.completed(job)
    nodes = cluster.account(job, "NNodes,NodeList").split("|")
    assert nodes[0] == "3"
    lines = cluster.output(job, "once.txt").splitlines()
    assert len(lines) == 1
    assert lines[0] == cluster.run("actl", "show", "hostnames", nodes[1]).stdout.splitlines()[0]


def test_ac018_impossible_number_of_nodes_is_refused(cluster):
    done = cluster.run("asub", "-N1000000", "--wrap", "true", check=False)
    assert done.returncode != 0
    assert "node" in done.stderr.lower()
    assert cluster.run("aqueue", "-h").stdout == ""


def test_ac026_hold_and_release(cluster):
    job = cluster.wrap("echo ran", "-H")
    cluster.wait_reason(job, "JobHeldUser")
    assert cluster.queue(job, "%t") == "PD"
    cluster.run("actl", "release", job)
    cluster.completed(job)


def test_ac034_umask_of_the_submitter_is_used(cluster):
    job = cluster.wrap("umask; touch made.077", preexec_fn=lambda: os.umask(0o077))
    cluster.completed(job)
    assert cluster.output(job).strip() in ("0077", "077")
    assert (cluster.work / "made.077").stat().st_mode & 0o777 == 0o600


def test_ac035_job_runs_with_the_submitters_user_and_group(cluster, others):
    user = others[0]
    job = cluster.wrap("id -u; id -g", user=user)
    cluster.completed(job)
    who = pwd.getpwnam(user)
    assert cluster.output(job).split() == [str(who.pw_uid), str(who.pw_gid)]
    assert cluster.account(job, "User", "-a") == user


def test_arguments_reach_the_script(cluster):
    script = cluster.script('#!/bin/sh\nfor a in "$@"; do echo "[$a]"; done\n', "args.sh")
    job = cluster.submit(script, "one", "two words", "--three")
    cluster.completed(job)
    assert cluster.output(job) == "[one]\n[two words]\n[--three]\n"


def test_chdir_sets_the_working_directory(cluster):
    folder = cluster.work / "elsewhere"
    folder.mkdir()
    job = cluster.wrap("pwd", "-D", "elsewhere")
    cluster.completed(job)
    assert (folder / f"ares-{job}.out").read_text().strip() == str(folder)


def test_wait_returns_the_exit_code_of_the_job(cluster):
    done = cluster.run("asub", "--wait", "--wrap", "exit 7", check=False)
    assert done.stdout.startswith("Submitted batch job ")
    assert done.returncode == 7


@pytest.mark.parametrize("command,state,code", [("exit 0", "COMPLETED", "0:0"), ("exit 3", "FAILED", "3:0"),
                                                ("kill -9 $$", "FAILED", "0:9"), ("kill -TERM $$", "FAILED", "0:15")])
def test_exit_code_and_signal_determine_the_state(cluster, command, state, code):
    job = cluster.wrap(command)
    assert set(cluster.wait_end(job).values()) == {state}
    assert cluster.account(job, "ExitCode") == code


def test_job_environment_has_the_essential_variables(cluster):
    job = cluster.wrap("env", "-N2", "-n4", "-c1", "-J", "enviro", env={"MINE": "carried"})
    cluster.completed(job)
    env = dict(line.split("=", 1) for line in cluster.output(job).splitlines() if "=" in line)
    assert env["MINE"] == "carried"
    expected = {"ARES_JOB_ID": job, "ARES_JOB_NAME": "enviro", "ARES_JOB_NUM_NODES": "2", "ARES_NTASKS": "4",
                "ARES_JOB_PARTITION": "main", "ARES_SUBMIT_DIR": str(cluster.work), "ARES_CLUSTER_NAME": "test",
                "ARES_NODEID": "0", "ARES_TASKS_PER_NODE": "2(x2)", "ARES_JOB_CPUS_PER_NODE": "2(x2)"}
    assert {k: env.get(k) for k in expected} == expected
    assert env["ARES_JOB_NODELIST"] == cluster.account(job, "NodeList")


def test_variables_of_both_prefixes_are_options_and_unknown_ones_are_warned_of(cluster):
    done = cluster.run("asub", "--parsable", "-H", "--wrap", "true",
                       env={"ASUB_BOGUS": "1", "SBATCH_COMMENT": "slurm", "SBATCH_JOB_NAME": "theirs", "ASUB_JOB_NAME": "ours",
                            "ASUB_TIMELIMIT": "3"})
    assert done.stderr == "asub: warning: the environment variable ASUB_BOGUS is not the name of an option, and has no effect\n"
    job = done.stdout.strip()
    assert cluster.queue(job, "%k|%j|%l") == "slurm|ours|3:00"
    cluster.cancel(job)


def test_call_of_srun_is_warned_of_where_there_is_none(cluster):
    script = cluster.script("#!/bin/sh\nsrun hostname\n")
    done = cluster.run("asub", "--parsable", "-H", script, env={"PATH": "/nonexistent"})
    assert re.fullmatch(r"asub: warning: \S+ calls srun, which PATH does not have here; .*\n", done.stderr), done.stderr
    cluster.cancel(done.stdout.strip())


def test_export_none_does_not_pass_the_environment_on(cluster):
    job = cluster.wrap('echo "[${MINE-unset}]$A"', "--export=NONE,A=1", env={"MINE": "x"})
    cluster.completed(job)
    assert cluster.output(job) == "[unset]1\n"
    job = cluster.wrap('echo "[${MINE-unset}]"', "--export=NONE", env={"MINE": "x"})
    cluster.completed(job)
    assert cluster.output(job) == "[unset]\n"


def test_accounting_times_and_resources(cluster):
    job = cluster.wrap("sleep 1.2", "-n2", "--mem=300M")
    cluster.completed(job)
    elapsed, cpus, tres = cluster.account(job, "ElapsedRaw,AllocCPUS,AllocTRES").split("|")
    assert 1 <= int(elapsed) <= 5
    assert cpus == "2"
    assert {"cpu=2", "mem=300M", "node=1"} <= set(tres.split(","))


def test_job_waits_until_its_begin_time(cluster):
    job = cluster.wrap("true", "--begin=now+3")
    cluster.wait_reason(job, "BeginTime")
    cluster.completed(job)


def test_ended_jobs_leave_no_records_on_the_nodes(cluster):
    job = cluster.wrap("true")
    cluster.completed(job)
    def left():
        return [p for p in (cluster.dir / "spool").glob("*/**/started") if p.parent.name.startswith(f"{job}.")]
    until(lambda: not left(), 15)
