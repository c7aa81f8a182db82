"""sreport, by areport: Slurm's headings, columns and widths of the reports that both have."""
import functools
import pwd
import re

from . import ares, fields, table
from .argv import Options, words_of

OPTIONS = Options("a,all_clusters federation h,help local M,cluster= n,noheader p,parsable P,parsable2 Q,quiet t,time= T,tres= v,verbose V,version json")
IGNORED = {"all_clusters", "federation", "local", "cluster", "quiet", "verbose"}
# Fields, Slurm's headers, and the widths of amounts and of amounts that are followed by per cent.
AMOUNTS = {"Allocated": ("Allocated", 12, 20), "Down": ("Down", 10, 18), "Idle": ("Idle", 12, 20), "OverCommitted": ("Over Comm", 9, 18),
           "PlannedDown": ("PLND Down", 10, 18), "Planned": ("Planned", 9, 18), "Reported": ("Reported", 12, 20), "Used": ("Used", 10, 18),
           "Energy": ("Energy", 10, 18)}
NAMES = {"Cluster": ("Cluster", 9), "Account": ("Account", 15), "Login": ("Login", 9), "Proper": ("Proper Name", 15), "TresName": ("TRES Name", 14),
         "WCKey": ("WCKey", 20), "QOS": ("QOS", 9)}
OURS = {"Planned": "Reserved", "TresName": "TRESName", "Proper": "Login"}
USUAL = {("cluster", "utilization"): "Cluster,Allocated,Down,PlannedDown,Idle,Planned,Reported",
         ("cluster", "accountutilizationbyuser"): "Cluster,Account,Login,Proper,Used,Energy",
         ("cluster", "accountutilizationbyqos"): "Cluster,Account,QOS,Used,Energy",
         ("cluster", "userutilizationbyaccount"): "Cluster,Login,Proper,Account,Used,Energy",
         ("cluster", "userutilizationbywckey"): "Cluster,Login,Proper,WCKey,Used",
         ("cluster", "wckeyutilizationbyuser"): "Cluster,WCKey,Login,Proper,Used",
         ("user", "topusage"): "Cluster,Login,Proper,Account,Used,Energy"}
PERCENT = re.compile(r"(sec|min|hour)(ond|ute)?per", re.IGNORECASE)


@functools.cache
def proper_name(user):
    try:
        return pwd.getpwnam(user).pw_gecos.split(",")[0]
    except KeyError:
        return ""


def table_of(report, wide, tres, tree):
    widths, headers = {}, {}
    for name, (header, width) in NAMES.items():
        widths[name], headers[name] = width, header
    if tree:
        widths["Account"] = -20
    if report == ("user", "topusage"):
        widths["WCKey"] = 9
    for name, (header, narrow, broad) in AMOUNTS.items():
        widths[name], headers[name] = broad if wide else narrow, header
    # Nothing measures energy.
    return fields.Fields("sreport", widths, headers, OURS, ["Energy"], {"Proper": proper_name})


def report_of(words):
    """The kind of report in its full name, and its words; None: Slurm has no columns of its own for it."""
    if len(words) < 2:
        return None, words
    kind, name = words[0].lower(), words[1].lower()
    found = [key for key in USUAL if key[0].startswith(kind) and key[1].startswith(name)]
    return (found[0] if len(found) == 1 else None), words[2:]


def main(words):
    given, operands = OPTIONS.read(words)
    names = [name for name, _ in given]
    if "help" in names:
        ares.become("areport", ["--help"])
    report, rest = report_of(operands)
    passed = [f"--unit={value}" if name == "time" else f"--{name}={value}" for name, value in given if name in ("time", "tres")]
    if not report or "json" in names:
        ares.become("areport", words_of(given, IGNORED | {"time", "tres"}) + passed + operands)
    unit = next((value for name, value in given if name == "time"), "")
    tres = next((value for name, value in given if name == "tres"), "")
    known = table_of(report, bool(PERCENT.match(unit)), tres, "tree" in [word.lower() for word in rest])
    chosen = [word.partition("=")[2] for word in rest if word.lower().startswith("format=")]
    usual = USUAL[report]
    if tres:
        usual = usual.replace(",Energy", "")
        usual = usual.replace("Cluster,", "Cluster,TresName,", 1) if report[1] == "utilization" else usual.replace(",Used", ",TresName,Used")
    columns = known.columns(chosen or [usual])
    for column in columns:
        column.constant = column.constant if column.field else "0"
    asked = [column.field for column in columns if column.field]
    query = [*operands[:2], *(word for word in rest if not word.lower().startswith("format=")), f"format={','.join(asked) or 'Cluster'}"]
    code, output, errors = ares.ask("areport", [*passed, "--noheader", "--parsable2", f"--delimiter={table.SEPARATOR}", *query])
    delimiter, trailing, header = fields.layout(names)
    if not code:
        if header and not delimiter:
            heading(passed, query, tres)
        fields.print_rows(columns, table.rows_of(output), delimiter, trailing, header)
    for line in errors.splitlines():
        ares.tell(f"sreport: error: {ares.message_of('areport', line)}")
    return code


def heading(passed, query, tres):
    """What areport says above its table, of one TRES in Slurm's words."""
    _, output, _ = ares.ask("areport", [*passed, *query])
    for line in output.splitlines()[:4]:
        line = line.replace(" (percent of what there was)", "/Percentage of Total").replace("Percent of what there was", "Percentage of Total")
        print(re.sub(r"TRES (\S+( of Total)?), of cpu$", r"CPU \1", line) if not tres else line.partition(", of ")[0])
