"""sacctmgr, by aacctmgr: what it shows has Slurm's columns. Changes are listed in the form of aacctmgr."""
from . import ares, fields
from .argv import Options, words_of

OPTIONS = Options("h,help i,immediate n,noheader o,oneliner p,parsable P,parsable2 Q,quiet r,readonly s,associations v,verbose V,version json usage")
WIDTHS = {"Account": 10, "Admin": 9, "Cluster": 10, "ControlHost": 15, "ControlPort": 12, "Coordinators": 20, "DefaultAccount": 10, "DefaultQOS": 9,
          "DefaultWCKey": 10, "Description": 20, "Flags": 20, "GraceTime": 10, "GrpJobs": 7, "GrpSubmitJobs": 9, "GrpTRES": 13, "GrpTRESMins": 13,
          "GrpTRESRunMins": 13, "GrpWall": 11, "ID": 6, "MaxJobs": 7, "MaxJobsPerAccount": 9, "MaxJobsPerUser": 9, "MaxSubmitJobs": 9,
          "MaxSubmitJobsPerAccount": 11, "MaxSubmitJobsPerUser": 11, "MaxTRESMinsPerJob": 13, "MaxTRESPerAccount": 13, "MaxTRESPerJob": 13,
          "MaxTRESPerNode": 14, "MaxTRESPerUser": 13, "MaxWall": 11, "MinTRESPerJob": 13, "Name": 10, "Organization": 20, "ParentName": 10,
          "Partition": 10, "Preempt": 10, "PreemptExemptTime": 19, "PreemptMode": 11, "Priority": 10, "QOS": 20, "RPC": 5, "Share": 9, "Type": 8,
          "UsageFactor": 11, "UsageThreshold": 10, "User": 10, "WCKey": 10}
HEADERS = {"Coordinators": "Coord Accounts", "DefaultAccount": "Def Acct", "DefaultQOS": "Def QOS", "DefaultWCKey": "Def WCKey",
           "Description": "Descr", "GrpSubmitJobs": "GrpSubmit", "GrpTRESRunMins": "GrpTRESRunMin", "MaxJobsPerAccount": "MaxJobsPA",
           "MaxJobsPerUser": "MaxJobsPU", "MaxSubmitJobs": "MaxSubmit", "MaxSubmitJobsPerAccount": "MaxSubmitPA",
           "MaxSubmitJobsPerUser": "MaxSubmitPU", "MaxTRESMinsPerJob": "MaxTRESMins", "MaxTRESPerAccount": "MaxTRESPA", "MaxTRESPerJob": "MaxTRES",
           "MaxTRESPerUser": "MaxTRESPU", "MinTRESPerJob": "MinTRES", "Organization": "Org", "ParentName": "Par Name",
           "UsageThreshold": "UsageThres"}
# Other names of fields.
NAMES = {"fairshare": "Share", "acct": "Account", "defaultacct": "DefaultAccount", "adminlevel": "Admin", "parent": "ParentName", "coord": "Coordinators",
         "maxtres": "MaxTRESPerJob", "maxtresmins": "MaxTRESMinsPerJob", "grpsubmit": "GrpSubmitJobs", "maxsubmit": "MaxSubmitJobs",
         "maxtrespa": "MaxTRESPerAccount", "maxtrespu": "MaxTRESPerUser", "maxjobspa": "MaxJobsPerAccount", "maxjobspu": "MaxJobsPerUser",
         "maxsubmitpa": "MaxSubmitJobsPerAccount", "maxsubmitpu": "MaxSubmitJobsPerUser", "mintres": "MinTRESPerJob",
         "maxtresperacct": "MaxTRESPerAccount", "maxjobsperacct": "MaxJobsPerAccount", "maxsubmitjobsperacct": "MaxSubmitJobsPerAccount",
         "maxwalldurationperjob": "MaxWall", "maxsubmitjobsperuser": "MaxSubmitJobsPerUser"}
