# Tests: scheduler_loop
"""Allocation of nodes, CPUs, memory and GPUs (F2), and the reasons of pending jobs."""

from cluster import until


def test_ac040_node_count_and_exclude(gpu_cluster):
    job = gpu_cluster.wrap("true", "-N3")
    gpu_cluster.completed(job)
    assert gpu_cluster.account(job, "NNodes") == "3"
    job = gpu_cluster.wrap("true", "-N2", "--exclude=n1")
    gpu_cluster.completed(job)
    names = gpu_cluster.run("actl", "show", "hostnames", gpu_cluster.account(job, "NodeList")).stdout.split()
    assert len(names) == 2 and "n1" not in names


def test_ac044_memory_zero_is_the_whole_node(gpu_cluster):
    job = gpu_cluster.wrap("true", "--mem=0")
    gpu_cluster.completed(job)
    assert "mem=4000M" in gpu_cluster.account(job, "AllocTRES")


def test_default_memory_is_shown(gpu_cluster):
    job = gpu_cluster.wrap("echo $ARES_MEM_PER_CPU $SLURM_MEM_PER_CPU", "-n2", "--begin=now+1hour")
    assert gpu_cluster.queue(job, "%m") == "500M"
    assert "MinMemory=500M/cpu" in gpu_cluster.show("job", job)
    assert "mem=1000M" in gpu_cluster.show("job", job).split("ReqTRES=")[1].split()[0]
    gpu_cluster.run("actl", "update", f"jobid={job}", "starttime=now")
    gpu_cluster.completed(job)
    assert gpu_cluster.output(job).split() == ["500", "500"]
    assert gpu_cluster.account(job, "ReqMem") == "1000M"
    job = gpu_cluster.wrap("true", "--gpus=2", "--mem-per-gpu=300")
    gpu_cluster.completed(job)
    assert gpu_cluster.account(job, "ReqMem") == "600M"
    job = gpu_cluster.wrap("echo $ARES_MEM_PER_GPU $SLURM_MEM_PER_GPU", "--gpus-per-task=1", "-n2", "-N1", "--mem-per-gpu=300", "-H")
    shown = gpu_cluster.show("job", job)
    for words in ("MinMemory=300M/gpu", "TresPerTask=gres/gpu:1"):
        assert words in shown, shown
    assert {"mem=600M", "gres/gpu=2"} <= set(shown.split("ReqTRES=")[1].split()[0].split(",")), shown
    gpu_cluster.run("actl", "release", job)
    gpu_cluster.completed(job)
    assert gpu_cluster.output(job).split() == ["300", "300"]
    assert {"mem=600M", "gres/gpu=2"} <= set(gpu_cluster.account(job, "ReqTRES").split(","))
    job = gpu_cluster.wrap("echo $ARES_MEM_PER_NODE", "--mem=0")
    gpu_cluster.completed(job)
    assert gpu_cluster.output(job).strip() == "4000"


def test_ac046_memory_packing(gpu_cluster):
    first = gpu_cluster.wrap("sleep 1000", "--mem=3000", "-w", "n3")
    gpu_cluster.wait_state(first, "RUNNING")
    second = gpu_cluster.wrap("true", "--mem=3000", "-w", "n3")
    gpu_cluster.wait_reason(second, "Resources")
    gpu_cluster.cancel(first)
    gpu_cluster.completed(second)


def test_ac047_cpu_packing(gpu_cluster):
    jobs = [gpu_cluster.wrap("sleep 1000", "-n1", "-w", "n4") for _ in range(4)]
    for job in jobs:
        gpu_cluster.wait_state(job, "RUNNING")
    fifth = gpu_cluster.wrap("true", "-n1", "-w", "n4")
    gpu_cluster.wait_reason(fifth, "Resources")
    gpu_cluster.cancel(*jobs)
    gpu_cluster.completed(fifth)


def test_ac067_allocated_gpus_are_visible_to_the_job(gpu_cluster):
    job = gpu_cluster.wrap('echo "$CUDA_VISIBLE_DEVICES"', "--gres=gpu:2")
    gpu_cluster.completed(job)
    devices = gpu_cluster.output(job).strip().split(",")
    assert len(set(devices)) == 2 and set(devices) <= set("0123")
    assert "gres/gpu=2" in gpu_cluster.account(job, "AllocTRES").split(",")


def test_gpus_are_never_shared(gpu_cluster):
    jobs = [gpu_cluster.wrap('echo "$CUDA_VISIBLE_DEVICES"; sleep 2', "--gpus-per-node=a100:1") for _ in range(4)]
    for job in jobs:
        gpu_cluster.completed(job)
    assert sorted(gpu_cluster.output(job).strip() for job in jobs) == ["0", "1", "2", "3"]


def test_typed_requests_get_gpus_of_that_type(gpu_cluster):
    for kind, node in (("a100", "n1"), ("h100", "n2")):
        job = gpu_cluster.wrap("true", f"--gpus-per-node={kind}:2")
        gpu_cluster.completed(job)
        assert gpu_cluster.account(job, "NodeList") == node


def test_no_gpu_is_visible_to_jobs_without_gpus(gpu_cluster):
    job = gpu_cluster.wrap('echo "[${CUDA_VISIBLE_DEVICES-}]"', "-w", "n1")
    gpu_cluster.completed(job)
    assert gpu_cluster.output(job).strip() in ("[]", "[NoDevFiles]")


def test_ac071_gpus_in_total(gpu_cluster):
    gpus = gpu_cluster.wrap("true", "-N1", "--gpus=3")
    gpu_cluster.completed(gpus)
    assert "gres/gpu=3" in gpu_cluster.account(gpus, "AllocTRES").split(",")


def test_multi_node_job_waits_until_all_nodes_are_free(gpu_cluster):
    blocker = gpu_cluster.wrap("sleep 1000", "-w", "n4", "-n4")
    gpu_cluster.wait_state(blocker, "RUNNING")
    gang = gpu_cluster.wrap("true", "-N4", "-n4")
    gpu_cluster.wait_reason(gang, "Resources")
    assert gpu_cluster.queue(gang, "%N") == ""
    gpu_cluster.cancel(blocker)
    gpu_cluster.completed(gang)


def test_short_job_is_backfilled_before_a_blocked_one(gpu_cluster):
    blocker = gpu_cluster.wrap("sleep 1000", "-w", "n4", "-N1", "-n3", "-t", "10")
    gpu_cluster.wait_state(blocker, "RUNNING")
    blocked = gpu_cluster.wrap("true", "-w", "n4", "-N1", "-n4", "-t", "10")
    gpu_cluster.wait_reason(blocked, "Resources")
    late = gpu_cluster.wrap("true", "-w", "n4", "-t", "30")
    gpu_cluster.wait_reason(late, "Priority")
    gpu_cluster.completed(gpu_cluster.wrap("true", "-w", "n4", "-t", "1"))
    gpu_cluster.cancel(blocker)
    gpu_cluster.completed(blocked)
    gpu_cluster.completed(late)


def test_exclusive_allocates_all_cpus(gpu_cluster):
    job = gpu_cluster.wrap("true", "--exclusive", "-w", "n3")
    gpu_cluster.completed(job)
    assert gpu_cluster.account(job, "AllocCPUS") == "4"
    until(lambda: "idle" in gpu_cluster.run("ainfo", "-h", "-n", "n3", "-o", "%t").stdout)
