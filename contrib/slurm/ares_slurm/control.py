"""scontrol, by actl. What it shows of jobs, nodes and partitions has Slurm's keys, in Slurm's lines."""
import grp
import re
import sys
import time

from . import ares
from .argv import Options, words_of
from .queue import dependency

OPTIONS = Options("a,all d,details F,future federation h,help hide json local M,clusters= o,oneliner Q,quiet sibling u,uid= v,verbose "
                  "V,version yaml usage")
EMPTY = "\0"  # Slurm prints nothing in this place, not (null)
PASSED = {"oneliner", "details", "quiet", "json", "yaml"}
TOKEN = re.compile(r"(?:^|(?<= ))([A-Za-z][\w/:]*)=")

JOB = """\
JobId={JobId}{ArrayJobId: ArrayJobId=}{ArrayTaskId: ArrayTaskId=}{ArrayTaskThrottle: ArrayTaskThrottle=} JobName={JobName}
UserId={UserId} GroupId={GroupId} MCS_label=N/A
Priority={Priority} Nice={Nice} Account={Account} QOS={QOS}{WCKey: WCKey=}
JobState={JobState} Reason={Reason} Dependency={Dependency}
{Source:Source=}
Requeue={Requeue} Restarts={Restarts} BatchFlag={BatchFlag} Reboot=0 ExitCode={ExitCode}
RunTime={RunTime} TimeLimit={TimeLimit} TimeMin={TimeMin}
SubmitTime={SubmitTime} EligibleTime={EligibleTime}
AccrueTime={AccrueTime}
StartTime={StartTime} EndTime={EndTime} Deadline={Deadline}
SuspendTime={SuspendTime} SecsPreSuspend={SecsPreSuspend} LastSchedEval=Unknown Scheduler=Main
Partition={Partition} AllocNode:Sid={SubmitHost}:0
ReqNodeList={ReqNodeList} ExcNodeList={ExcNodeList}
NodeList={NodeList}
{BatchHost:BatchHost=}
NumNodes={NumNodes} NumCPUs={NumCPUs} NumTasks={NumTasks} CPUs/Task={CPUs/Task} ReqB:S:C:T=0:0:*:*
TRES={TRES}
Socks/Node=* NtasksPerN:B:S:C={NtasksPerNode}:0:*:* CoreSpec=*
MinCPUsNode={MinCPUsNode} {MinMemoryName}={MinMemory} MinTmpDiskNode={MinTmpDiskNode}
Features={Features} DelayBoot=00:00:00
{Reservation:Reservation=}
OverSubscribe={OverSubscribe} Contiguous=0 Licenses={Licenses} Network=(null)
Command={Command}
WorkDir={WorkDir}
{Comment:Comment=}
StdErr={StdErr}
StdIn={StdIn}
StdOut={StdOut}
Power=
{TresPerJob:TresPerJob=}
{TresPerNode:TresPerNode=}
{TresPerTask:TresPerTask=}"""
NODE = """\
NodeName={NodeName} Arch=x86_64 CoresPerSocket=1
CPUAlloc={CPUAlloc} CPUEfctv={CPUEfctv} CPUTot={CPUTot} CPULoad={CPULoad}
AvailableFeatures={AvailableFeatures}
ActiveFeatures={ActiveFeatures}
Gres={Gres}
NodeAddr={NodeAddr} NodeHostName={NodeHostName} Version={Version}
OS=Linux
RealMemory={RealMemory} AllocMem={AllocMem} FreeMem={FreeMem} Sockets={CPUTot} Boards=1
{RestrictedCoresPerGPU:RestrictedCoresPerGPU=}
State={State} ThreadsPerCore=1 TmpDisk={TmpDisk} Weight=1 Owner=N/A MCS_label=N/A
Partitions={Partitions}
BootTime=None SlurmdStartTime={RegisterTime}
LastBusyTime=Unknown
CfgTRES={CfgTRES}
AllocTRES={AllocTRES}
CapWatts=n/a
CurrentWatts=0 AveWatts=0
ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s
{Reason:Reason=}"""
PARTITION = """\
PartitionName={PartitionName}
AllowGroups={AllowGroups} AllowAccounts=ALL AllowQos=ALL
AllocNodes=ALL Default={Default} QoS={QoS}
DefaultTime={DefaultTime} DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
MaxNodes={MaxNodes} MaxTime={MaxTime} MinNodes={MinNodes} LLN=NO MaxCPUsPerNode={MaxCPUsPerNode}
Nodes={Nodes}
PriorityJobFactor={PriorityJobFactor} PriorityTier={PriorityTier} RootOnly=NO ReqResv=NO OverSubscribe={OverSubscribe}
OverTimeLimit=NONE PreemptMode={PreemptMode}
State={State} TotalCPUs={TotalCPUs} TotalNodes={TotalNodes} SelectTypeParameters=NONE
JobDefaults=(null)
{MemoryName}={Memory} MaxMemPerNode=UNLIMITED
TRES={TRES}"""
RESERVATION = """\
ReservationName={ReservationName} StartTime={StartTime} EndTime={EndTime} Duration={Duration}
Nodes={Nodes} NodeCnt={NodeCnt} CoreCnt={CoreCnt} Features={Features} PartitionName={PartitionName} Flags={Flags}
TRES={TRES}
Users={Users} Groups=(null) Accounts={Accounts} Licenses={Licenses} State={State} BurstBuffer=(null) Watts=n/a
MaxStartDelay=(null)"""
# In a template: {Key} is the value, {Key:text} is the text and the value where there is one.
PLACE = re.compile(r"\{([\w/]+)(?::([^}]*))?\}")


