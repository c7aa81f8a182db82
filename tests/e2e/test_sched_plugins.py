"""Scheduler plugins loaded from shared objects: jobs start only on nodes that the plugins allow. A plugin that crashes or hangs causes
a restart of the controller without it, and no job is lost."""

import json
import os
import re
import shutil

import pytest

from cluster import BIN, Cluster, until

MIN_NVLINK = BIN.parent / "plugins/sched/min_nvlink.so"
MISBEHAVING = BIN.parent / "tests/plugins/misbehaving.so"

# Four NVLinks connect 0 and 2, two connect 1 and 3.
MATRIX = (
    "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
    "GPU0\t X \tSYS\tNV4\tSYS\t0-1\t0\n"
    "GPU1\tSYS\t X \tSYS\tNV2\t2-3\t1\n"
    "GPU2\tNV4\tSYS\t X \tSYS\t0-1\t0\n"
    "GPU3\tSYS\tNV2\tSYS\t X \t2-3\t1\n")

CONFIG = """
cluster: test
policy: {{kill_wait: 2, heartbeat: 1, launch_backoff: 1}}
nodes:
  - {{name: "n1", cpus: 8, memory: 4000M, gpus: {{topology: {matrix}}}}}
  - {{name: "n2", cpus: 8, memory: 4000M, gpus: "a100:4"}}
partitions:
  - {{name: main, nodes: ALL, default: true, default_memory_per_cpu: 100M}}
  - {{name: free, nodes: ALL, default_memory_per_cpu: 100M}}
scheduler:
  plugin_timeout: 2
  plugins:
{plugins}
"""


@pytest.fixture
def plugins(tmp_path):
    """Copies of the shared objects, in a folder that is not writable by other users."""
    for built in (MIN_NVLINK, MISBEHAVING):
        if not built.exists():
            pytest.skip(f"{built} is not built")
    folder = tmp_path / "plugins"
    folder.mkdir(mode=0o755)
    tmp_path.chmod(0o755)
    for file in (MIN_NVLINK, MISBEHAVING):
        shutil.copy(file, folder)
        (folder / file.name).chmod(0o755)
    (tmp_path / "matrix.txt").write_text(MATRIX)
    return folder


def start(fresh, plugins, *rows):
    return fresh(config=CONFIG.format(matrix=plugins.parent / "matrix.txt",
                                      plugins="\n".join(f"    - {row}" for row in rows)))


def shown(cluster):
    return {row["name"]: row for row in json.loads(cluster.run("actl", "--json", "show", "plugins").stdout)["plugins"]}


def test_jobs_start_only_on_gpus_with_enough_links(fresh, plugins):
    c = start(fresh, plugins, f"{{name: min_nvlink, path: {plugins}/min_nvlink.so, partitions: [main], options: {{links: 2}}}}")
    assert shown(c)["min_nvlink"]["stages"] == "filter,permit"
    work = "echo $CUDA_VISIBLE_DEVICES $ARES_JOB_NODELIST; exec sleep 300"
    jobs = [c.wrap(work, "-c1", "--gpus-per-node=2") for _ in range(2)]
    for job in jobs:
        c.wait_state(job, "RUNNING")
    assert {until(lambda j=job: c.output(j).strip()) for job in jobs} == {"0,2 n1", "1,3 n1"}

    # The links of n2's GPUs are unknown, and n1's GPUs are in use.
    third = c.wrap("true", "-c1", "--gpus-per-node=2")
    c.wait_reason(third, "Plugin")
    why = c.run("aqueue", "--why", third).stdout
    assert re.search(r"plugin min_nvlink refuses 1 node: no 2 free GPUs of which each is joined", why), why
    # The plugin allows all nodes in other partitions and for single GPUs.
    c.completed(c.wrap("true", "-c1", "--gpus-per-node=2", "-p", "free"))
    c.completed(c.wrap("true", "-c1", "--gpus-per-node=1"))
    # The comment of the job requests four links, which only 0 and 2 have.
    four = c.wrap("true", "-c1", "--gpus-per-node=2", "--comment=min_nvlink=4")
    never = c.wrap("true", "-c1", "--gpus-per-node=2", "--comment=min_nvlink=5")
    c.wait_reason(never, "Plugin")
    assert "even on empty nodes plugin min_nvlink refuses 2 nodes" in c.run("aqueue", "--why", never).stdout
    c.cancel(jobs[0], jobs[1])
    for job in (third, four):
        c.completed(job)
    c.cancel(never)


