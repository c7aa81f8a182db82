"""Configuration files of the private Slurm: one host with 64 slots, accounting on. Pure text, no processes.

Three settings: the default configures only the shape of the cluster; `tuned` adds what guides for high throughput recommend, each line
with its purpose; `contained` is tuned, and holds jobs in control groups, as Ares does.
"""

SLOTS = 64
MEMORY_MIB = 65536

# What every site must configure: names, paths and the same shape of cluster as for Ares. Array and job limits are raised in both
# settings, because the workloads need it.
COMMON = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmdPort={slurmd_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/run/munge.sock
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd.pid
# Daemons run in the foreground and log to standard error, once, at the level that the packages ship.
# Loopback only.
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny,block_null_hash
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType={proctrack}
TaskPlugin={task}
MpiDefault=none
# The machine has fewer than 64 cores: use the configured number.
SlurmdParameters=config_overrides
ReturnToService=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd_port}
# How commands that talk to slurmdbd themselves find our munged.
AccountingStoragePass={dir}/run/munge.sock
MaxArraySize=100001
MaxJobCount=200000
NodeName={host} NodeAddr=127.0.0.1 CPUs={slots} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""

# (line, purpose)
TUNED = [
    ("SchedulerParameters=" + ",".join([
        "batch_sched_delay=0",           # try to start a batch job at once (default 3 s)
        "sched_min_interval=100000",     # but run the scheduler at most ten times a second
        "sched_interval=5",              # and every 5 s without a trigger (60)
        "default_queue_depth=200",       # jobs examined after a trigger (100)
        "partition_job_depth=200",
        "sched_max_job_start=0",         # no limit on starts per pass
        "bf_interval=30",                # backfill cannot help with equal jobs: run it rarely,
        "bf_max_job_test=100",           # examine few jobs,
        "bf_resolution=600",             # in coarse steps,
        "bf_continue",                   # and continue where it yielded
        "bf_yield_interval=1000000",
        "max_rpc_cnt=0",                 # never defer scheduling because of many RPCs
    ]), "scheduling"),
    ("PriorityType=priority/basic", "first come, first served: no priorities to work out again"),
    ("MinJobAge=10", "forget finished jobs soon, so that walks over the job table stay short (300)"),
    ("MessageTimeout=100", "a busy controller is slow, not dead (10)"),
    ("TCPTimeout=20", "the same for connections (2)"),
    ("SlurmctldDebug=error", "no log line for every job"),
    ("SlurmdDebug=error", "the same on the node"),
    ("JobAcctGatherType=jobacct_gather/none", "no sampling of processes"),
    ("AccountingStorageEnforce=nosteps", "account jobs, as Ares does, and not their batch steps as well"),
    ("GroupUpdateForce=0", "do not read group membership again every ten minutes"),
]

# Options in the manuals of slurmdbd and MariaDB that trade the last second of accounting for speed.
TUNED_DBD = "# Commit once a second, not after each message.\nCommitDelay=1\n"
TUNED_MARIADB = "# Write to the disk once a second, not at each commit.\ninnodb_flush_log_at_trx_commit=2\n"

DBD = """\
AuthType=auth/munge
AuthInfo=socket={dir}/run/munge.sock
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd_port}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
PidFile={dir}/run/slurmdbd.pid
"""

# Slurm's manual recommends more memory and longer lock timeouts than MariaDB's defaults.
MARIADB = """\
[mariadbd]
datadir={dir}/db
socket={dir}/run/maria.sock
pid-file={dir}/run/mariadbd.pid
log-error={dir}/log/mariadbd.log
skip-networking
user=root
innodb_buffer_pool_size=512M
innodb_log_file_size=64M
innodb_lock_wait_timeout=900
"""


# The 64 slots are more than the machine's cores, so jobs cannot be kept on theirs.
CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupAutomount=no
"""
CONTAINED_CGROUP = CGROUP + """\
ConstrainRAMSpace=yes
ConstrainSwapSpace=yes
ConstrainDevices=yes
"""


def slurm_conf(tuned, contained, **places):
    kind = "cgroup" if contained else "linuxproc"
    text = COMMON.format(slots=SLOTS, memory=MEMORY_MIB, proctrack=f"proctrack/{kind}", task="task/cgroup" if contained else "task/none",
                         **places)
    if tuned:
        text += "".join(f"# {why}\n{line}\n" for line, why in TUNED)
    return text


def files(tuned, contained, **places):
    """File name -> text of every configuration file."""
    return {"slurm.conf": slurm_conf(tuned, contained, **places),
            "slurmdbd.conf": DBD.format(**places) + (TUNED_DBD if tuned else ""),
            "my.cnf": MARIADB.format(**places) + (TUNED_MARIADB if tuned else ""),
            "cgroup.conf": CONTAINED_CGROUP if contained else CGROUP}