def records_of(text):
    """The records that actl shows, each as {key: value}. The first of two values for a key counts."""
    for block in text.split("\n\n"):
        record = {}
        for line in block.splitlines():
            at = [found for found in TOKEN.finditer(line.strip())]
            for this, following in zip(at, at[1:] + [None]):
                value = line.strip()[this.end():following.start() if following else None].rstrip()
                record.setdefault(this[1], value)
                if this[1] in ("Command", "WorkDir", "StdIn", "StdOut", "StdErr", "Comment", "Reason", "JobName"):
                    if this.start() == 0:
                        record[this[1]] = line.strip()[this.end():]
                        break
        if record:
            yield record


def fill(template, values, one_line):
    lines = []
    for line in template.split("\n"):
        def put(found):
            value = values.get(found[1])
            if found[2] is None:
                return value.replace(EMPTY, "") if value else "(null)"
            return found[2] + value if value and value != "(null)" else ""
        text = PLACE.sub(put, line)
        if text or line == "":
            lines.append(text)
    return (" " if one_line else "\n   ").join(lines)


def group_of(gid):
    try:
        return f"{grp.getgrgid(int(gid)).gr_name}({gid})"
    except (KeyError, ValueError):
        return f"({gid})"


def for_job(record):
    record["GroupId"] = record["GroupId"] if "(" in record.get("GroupId", "(") else group_of(record["GroupId"])
    allocated = record.get("AllocTRES")
    record["TRES"] = allocated if allocated and allocated != "(null)" else record.get("ReqTRES")
    memory, _, each = record.get("MinMemory", "").partition("/")
    record["MinMemoryName"] = {"cpu": "MinMemoryCPU", "gpu": "MinMemoryGPU"}.get(each.lower(), "MinMemoryNode")
    record["MinMemory"] = "0" if memory in ("", "default") else memory
    record.setdefault("MinTmpDiskNode", "0")
    record.setdefault("SuspendTime", "None")
    record.setdefault("SecsPreSuspend", "0")
    record["MinCPUsNode"] = record.get("CPUs/Task")
    record["Dependency"] = dependency(record.get("Dependency", "(null)"))
    if record.get("NodeList") == "(null)":
        record["NodeList"] = EMPTY
    return record


def for_node(record):
    record["Partitions"] = record.get("Partitions", "")
    record.setdefault("TmpDisk", "0")
    return record


def for_partition(record):
    memory = record.get("DefMemPerCPU", "0")
    record["MemoryName"] = "DefMemPerCPU" if memory.strip("0M") else "DefMemPerNode"
    record["Memory"] = memory.rstrip("M") if memory.strip("0M") else "UNLIMITED"
    record.setdefault("AllowGroups", "ALL")
    return record


SHOWN = {"job": (JOB, for_job), "node": (NODE, for_node), "partition": (PARTITION, for_partition),
         "reservation": (RESERVATION, dict)}
ENTITIES = ["job", "node", "partition", "reservation"]


def entity_of(word):
    """"part", "nodes", "job=12", "jobid": the entity, and what is behind the equals sign."""
    name, _, value = word.lower().partition("=")
    for entity in ENTITIES:
        if name and (entity.startswith(name) or name in (entity + "s", entity + "id", entity + "name")):
            return entity, word.partition("=")[2]
    return None, ""