LIMITS = ("Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,GrpWall,GrpTRESMins,MaxJobs,MaxTRESPerJob,MaxTRESPerNode,MaxSubmitJobs,MaxWall,"
          "MaxTRESMinsPerJob,QOS,DefaultQOS,GrpTRESRunMins")
USUAL = {
    "account": "Account,Description,Organization", "association": f"Cluster,Account,User,Partition,{LIMITS}", "user": "User,DefaultAccount,Admin",
    "cluster": "Cluster,ControlHost,ControlPort,RPC,Share,GrpJobs,GrpTRES,GrpSubmitJobs,MaxJobs,MaxTRESPerJob,MaxSubmitJobs,MaxWall,QOS,DefaultQOS",
    "qos": ("Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags%40,UsageThreshold,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,"
            "GrpJobs,GrpSubmitJobs,GrpWall,MaxTRESPerJob,MaxTRESPerNode,MaxTRESMinsPerJob,MaxWall,MaxTRESPerUser,MaxJobsPerUser,"
            "MaxSubmitJobsPerUser,MaxTRESPerAccount,MaxJobsPerAccount,MaxSubmitJobsPerAccount,MinTRESPerJob"),
    "tres": "Type,Name%15,ID", "wckey": "Name,Cluster,User"}
WITH_ASSOCIATIONS = {"account": f"{USUAL['account']},Cluster,ParentName,User,{LIMITS}",
                     "user": f"{USUAL['user']},Cluster,Account,Partition,{LIMITS}"}
# Nothing like it is kept: all users but operators of ares.yaml are of the level None.
CONSTANT = {"Admin": "None", "ControlHost": "", "ControlPort": "", "RPC": ""}


def entity_of(word):
    found = [name for name in USUAL if len(word) > 1 and name.startswith(word.lower())]
    return found[0] if len(found) == 1 else "association" if "associations".startswith(word.lower()) and len(word) > 1 else None


class Manager(fields.Fields):
    def full_name(self, given):
        name = NAMES.get(given.lower())
        try:
            return name or super().full_name(given)
        except SystemExit:
            raise SystemExit(f" Unknown field '{given}'") from None


def columns_of(entity, text):
    known = Manager("sacctmgr", WIDTHS, HEADERS, {"Name": "WCKey"} if entity == "wckey" else {}, CONSTANT)
    columns = known.columns([text])
    for column in columns:
        if column.field is None:
            column.constant = CONSTANT[column.header]
    return columns


def show(given, entity, words):
    names = [name for name, _ in given]
    chosen = [word.partition("=")[2] for word in words if word.lower().startswith("format=")]
    with_associations = "associations" in names or any(word.lower().startswith("withass") for word in words)
    usual = (WITH_ASSOCIATIONS if with_associations else USUAL).get(entity, USUAL[entity])
    columns = columns_of(entity, ",".join(chosen) or usual)
    rest = [word for word in words if not word.lower().startswith("format=")]
    asked = ",".join(column.field for column in columns if column.field) or "Cluster"
    code, output, errors = ares.ask("aacctmgr", ["--noheader", "--parsable2", "show", entity, *rest, f"format={asked}"])
    if not code:
        fields.print_rows(columns, [line.split("|") for line in output.splitlines()], *fields.layout(names))
    for line in errors.splitlines():
        ares.tell(f"sacctmgr: error: {ares.message_of('aacctmgr', line)}")
    return code


def main(words):
    given, operands = OPTIONS.read(words)
    if len(operands) > 1 and "show".startswith(operands[0].lower()) or operands[:1] == ["list"]:
        entity = entity_of(operands[1]) if len(operands) > 1 else None
        if entity and not {"json", "help"} & {name for name, _ in given}:
            return show(given, entity, operands[2:])
    return ares.become("aacctmgr", words_of(given, {"oneliner", "readonly", "verbose"}) + operands)
