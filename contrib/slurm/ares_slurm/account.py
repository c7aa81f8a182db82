"""sacct, by aacct."""
import os
import sys

from . import ares, fields, table
from .argv import Options, words_of
from .queue import job_id

OPTIONS = Options("a,allusers A,accounts= array b,brief B,batch-script c,completion C,cluster= M,clusters= delimiter= D,duplicates "
                  "e,helpformat E,endtime= env-vars federation f,file= F,flags= g,gid= group= h,help i,nnodes= I,ncpus= j,jobs= json k,timelimit-min= "
                  "K,timelimit-max= l,long L,allclusters local name= n,noheader N,nodelist= noconvert o,format= p,parsable P,parsable2 "
                  "q,qos= r,partition= R,reason= s,state= S,starttime= T,truncate U,units= u,user= uid= usage use-local-uid v,verbose V,version W,wckeys= "
                  "whetjob= x,associations= X,allocations yaml units=")
DEFAULT = "jobid,jobname,partition,account,alloccpus,state,exitcode"
BRIEF = "jobid,state,exitcode"
LONG = ("jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,averss,maxpages,"
        "maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,avecpufreq,"
        "reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,avediskread,"
        "maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,tresusageinave,tresusageinmax,tresusageinmaxn,"
        "tresusageinmaxt,tresusageinmin,tresusageinminn,tresusageinmint,tresusageintot,tresusageoutmax,tresusageoutmaxn,"
        "tresusageoutmaxt,tresusageoutave,tresusageouttot")
# Slurm's names and widths; negative: to the left.
WIDTHS = {
    "Account": 10, "AdminComment": 19, "AllocCPUS": 10, "AllocNodes": 10, "AllocTRES": 10, "AssocID": 7, "AveCPU": 10, "AveCPUFreq": 10,
    "AveDiskRead": 14, "AveDiskWrite": 14, "AvePages": 10, "AveRSS": 10, "AveVMSize": 10, "BlockID": 16, "Cluster": 10, "Comment": 14,
    "Constraints": 19, "Container": 19, "ConsumedEnergy": 14, "ConsumedEnergyRaw": 17, "CPUTime": 10, "CPUTimeRAW": 10, "DBIndex": 10,
    "DerivedExitCode": 15, "Elapsed": 10, "ElapsedRaw": 10, "Eligible": 19, "End": 19, "ExitCode": 8, "Flags": 20, "GID": 6, "Group": 9,
    "JobID": -12, "JobIDRaw": -12, "JobName": 10, "Layout": 9, "MaxDiskRead": 12, "MaxDiskReadNode": 15, "MaxDiskReadTask": 15,
    "MaxDiskWrite": 12, "MaxDiskWriteNode": 16, "MaxDiskWriteTask": 16, "MaxPages": 8, "MaxPagesNode": 12, "MaxPagesTask": 14,
    "MaxRSS": 10, "MaxRSSNode": 10, "MaxRSSTask": 10, "MaxVMSize": 10, "MaxVMSizeNode": 14, "MaxVMSizeTask": 14, "McsLabel": 9,
    "MinCPU": 10, "MinCPUNode": 10, "MinCPUTask": 10, "NCPUS": 10, "NNodes": 8, "NodeList": 15, "NTasks": 8, "Partition": 10,
    "Planned": 10, "PlannedCPU": 10, "PlannedCPURAW": 13, "Priority": 10, "QOS": 10, "QOSRAW": 6, "Reason": 22, "ReqCPUFreq": 10,
    "ReqCPUFreqGov": 13, "ReqCPUFreqMax": 13, "ReqCPUFreqMin": 13, "ReqCPUS": 8, "ReqMem": 10, "ReqNodes": 8, "ReqTRES": 10,
    "Reservation": 20, "ReservationId": 8, "Reserved": 10, "ResvCPU": 10, "ResvCPURAW": 10, "Start": 19, "State": 10, "Submit": 19,
    "SubmitLine": 20, "Suspended": 10, "SystemComment": 19, "SystemCPU": 10, "Timelimit": 10, "TimelimitRaw": 12, "TotalCPU": 10,
    "TRESUsageInAve": 14, "TRESUsageInMax": 14, "TRESUsageInMaxNode": 18, "TRESUsageInMaxTask": 18, "TRESUsageInMin": 14,
    "TRESUsageInMinNode": 18, "TRESUsageInMinTask": 18, "TRESUsageInTot": 14, "TRESUsageOutAve": 15, "TRESUsageOutMax": 15,
    "TRESUsageOutMaxNode": 19, "TRESUsageOutMaxTask": 19, "TRESUsageOutMin": 15, "TRESUsageOutMinNode": 19, "TRESUsageOutMinTask": 19,
    "TRESUsageOutTot": 15, "UID": 6, "User": 9, "UserCPU": 10, "WCKey": 10, "WCKeyID": 8, "WorkDir": 20}