def show(names, operands):
    entity, value = entity_of(operands[1])
    rest = ([value] if value else []) + operands[2:]
    if entity is None or "json" in names or "yaml" in names:
        return None
    code, output, errors = ares.ask("actl", (["--details"] if "details" in names else []) + ["show", entity, *rest])
    template, complete = SHOWN[entity]
    if "=" not in output:
        print(output, end="")  # that there are none
    for record in records_of(output):
        print(fill(template, complete(record), "oneliner" in names), end="\n" if "oneliner" in names else "\n\n")
    sys.stdout.flush()
    for line in errors.splitlines():
        message = ares.message_of("actl", line)
        text, what = ares.known_part(message)
        if text == "Invalid node name specified":
            print(f"Node {what} not found")
        elif text == "Invalid partition name specified":
            print(f"Partition {what} not found")
        elif text == "Invalid job id specified":
            ares.tell("slurm_load_jobs error: Invalid job id specified")
        elif "invalid job id" in message:
            ares.tell("scontrol_print_job error: Invalid job id specified")
        elif message.startswith("there is no reservation "):
            print(f"Reservation {message.split()[4]} not found")
        else:
            ares.tell(f"scontrol: error: {message}")
    return code


def licenses(rest):
    code, output, errors = ares.ask("actl", ["show", "licenses", *rest])
    for record in records_of(output):
        print(f"LicenseName={record['LicenseName']}\n    Total={record['Total']} Used={record['Used']} Free={record['Free']} Reserved=0 Remote=no")
    if "=" not in output:
        print(output.replace("Ares", "Slurm"), end="")
    for line in errors.splitlines():
        ares.tell(f"scontrol: error: {ares.message_of('actl', line)}")
    return code


def ping():
    code, output, errors = ares.ask("actl", ["ping"])
    host = re.search(r"of cluster (\S+)", output)
    print(f"Slurmctld(primary) at {host[1] if host else 'aresctld'} is {'DOWN' if code else 'UP'}")
    return code


def configuration():
    code, output, errors = ares.ask("actl", ["show", "config"])
    print(f"Configuration data as of {time.strftime('%Y-%m-%dT%H:%M:%S')}")
    for key, ours in (("ClusterName", "cluster"), ("KillWait", "kill_wait"), ("MaxArraySize", "max_array_size"), ("MaxJobCount", "max_jobs"),
                      ("MinJobAge", "min_job_age")):
        found = re.search(rf"^\s*{ours}: (.*)$", output, re.MULTILINE)
        if found:
            print(f"{key.ljust(23)} = {found[1]}{' sec' if key in ('KillWait', 'MinJobAge') else ''}")
    print(f"{'SLURM_VERSION'.ljust(23)} = 22.05.8")
    return code


def say(operands):
    def tell(message):
        if message.startswith("unknown command "):
            return ares.tell(f"invalid keyword: {message.split(maxsplit=2)[2].strip(chr(34))}")
        if message.startswith("nothing is called "):
            return ares.tell(f"invalid entity:{message.split(chr(34))[1]} for keyword:show ")
        if message.startswith("there is no reservation ") and operands[0] == "delete":
            return ares.tell(f"delete_reservation {operands[1]}: Requested reservation is invalid")
        found = re.match(r"job (\S+): (.*)", message)
        text, rest = ares.known_part(found[2] if found else message)
        if found and text:
            return ares.tell(f"{text} for job {found[1]}")
        no_key = re.match(r'a job has no "(.*?)" that can be changed', message)
        if no_key:
            given = next((word for word in operands if word.lower().startswith(no_key[1].lower() + "=")), no_key[1])
            ares.tell(f"Update of this parameter is not supported: {given}")
            return ares.tell("Request aborted")
        return ares.tell(f"{text}: {rest}" if text else f"scontrol: error: {message}")
    return tell


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or not operands:
        ares.become("actl", ["--help"])
    verb = operands[0].lower()
    if verb == "ping":
        return ping()
    if verb == "version":
        print("slurm-wlm 22.05.8")
        return 0
    if verb == "show" and len(operands) > 1:
        if operands[1].lower().startswith("conf"):
            return configuration()
        if operands[1].lower().startswith("lic"):
            return licenses(operands[2:])
        code = show(names, operands)
        if code is not None:
            return code
    if verb == "create" and "quiet" not in names:
        code, output, errors = ares.ask("actl", operands)
        for line in errors.splitlines():
            say(operands)(ares.message_of("actl", line))
        print(re.sub(r"^reservation (\S+) created$", r"Reservation created: \1", output), end="")
        return code
    code = ares.run("actl", words_of([(name, value) for name, value in given if name in PASSED]) + operands, say(operands))
    if verb == "wait_job" and code == 0:
        ares.tell(f"scontrol: Nodes are ready for job {operands[-1].split('=')[-1]}")
    if verb == "update" and code == 0 and any(word.lower().startswith("reservation") for word in operands[1:]):
        print("Reservation updated.")
    return code
