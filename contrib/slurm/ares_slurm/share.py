"""sshare, by ashare."""
import json

from . import ares, fields
from .argv import Options, words_of

OPTIONS = Options("A,accounts= a,all e,helpformat help json l,long M,clusters= m,partition n,noheader o,format= p,parsable P,parsable2 u,users= U,Users "
                  "usage v,verbose V,version")
FIELDS = fields.Fields("sshare", {
    "Account": -20, "Cluster": 10, "EffectvUsage": 13, "FairShare": 10, "GrpTRESMins": 30, "GrpTRESRaw": 30, "ID": 6, "LevelFS": 10,
    "NormShares": 11, "NormUsage": 11, "Partition": 12, "RawShares": 10, "RawUsage": 11, "TRESRunMins": 30, "User": 10},
    empty=["Cluster", "GrpTRESMins", "GrpTRESRaw", "ID", "Partition", "TRESRunMins"])
IGNORED = {"clusters", "partition", "verbose"}


def usual_format(names):
    text = "Account,User," + ("Partition," if "partition" in names else "") + "RawShares,NormShares,RawUsage,"
    return text + ("NormUsage,EffectvUsage,FairShare,LevelFS,GrpTRESMins,TRESRunMins" if "long" in names else "EffectvUsage,FairShare")


def decimal(value):
    return "" if value is None else f"{value:.6f}"


def text_of(field, line):
    root = line["depth"] == 0  # which has no share of anything
    if field == "Account":
        return " " * line["depth"] + line["account"]
    if field == "RawShares":
        return "" if root else "parent" if line["shares"] is None else str(line["shares"])
    if field == "RawUsage":
        return str(int(line["usage"]))
    if field == "LevelFS":
        return "inf" if line["endless"] else "" if root else decimal(line["level"])
    if field == "User":
        return line["user"]
    return decimal(line[{"NormShares": "norm_shares", "NormUsage": "norm_usage", "EffectvUsage": "effective_usage", "FairShare": "factor"}[field]])


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names or "usage" in names:
        ares.become("ashare", ["--help"])
    if "helpformat" in names:
        FIELDS.print_names(width=17)
        return 0
    passed = words_of(given, IGNORED | {"long", "noheader", "format", "parsable", "parsable2", "json"}) + operands
    if "json" in names:
        ares.become("ashare", ["--json", *passed])
    columns = FIELDS.columns([value for name, value in given if name == "format"] or [usual_format(names)])
    code, output, errors = ares.ask("ashare", ["--json", *passed])
    for line in errors.splitlines():
        ares.tell(f"sshare: error: {ares.message_of('ashare', line)}")
    if code:
        return code
    lines = [line for line in json.loads(output)["lines"] if line["user"] or "Users" not in names]
    rows = [[text_of(column.field, line) for column in columns if column.field] for line in lines]
    fields.print_rows(columns, rows, *fields.layout(names))
    return 0
