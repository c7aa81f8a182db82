"""The sources of the manual pages, those that commands print and those that are written by hand."""

import re
import subprocess

import pytest
from cluster import BIN, ROOT

COMMANDS = ("asub acheckpoint arun aalloc aattach abcast aqueue acancel aacct astat aacctmgr ainfo actl adiag areport ashare "
            "aprio").split()
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
    for letter in "AaJjNnrstux%":
        assert f"%{letter} (" in page, f"asub(1) does not name %{letter}"