@pytest.mark.parametrize("how, cause", [("crash", "SIGSEGV"), ("throw", "SIGABRT"), ("hang", "hang")])
def test_failing_plugin_is_set_aside_by_a_restart_and_no_job_is_lost(fresh, plugins, how, cause):
    c = start(fresh, plugins,
              f"{{name: bad, path: {plugins}/misbehaving.so, options: {{how: {how}}}}}",
              f"{{name: good, path: {plugins}/min_nvlink.so}}")
    ran = c.work / "ran"
    ran.mkdir(mode=0o777)
    note = "echo x >> %s/$ARES_JOB_ID" % ran
    before = [c.wrap(f"sleep 1; {note}", "-c1") for _ in range(4)]
    first = c.pid("aresctld")
    # The submission is committed before the plugin is called for the job.
    trigger = c.wrap(note, "-c1", "--comment=misbehave")
    during = [c.wrap(note, "-c1") for _ in range(4)]
    until(lambda: shown(c)["bad"]["set_aside"] == cause, seconds=40)
    assert c.pid("aresctld") != first
    after = [c.wrap(note, "-c1", "--comment=misbehave") for _ in range(4)]
    for job in [*before, trigger, *during, *after]:
        c.completed(job)
        assert (ran / job).read_text() == "x\n", f"job {job} ran more than once"
    assert "scheduler plugin bad is set aside" in c.run("actl", "ping").stdout
    text = c.run("actl", "show", "plugins").stdout
    assert "PluginName=bad State=SET_ASIDE" in text and f"Cause={cause}" in text
    assert "PluginName=good State=ON" in text
    second = c.pid("aresctld")

    # The same file stays set aside; a changed file is loaded again without a restart.
    c.run("actl", "reconfigure")
    assert "State=SET_ASIDE" in c.run("actl", "show", "plugins").stdout
    os.utime(plugins / "misbehaving.so")
    assert "plugin bad: state: set aside -> on" in c.run("actl", "reconfigure").stdout
    assert "State=SET_ASIDE" not in c.run("actl", "show", "plugins").stdout
    assert c.pid("aresctld") == second
    c.completed(c.wrap("true", "-c1"))


def test_invalid_plugins_are_refused_with_their_line(fresh, plugins):
    c = start(fresh, plugins, f"{{name: good, path: {plugins}/min_nvlink.so}}")
    config = c.dir / "ares.yaml"
    text = config.read_text()
    line = next(i for i, row in enumerate(text.splitlines(), 1) if "min_nvlink.so" in row)

    def refused(words, loaded=False):
        check = c.run("aresctld", "--check", "--config", config, check=False)
        assert check.returncode == 1 and f'ares.yaml:{line}: scheduler plugin "good": ' in check.stderr, check.stderr
        assert words in check.stderr
        done = c.run("actl", "reconfigure", check=False)
        if loaded:  # the loaded plugin is a copy that is not writable by other users
            assert "no change" in done.stdout
        else:
            assert done.returncode == 1 and words in done.stderr

    (plugins / "min_nvlink.so").chmod(0o777)
    refused("chmod go-w", loaded=True)
    (plugins / "min_nvlink.so").chmod(0o755)
    plugins.chmod(0o777)
    refused("chmod go-w", loaded=True)
    plugins.chmod(0o755)
    config.write_text(text.replace("min_nvlink.so", "none.so"))
    refused("No such file")
    config.write_text(text.replace('min_nvlink.so"', 'min_nvlink.so", options: {link: 2}'))
    refused('unknown option "link"')
    config.write_text(text)
    assert c.run("aresctld", "--check", "--config", config).returncode == 0
    c.run("actl", "reconfigure")
    # Plugins are removed, and added again with other options, while the controller runs.
    config.write_text(re.sub(r"(?m)^    - .*min_nvlink.so.*\n", "", text))
    c.run("actl", "reconfigure")
    assert "No plugins" in c.run("actl", "show", "plugins").stdout
    config.write_text(text.replace('min_nvlink.so"', 'min_nvlink.so", options: {links: "2"}'))
    assert "plugin good" in c.run("actl", "reconfigure").stdout
    assert shown(c)["good"]["options"] == ["links=2"]
