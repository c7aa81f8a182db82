# Tests: aresctld/submit_hook/submit_hooks, actl/submit_hook
"""The site's Lua script for submissions: what it refuses, changes and says, and that a bad one harms nothing else."""

import os
import pathlib
import pwd
import subprocess

import pytest

from cluster import Cluster, f1

ME = pwd.getpwuid(os.getuid()).pw_name
EXAMPLES = pathlib.Path(__file__).parents[2] / "etc" / "submit_hooks"


@pytest.fixture(scope="module")
def hook(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hook")
    folder.chmod(0o755)
    path = folder / "rules.lua"
    path.write_text("")
    path.chmod(0o644)
    return path


@pytest.fixture(scope="module")
def cluster(hook):
    made = Cluster(config=f1() + f"submit_hook: {{file: {hook}, time_limit: 500, memory_limit: 16M}}\n")
    yield made
    made.close()


def rule(hook, body, modify=""):
    hook.write_text(f"function slurm_job_submit(job_desc, part_list, submit_uid)\n{body}\nend\n"
                    f"function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)\n{modify or 'return 0'}\nend\n")


def refusal(cluster, *words):
    done = cluster.run("asub", *words, "--wrap", "true", check=False)
    assert done.returncode == 1 and "Submitted" not in done.stdout
    return done.stderr


def test_hook_refuses_with_its_message_and_nothing_is_submitted(cluster, hook):
    rule(hook, """
        if job_desc.time_limit == slurm.NO_VAL then
          slurm.log_user("%s: give a time limit", job_desc.user_name)
          return slurm.ERROR
        end
        return slurm.SUCCESS""")
    assert f"asub: {ME}: give a time limit" in refusal(cluster)
    assert cluster.run("aqueue", "-h").stdout == ""
    cluster.completed(cluster.wrap("true", "-t", "5"))


def test_users_of_arun_and_aalloc_see_what_the_hook_says(cluster, hook):
    rule(hook, 'slurm.log_user("be short"); return slurm.SUCCESS')
    for command in ("arun", "aalloc"):
        assert f"{command}: be short" in cluster.run(command, "-n1", "true").stderr
        assert "be short" not in cluster.run(command, "-Q", "-n1", "true").stderr


def test_hook_changes_the_job_and_its_environment(cluster, hook):
    rule(hook, """
        if job_desc.name == "wrap" then job_desc.name = "from-hook" end
        job_desc.time_limit = 7
        job_desc.comment = string.upper(job_desc.comment or "") .. #job_desc.script
        job_desc.environment["FROM_HOOK"] = "uid " .. submit_uid
        job_desc.environment["SECRET"] = nil
        slurm.log_user("time limit set to %d minutes", job_desc.time_limit)
        return slurm.SUCCESS""")
    done = cluster.run("asub", "--comment=abc", "-o", "out-hook", "--wrap", "echo $FROM_HOOK/$SECRET/", env={"SECRET": "x"})
    assert "asub: time limit set to 7 minutes" in done.stderr
    job = done.stdout.split()[-1]
    shown = cluster.show("job", job)
    assert "JobName=from-hook" in shown and "TimeLimit=00:07:00" in shown and "Comment=ABC" in shown
    cluster.completed(job)
    assert (cluster.work / "out-hook").read_text() == f"uid {os.getuid()}//\n"


def test_test_only_and_many_jobs_pass_the_hook_too(cluster, hook):
    rule(hook, """
        if job_desc.num_tasks ~= slurm.NO_VAL and job_desc.num_tasks > 2 then slurm.log_user("too many") return -1 end
        job_desc.comment = "seen " .. job_desc.name
        return 0""")
    assert "too many" in refusal(cluster, "--test-only", "-n3")
    listing = cluster.work / "jobs.txt"
    listing.write_text('{"wrap": "true", "hold": true, "job-name": "a"}\n' * 3 + '{"wrap": "true", "hold": true, "job-name": "b"}\n')
    done = cluster.run("asub", "--from", str(listing))
    ids = [line.split()[-1] for line in done.stdout.splitlines()]
    assert len(ids) == 4
    assert ["Comment=seen a" in cluster.show("job", ids[0]), "Comment=seen a" in cluster.show("job", ids[2]),
            "Comment=seen b" in cluster.show("job", ids[3])] == [True] * 3
    listing.write_text('{"wrap": "true", "hold": true}\n{"wrap": "true", "hold": true, "ntasks": 3}\n')
    done = cluster.run("asub", "--from", str(listing), check=False)
    assert done.returncode == 1 and "job 2 of 2: too many" in done.stderr
    for job in ids:
        cluster.cancel(job)
    assert cluster.run("aqueue", "-h").stdout == ""


def test_changes_of_jobs_pass_the_hook(cluster, hook):
    rule(hook, "return 0", """
        if job_desc.time_limit ~= slurm.NO_VAL and job_desc.time_limit > job_rec.time_limit then
          slurm.log_user("job %d has %d minutes", job_rec.job_id, job_rec.time_limit)
          return slurm.ERROR
        end
        if job_desc.name ~= nil then job_desc.comment = "was " .. job_rec.name end
        return slurm.SUCCESS""")
    job = cluster.wrap("true", "-H", "-t", "10")
    done = cluster.run("actl", "update", f"job={job}", "TimeLimit=20", check=False)
    assert done.returncode == 1 and f"job {job} has 10 minutes" in done.stderr
    cluster.run("actl", "update", f"job={job}", "TimeLimit=5")
    cluster.run("actl", "update", f"job={job}", "JobName=new")
    shown = cluster.show("job", job)
    assert "TimeLimit=00:05:00" in shown and "JobName=new" in shown and "Comment=was wrap" in shown
    cluster.cancel(job)


@pytest.mark.parametrize("body, said", [
    ("error('rule 7')", "rules.lua:2: rule 7"),
    ("job_desc.tme_limit = 1 return 0", "job_desc has no field tme_limit"),
    ("job_desc.time_limit = 'soon' return 0", "job_desc.time_limit: "),
    ("while true do end", "it took longer than 500 ms"),
    ("return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40))", "it took longer than 500 ms"),
    ("local t = {} while true do t[#t + 1] = string.rep('x', 1 << 20) .. #t end", "it needed more than 16 MiB"),
    ("os.exit(0)", "has ended"),
    ("return +", "rules.lua:2"),
])
def test_bad_hook_costs_that_submission_only(cluster, hook, body, said):
    rule(hook, body)
    text = refusal(cluster)
    assert said in text and "submit hook of this site failed" in text
    rule(hook, "return 0")
    cluster.completed(cluster.wrap("true"))


def test_hook_that_loops_for_one_user_delays_no_other(cluster, hook, others):
    rule(hook, "if submit_uid == 0 then while true do end end return 0")
    who = pwd.getpwnam(others[0])
    # It has begun, and waits for its script.
    other = subprocess.Popen([str(cluster.bin / "asub"), "--parsable", "-H"], env=cluster.environment(), cwd=cluster.work, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=who.pw_uid, group=who.pw_gid,
                             extra_groups=os.getgrouplist(others[0], who.pw_gid))
    slow = [subprocess.Popen([str(cluster.bin / "asub"), "--wrap", "true"], env=cluster.environment(), cwd=cluster.work,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(30)]
    job = other.communicate("#!/bin/sh\n")[0].strip()
    # Fifteen rounds of half a second are left for the first user: at most two of its calls run at a time.
    assert any(process.poll() is None for process in slow)
    cluster.cancel(job)
    for process in slow:
        _, text = process.communicate()
        assert process.returncode == 1 and b"longer than 500 ms" in text


def test_missing_script_is_a_clear_refusal(cluster, hook):
    hook.unlink()
    assert "rules.lua" in refusal(cluster)
    rule(hook, "return 0")
    hook.chmod(0o666)
    assert "can change it" in refusal(cluster)
    hook.chmod(0o644)
    cluster.completed(cluster.wrap("true"))


def test_repeated_request_is_answered_as_it_was(cluster, hook):
    rule(hook, "job_desc.comment = 'first' return 0")
    first = cluster.run("asub", "--request-id=again-1", "-H", "--wrap", "true").stdout
    rule(hook, "slurm.log_user('no more') return -1")
    assert cluster.run("asub", "--request-id=again-1", "-H", "--wrap", "true").stdout == first
    rule(hook, "return 0")
    cluster.cancel(first.split()[-1])


def test_actl_says_what_a_hook_would_do(cluster, hook, tmp_path):
    tmp_path.chmod(0o755)
    other = tmp_path / "other.lua"
    rule(other, """
        job_desc.partition = part_list["main"].name
        job_desc.time_limit = 60
        job_desc.environment["X"] = "1"
        slurm.log_user("moved")
        return job_desc.num_tasks == 2 and slurm.ERROR or slurm.SUCCESS""")
    other.chmod(0o644)
    script = cluster.script("#!/bin/sh\n#ARES -J tried\ntrue\n")
    done = cluster.run("actl", "submit-hook", "test", str(other), str(script))
    assert done.stdout.splitlines() == ["to the user: moved", 'partition: nil -> "main"', "time_limit: slurm.NO_VAL -> 60",
                                        'environment["X"]: nil -> "1"', "accepted"]
    done = cluster.run("actl", "submit-hook", "test", str(other), "--", "-n2", str(script), check=False)
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "refused"
    assert "tried" not in cluster.run("aqueue", "-h").stdout


def try_example(cluster, name, *words):
    done = cluster.run("actl", "submit-hook", "test", str(EXAMPLES / name), "--", *words, "--wrap", "true", check=False)
    return done.returncode, done.stdout


def test_examples_do_what_they_say(cluster, tmp_path):
    code, text = try_example(cluster, "require_limits.lua")
    assert code == 1 and "give an account" in text
    code, text = try_example(cluster, "require_limits.lua", "-A", "chem")
    assert code == 0 and "time_limit: slurm.NO_VAL -> 60" in text
    code, text = try_example(cluster, "share_of_cpus.lua", "--gpus=2", "-n40")
    assert code == 1 and "40 CPUs are too many for 2 GPUs" in text
    code, text = try_example(cluster, "share_of_cpus.lua", "-c3")
    assert code == 0 and 'environment["OMP_NUM_THREADS"]: nil -> "3"' in text
    code, text = try_example(cluster, "route_by_resources.lua", "-p", "gpu")
    assert code == 1 and "partition gpu is for jobs with GPUs" in text
    code, text = try_example(cluster, "route_by_resources.lua", "--gpus=1", "-p", "gpu")
    assert code == 0 and text == "accepted\n"


def test_change_that_names_an_unknown_job_is_refused_whole(cluster, hook):
    rule(hook, "return 0", "slurm.log_user('no changes') return slurm.ERROR")
    job = cluster.wrap("true", "-H")
    # Without the second one the script refuses; with it the request must not pass it by.
    for jobs in (job, f"{job},4000000"):
        done = cluster.run("actl", "update", f"job={jobs}", "JobName=other", check=False)
        assert done.returncode == 1, done.stderr
    assert "JobName=wrap" in cluster.show("job", job)
    cluster.cancel(job)


def test_taken_back_values_are_seen_and_undone_changes_are_none(cluster, hook):
    rule(hook, "return 0", """
        if job_desc.comment == "" then slurm.log_user("keep the comment") return -1 end
        job_desc.name = nil
        return 0""")
    job = cluster.wrap("true", "-H", "--comment=text")
    done = cluster.run("actl", "update", f"job={job}", "Comment=", check=False)
    assert done.returncode == 1 and "keep the comment" in done.stderr
    cluster.run("actl", "update", f"job={job}", "JobName=other", "Comment=new")
    assert "JobName=wrap" in cluster.show("job", job) and "Comment=new" in cluster.show("job", job)
    cluster.cancel(job)


def test_equal_environments_of_many_jobs_are_sent_once(cluster, hook):
    rule(hook, 'job_desc.environment["FROM_HOOK"] = job_desc.name return 0')
    listing = cluster.work / "many.txt"
    listing.write_text("".join(f'{{"wrap": "echo $FROM_HOOK", "job-name": "{name}"}}\n' for name in "abab"))
    jobs = [line.split()[-1] for line in cluster.run("asub", "--from", str(listing)).stdout.splitlines()]
    for job in jobs:
        cluster.completed(job)
    assert [cluster.output(job) for job in jobs] == ["a\n", "b\n", "a\n", "b\n"]
