"""The units in etc/systemd are such that systemd starts them as they are."""

import re
import shutil
import subprocess

import pytest

from cluster import BIN, ROOT

UNITS = sorted((ROOT / "etc/systemd").iterdir())
OURS = re.compile(r"^(ExecStart=)(aresctld|aresd)$", re.MULTILINE)


@pytest.fixture
def installed(tmp_path):
    """The units with the programs of this build, which are not where systemd looks for them."""
    for unit in UNITS:
        (tmp_path / unit.name).write_text(OURS.sub(rf"\1{BIN}/\2", unit.read_text()))
    return tmp_path


def verify(*units):
    if not shutil.which("systemd-analyze"):
        pytest.skip("needs systemd-analyze (Debian package systemd)")
    return subprocess.run(["systemd-analyze", "verify", "--man=no", *map(str, units)], capture_output=True, text=True, timeout=60)


def test_systemd_finds_no_mistake(installed):
    done = verify(*installed.iterdir())
    assert done.returncode == 0 and str(installed) not in done.stderr, done.stderr


def test_verification_finds_mistakes(installed):
    unit = installed / "aresd.service"
    unit.write_text(unit.read_text().replace("KillMode=process", "KillMod=process"))
    assert "KillMod" in verify(unit).stderr


def test_a_restart_of_the_node_daemon_leaves_jobs_alone():
    unit = (ROOT / "etc/systemd/aresd.service").read_text()
    for line in ("KillMode=process", "Delegate=yes", "Wants=ares-jobs.service", "Slice=ares.slice"):
        assert line in unit.splitlines()
    jobs = (ROOT / "etc/systemd/ares-jobs.service").read_text().splitlines()
    for line in ("RemainAfterExit=yes", "Delegate=yes", "Slice=ares.slice"):
        assert line in jobs
    assert not any(line.startswith(("PartOf=", "BindsTo=")) for line in jobs)


def test_nothing_that_jobs_inherit_is_taken_from_them():
    unit = (ROOT / "etc/systemd/aresd.service").read_text()
    settings = {line.split("=")[0] for line in unit.splitlines() if "=" in line and not line.startswith("#")}
    inherited = {"NoNewPrivileges", "CapabilityBoundingSet", "SystemCallFilter", "RestrictNamespaces", "RestrictSUIDSGID",
                 "MemoryDenyWriteExecute", "LockPersonality", "User", "RootDirectory"}
    assert not {name for name in settings if name in inherited or name.startswith(("Protect", "Private"))}
