"""sstat, by astat."""
import re

from . import ares, fields
from .argv import Options

OPTIONS = Options("a,allsteps e,helpformat h,help i,pidformat j,jobs= n,noheader noconvert o,format= fields= p,parsable P,parsable2 usage v,verbose "
                  "V,version json")
USAGE = {f"TRESUsage{way}{kind}{rest}": width for way, short, long in (("In", 14, 18), ("Out", 15, 19)) for kind, rest, width in (
    ("Ave", "", short), ("Max", "", short), ("Max", "Node", long), ("Max", "Task", long), ("Min", "", short), ("Min", "Node", long),
    ("Min", "Task", long), ("Tot", "", short))}
WIDTHS = {
    "AveCPU": 10, "AveCPUFreq": 10, "AveDiskRead": 12, "AveDiskWrite": 12, "AvePages": 10, "AveRSS": 10, "AveVMSize": 10, "ConsumedEnergy": 14,
    "ConsumedEnergyRaw": 17, "JobID": -12, "MaxDiskRead": 12, "MaxDiskReadNode": 15, "MaxDiskReadTask": 15, "MaxDiskWrite": 12,
    "MaxDiskWriteNode": 16, "MaxDiskWriteTask": 16, "MaxPages": 8, "MaxPagesNode": 12, "MaxPagesTask": 14, "MaxRSS": 10, "MaxRSSNode": 10,
    "MaxRSSTask": 10, "MaxVMSize": 10, "MaxVMSizeNode": 14, "MaxVMSizeTask": 14, "MinCPU": 10, "MinCPUNode": 10, "MinCPUTask": 10,
    "Nodelist": 20, "NTasks": 8, "Pids": 20, "ReqCPUFreq": 10, "ReqCPUFreqMin": 13, "ReqCPUFreqMax": 13, "ReqCPUFreqGov": 13, **USAGE}
HAVE = {"AveCPU", "AveDiskRead", "AveDiskWrite", "AveRSS", "JobID", "MaxRSS", "MaxRSSNode", "Nodelist", "NTasks"}
CLOCK = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")
USUAL = ("JobID,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,AveRSS,MaxPages,MaxPagesNode,MaxPagesTask,AvePages,"
         "MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks,AveCPUFreq,ReqCPUFreqMin,ReqCPUFreqMax,ReqCPUFreqGov,ConsumedEnergy,MaxDiskRead,"
         "MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,MaxDiskWrite,MaxDiskWriteNode,MaxDiskWriteTask,AveDiskWrite,TRESUsageInAve,TRESUsageInMax,"
         "TRESUsageInMaxNode,TRESUsageInMaxTask,TRESUsageInMin,TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutAve,"
         "TRESUsageOutMax,TRESUsageOutMaxNode,TRESUsageOutMaxTask,TRESUsageOutMin,TRESUsageOutMinNode,TRESUsageOutMinTask,TRESUsageOutTot")


def clock(text):
    """00:01.250 as 00:00:01."""
    found = CLOCK.fullmatch(text)
    if not found:
        return text
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return (f"{days}-" if days else "") + f"{hours:02}:{minutes:02}:{seconds:02}"


FIELDS = fields.Fields("sstat", WIDTHS, ours={"Nodelist": "NodeList"}, empty=set(WIDTHS) - HAVE, convert={"AveCPU": clock})


def one_step_each(rows):
    """Of each job the running step with the lowest number, or the batch script."""
    def order(row):
        step = row[0].partition(".")[2]
        return (0, int(step)) if step.isdigit() else (1, 0)
    jobs = {}
    for row in rows:
        jobs.setdefault(row[0].partition(".")[0], []).append(row)
    return [min(steps, key=order) for steps in jobs.values()]


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or "usage" in names:
        ares.become("astat", ["--help"])
    if "helpformat" in names:
        FIELDS.print_names()
        return 0
    jobs = ",".join([value for name, value in given if name == "jobs"] + operands)
    if not jobs:
        ares.tell("sstat: error: No job id given; use -j")
        return 1
    if "json" in names:
        ares.become("astat", ["--json", f"--jobs={jobs}"])
    chosen = [value for name, value in given if name in ("format", "fields")]
    columns = FIELDS.columns(chosen or ["JobID,Nodelist,Pids" if "pidformat" in names else USUAL])
    asked = ["JobID"] + [column.field for column in columns if column.field]
    code, output, errors = ares.ask("astat", ["--allsteps", "--noheader", "--parsable2", f"--jobs={jobs}", f"--format={','.join(asked)}"])
    rows = [line.split("|") for line in output.splitlines()]
    if "allsteps" not in names and "." not in jobs:
        rows = one_step_each(rows)
    if not code:
        fields.print_rows(columns, [row[1:] for row in rows], *fields.layout(names))
    for line in errors.splitlines():
        ares.tell(f"sstat: error: {ares.message_of('astat', line)}")
    return code
