"""Many client processes at once, each starting one command after the other, as users' loops do.

A client is a fork of this process that becomes the user and waits for the common start. Then it only starts commands one after the
other and records their start and end: posix_spawn and waitpid, so that the harness adds little time.
"""
import json
import os
import pwd
import time


class Sample:
    """One command: its number in the burst, its start and end (time.perf_counter, the same clock in every process), its exit status
    and its output."""
    __slots__ = ("number", "begin", "end", "status", "text")

    def __init__(self, number, begin, end, status, text):
        self.number, self.begin, self.end, self.status, self.text = number, begin, end, status, text

    @property
    def ms(self):
        return (self.end - self.begin) * 1e3


class Burst:
    """The results of a burst of commands."""

    def __init__(self, samples):
        self.samples = samples

    @property
    def seconds(self):
        return max(s.end for s in self.samples) - min(s.begin for s in self.samples)

    @property
    def failed(self):
        return [s for s in self.samples if s.status != 0]

    @property
    def ms(self):
        return [s.ms for s in self.samples]

    def check(self):
        """Returns self if every command exited with 0; raises otherwise."""
        if self.failed:
            raise RuntimeError(f"{len(self.failed)} of {len(self.samples)} commands failed; the first: {self.failed[0].text.strip()}")
        return self


def become(user):
    if user and os.geteuid() == 0:
        who = pwd.getpwnam(user)
        os.setgroups([])
        os.setgid(who.pw_gid)
        os.setuid(who.pw_uid)


def _one(argv, env, out):
    # The child shares the file offset, so its output ends at the offset after its exit.
    before = os.lseek(out, 0, os.SEEK_CUR)
    begin = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, env, file_actions=[(os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, out, 2)])
    _, status = os.waitpid(pid, 0)
    end = time.perf_counter()
    return before, os.lseek(out, 0, os.SEEK_CUR), begin, end, os.waitstatus_to_exitcode(status)


def _client(numbers, argv_of, env, user, directory, out, gate, keep):
    become(user)
    os.chdir(directory)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.read(gate, 1)  # blocks until the parent closes its end
    rows = []
    for number in numbers:
        before, after, begin, end, status = _one(argv_of(number), env, out)
        text = os.pread(out, min(after - before, keep), before).decode(errors="replace")
        rows.append((number, begin, end, status, text))
    return rows


def burst(clients, count, argv_of, env, directory, user=None, keep=2000):
    """Runs argv_of(0) to argv_of(count - 1) from `clients` processes at once. Keeps the first `keep` bytes of each output.
    `env` needs a PATH. Returns when all commands have ended."""
    gate, opener = os.pipe()
    children = []
    for index in range(min(clients, count)):
        out = os.memfd_create("output")
        result = os.memfd_create("result")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.close(opener)
                os.environ["PATH"] = env["PATH"]
                rows = _client(range(index, count, clients), argv_of, env, user, directory, out, gate, keep)
                with os.fdopen(os.dup(result), "w") as file:
                    json.dump(rows, file)
                code = 0
            except BaseException as error:  # a child must never return into the parent's code
                os.write(2, f"client: {error!r}\n".encode())
            finally:
                os._exit(code)
        os.close(out)
        children.append((pid, result))
    os.close(gate)
    os.close(opener)
    samples, broken = [], 0
    for pid, result in children:
        _, status = os.waitpid(pid, 0)
        if status == 0:
            with os.fdopen(os.dup(result)) as file:
                file.seek(0)
                samples += [Sample(*row) for row in json.load(file)]
        else:
            broken += 1
        os.close(result)
    if broken:
        raise RuntimeError(f"{broken} client processes failed")
    return Burst(sorted(samples, key=lambda sample: sample.begin))
