"""The sources of the manual pages, those that commands print and those that are written by hand."""

import re
import subprocess

import pytest
from cluster import BIN, ROOT

PAGES = sorted((BIN.parent / "man").glob("man[1-8]/*.[1-8]"))
COMMANDS = ("asub acheckpoint arun aalloc aattach abcast aqueue acancel aacct astat aacctmgr ainfo actl adiag areport ashare "
            "aprio aeff await").split()
WRITTEN = sorted(path for path in (ROOT / "man").glob("man[1-8]/*") if path.is_file())

# Arguments of a macro that are words, or are wholly quoted.
ARGUMENTS = re.compile(r'^( +("([^"]|"")*"(?=$| )|[^" ][^" ]*))*$')
JOINING = {"B", "I", "SM"}  # they join their arguments by spaces: only all of them together need quotes


def lost_quotes(page):
    """The lines on which troff takes quotation marks of the text for its own."""
    for line in page.splitlines():
        found = re.match(r"\.(B|I|SM|BI|BR|IB|IR|RB|RI|SB)\b(.*)", line)
        if not found or '"' not in line:
            continue
        macro, rest = found.groups()
        if not ARGUMENTS.match(rest) or (macro in JOINING and not re.fullmatch(r' +"([^"]|"")*"', rest)):
            yield line


def test_lost_quotes_are_recognised():
    assert len(list(lost_quotes('.B seq -f \'{"wrap": "./run %g"}\'\n.B eval "$(x)"\n.BR a"b c'))) == 3
    assert not list(lost_quotes('.B "a b"\n.BR "a b" (1)\n.B \\(dqa\\(dq\nIt says "a".\n.TH A 1 "" "x"'))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_written_page_keeps_its_quotes(path):
    assert not list(lost_quotes(path.read_text()))


@pytest.mark.parametrize("command", COMMANDS)
def test_page_of_a_command_keeps_its_quotes(command):
    done = subprocess.run([str(BIN / command), "--help-man"], text=True, capture_output=True, timeout=30, check=True)
    assert done.stdout.startswith('.\\"')
    assert not list(lost_quotes(done.stdout))


def test_example_of_asub_is_shown_as_it_is_typed():
    page = subprocess.run([str(BIN / "asub"), "--help-man"], text=True, capture_output=True, timeout=30, check=True).stdout
    assert '{\\(dqwrap\\(dq: \\(dq./simulate %g\\(dq}' in page
    for letter in "AabJjNnrstux%":
        assert f"%{letter} (" in page, f"asub(1) does not name %{letter}"


def lint(page):
    """What mandoc finds wrong with a page, without what is so on purpose: pages have no date."""
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", str(page)], text=True, capture_output=True, timeout=60, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if "missing date" not in line]


def test_lint_finds_mistakes(tmp_path):
    page = tmp_path / "wrong.7"
    page.write_text('.TH WRONG 7 "" "Ares" "Concepts"\n.SH NAME\nwrong \\- a page\n.SH DESCRIPTION\n.XY a\n')
    assert any("XY" in line for line in lint(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_well_formed(page):
    assert not lint(page)


def test_pages_name_only_pages_that_exist():
    ours = {f"{page.stem}({page.suffix[1:]})" for page in PAGES}
    assert {"asub(1)", "ares-slurm(7)", "ares.yaml(5)"} <= ours
    for page in PAGES:
        shown = subprocess.run(["mandoc", "-Tutf8", str(page)], text=True, capture_output=True, timeout=60, check=True).stdout
        text = re.sub(".\b", "", shown)  # bold and underlined by overstriking
        for name in re.findall(r"\ba(?:res)?[a-z.-]*\([1-8]\)", text):
            if name.startswith(("ares", "asub", "arun", "aalloc", "aqueue", "aacct", "ainfo", "actl", "acancel")):
                assert name in ours, f"{page.name} names {name}"


def too_wide_tables(page):
    """The lines of the page's tables that do not fit on a terminal of 80 columns."""
    tables = "\n".join(re.findall(r"^\.TS$.*?^\.TE$", page, re.MULTILINE | re.DOTALL))
    text = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=78"], input=f'.TH A 7 ""\n.SH A\n{tables}\n', text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    return [line for line in re.sub(r".\x08", "", text).splitlines() if len(line) > 80]


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.name)
def test_tables_fit_on_a_terminal(path):
    assert too_wide_tables(path.read_text()) == []
    assert too_wide_tables(".TS\nl l.\na\t" + "word " * 20 + "\n.TE\n") != []


def options_of(command):
    """Long options in a command's --help."""
    text = subprocess.run([str(BIN / command), "--help"], text=True, capture_output=True, timeout=30, check=True).stdout
    return set(re.findall(r"--([a-z][a-z-]*[a-z])", text))


def test_written_pages_name_only_options_that_commands_have():
    """A line with a command and an option, as `asub --gres`, in the pages that are written by hand."""
    known = {command: options_of(command) for command in COMMANDS}
    named = 0
    for page in WRITTEN:
        text = page.read_text().replace("\\-", "-").replace("\\fB", "").replace("\\fR", "").replace("\\fI", "")
        for command, option in re.findall(r"\b(a[a-z]+) --([a-z][a-z-]*[a-z])", text):
            if command in known:
                named += 1
                assert option in known[command], f"{page.name}: {command} --{option}"
    assert named > 10
