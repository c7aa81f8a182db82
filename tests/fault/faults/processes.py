"""Processes of this machine, named so that a number that was given again is not mistaken for the process that had it."""
import contextlib
import dataclasses
import os
import pathlib
import re
import signal


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, ...; OSError if there is no such process."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@dataclasses.dataclass(frozen=True, order=True)
class Process:
    pid: int
    start_ticks: int

    @staticmethod
    def of(pid):
        """LookupError if it does not run."""
        try:
            fields = stat_fields(pid)
        except OSError as error:
            raise LookupError(f"no process {pid}") from error
        if fields[0] in "ZX":
            raise LookupError(f"process {pid} has ended")
        return Process(int(pid), int(fields[19]))

    def alive(self):
        try:
            return Process.of(self.pid) == self
        except LookupError:
            return False

    def send(self, number):
        """False if it has ended."""
        try:
            fd = os.pidfd_open(self.pid)
        except OSError:
            return False
        try:
            if not self.alive():
                return False
            signal.pidfd_send_signal(fd, number)
            return True
        except OSError:
            return False
        finally:
            os.close(fd)

    def name(self):
        try:
            return pathlib.Path(f"/proc/{self.pid}/comm").read_text().strip()
        except OSError:
            return ""


def recorded(path, key="pid"):
    """The process that a record of acluster or of a spool names."""
    fields = dict(line.split(" ", 1) for line in path.read_text().splitlines() if " " in line)
    return Process.of(int(fields[key]))


def everything():
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                yield Process.of(entry)
            except LookupError:
                continue


def children(parent):
    found = []
    for process in everything():
        try:
            if int(stat_fields(process.pid)[1]) == parent.pid:
                found.append(process)
        except OSError:
            continue
    return found


def descendants(parent):
    found = children(parent)
    for child in list(found):
        found += descendants(child)
    return found


def texts(process):
    """(command line, directory, environment), as far as they can be read."""
    where = pathlib.Path(f"/proc/{process.pid}")
    line, directory, environment = b"", "", b""
    with contextlib.suppress(OSError):
        line = (where / "cmdline").read_bytes().replace(b"\0", b" ")
        directory = os.readlink(where / "cwd")
        environment = (where / "environ").read_bytes()
    return line.decode(errors="replace"), directory, environment.decode(errors="replace")


def belonging_to(mark, folder):
    """Processes that have `mark` in their environment or command line, or that run in `folder`."""
    found = []
    for process in everything():
        if process.pid == os.getpid():
            continue
        line, directory, environment = texts(process)
        if mark in line + environment or directory.startswith(str(folder)):
            found.append((process, line))
    return found


def of_job(top, job):
    """Processes of the job of the cluster in folder `top`, without their supervisor and init."""
    mark = re.compile(re.escape(str(top)) + rf"\S*/{re.escape(job)}\.\d")
    found = []
    for process in everything():
        line, _, environment = texts(process)
        if (mark.search(line) or mark.search(environment)) and process.name() != "aresstepd":
            found.append((process, line))
    return found