# Of releases after 22.05, whose list --helpformat prints.
LATER = {"Exclusive": 9, "Extra": 19, "FailedNode": 20, "OverSubscribe": 13, "QOSREQ": 10, "ReqReservation": 20, "Restarts": 8,
         "SegmentSize": 11, "StdErr": 20, "StdIn": 20, "StdOut": 20}
# Named otherwise by aacct.
OURS = {"Reserved": "Planned", "ResvCPU": "PlannedCPU", "ResvCPURAW": "PlannedCPURAW"}
# Nothing of this is measured or kept here: an empty column, as Slurm prints without the plugin that measures it.
EMPTY = {"AdminComment", "AssocID", "AveCPUFreq", "AvePages", "AveVMSize", "BlockID", "ConsumedEnergy", "ConsumedEnergyRaw", "DBIndex",
         "FailedNode", "Flags", "Layout", "MaxDiskReadTask", "MaxDiskWriteTask", "MaxPages", "MaxPagesNode", "MaxPagesTask", "MaxRSSTask",
         "MaxVMSize", "MaxVMSizeNode", "MaxVMSizeTask", "McsLabel", "MinCPU", "MinCPUNode", "MinCPUTask", "QOSRAW", "QOSREQ", "ReqCPUFreq",
         "ReqCPUFreqGov", "ReqCPUFreqMax", "ReqCPUFreqMin", "ReservationId", "SystemComment", "TRESUsageInMaxTask", "TRESUsageInMin",
         "TRESUsageInMinNode", "TRESUsageInMinTask", "TRESUsageOutMaxTask", "TRESUsageOutMin", "TRESUsageOutMinNode",
         "TRESUsageOutMinTask", "WCKeyID"}
IGNORED = {"noconvert", "federation", "local", "allclusters", "use-local-uid", "verbose", "truncate", "array"}
OWN = {"format", "noheader", "parsable", "parsable2", "delimiter", "brief", "long", "helpformat", "uid"} | IGNORED


def say(message):
    if message.startswith("with -s alone"):
        return  # advice, which programs that read standard error take for a failure
    if "invalid job id" in message:
        return ares.tell(f"sacct: fatal: Bad job/step specified: {message.split(chr(34))[1]}")
    if "Invalid job state specified" in message:
        return ares.tell(f"sacct: fatal: unrecognized job state value '{message.rpartition(': ')[2]}'")
    ares.tell(f"sacct: error: {message}")


FIELDS = fields.Fields("sacct", WIDTHS, later=LATER, ours=OURS, empty=EMPTY, convert={"JobID": job_id})


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or "usage" in names:
        ares.become("aacct", ["--help"])
    if "helpformat" in names:
        FIELDS.print_names()
        return 0
    if "json" in names or "yaml" in names:
        code, output, errors = ares.ask("aacct", words_of(given, IGNORED) + operands)
        older, slurms = ("rows:", "jobs:") if "yaml" in names else ('"rows"', '"jobs"')
        sys.stdout.write(output.replace(older, slurms, 1))  # the list's name at Slurm; that of Ares is older and stays
        sys.stdout.flush()
        for line in errors.splitlines():
            say(ares.message_of("aacct", line))
        return code
    chosen = [value for name, value in given if name == "format"]
    if not chosen:
        chosen = [LONG if "long" in names else BRIEF if "brief" in names else os.environ.get("SACCT_FORMAT") or DEFAULT]
    columns = FIELDS.columns(chosen)
    asked = [column.field for column in columns if column.field] or ["JobID"]
    passed = words_of(given, OWN) + [f"--user={value}" for name, value in given if name == "uid"]
    code, output, errors = ares.ask("aacct", ["--noheader", "--parsable2", f"--delimiter={table.SEPARATOR}", f"--format={','.join(asked)}",
                                              *passed, *operands])
    delimiter = None
    if "parsable" in names or "parsable2" in names:
        delimiter = next((value for name, value in given if name == "delimiter"), "|")
    if code and not output:
        for line in errors.splitlines():
            say(ares.message_of("aacct", line))
        return code
    fields.print_rows(columns, table.rows_of(output), delimiter, "parsable2" not in names, "noheader" not in names)
    sys.stdout.flush()
    for line in errors.splitlines():
        say(ares.message_of("aacct", line))
    return code
