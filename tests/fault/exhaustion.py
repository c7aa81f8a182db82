#!/usr/bin/env python3
"""Attacks a private cluster as a user without a credential and shows what that costs the others.

    tests/fault/exhaustion.py [--seconds N] [--commands N] [NAME]...      as root; ARES_BIN_DIR as for the other tests

For each attack: the controller's memory before, at its most and after, and how long another user's aqueue took, p50 and p99,
without and with the attack. Attackers stay on one core.
"""

import argparse
import contextlib
import math
import os
import pathlib
import pwd
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import BIN, Cluster, until  # noqa: E402

ATTACKER = pathlib.Path(__file__).with_name("attacker.py")
CONFIG = """
cluster: exhaustion
controller: {operators: [root]}
policy: {heartbeat: 1}
nodes:
  - {name: n1, cpus: 4, memory: 4G}
partitions:
  - {name: main, nodes: n1, default: true}
"""
# A Request: request_id "x"; list_jobs {expand_arrays, fields 1 to 5}. Its answer has a page of the array that Target submits.
LISTING = "0a0178" "a20109" "4001" "52050102030405"


class Target(Cluster):
    """A cluster of one node whose controller listens by TCP as well, under a soft limit of 1024 descriptors as systemd gives it."""

    def __init__(self):
        self.controller = None
        super().__init__("--no-supervise", config=CONFIG)
        own = self.pid("aresctld")
        os.kill(own, 15)
        until(lambda: not pathlib.Path(f"/proc/{own}").exists() or "Z" in
              pathlib.Path(f"/proc/{own}/stat").read_text().rsplit(")", 1)[1].split()[0])
        socket_path = self.local_socket()
        config = self.top / "tcp.yaml"
        text = (self.dir / "ares.yaml").read_text()
        listen = re.search(r"listen: *(\[.*\]|\n( +- .*\n)+)", text).group(0)
        text = text.replace(listen, f'listen: ["unix:{socket_path}", "tcp:127.0.0.1:0"]\n', 1)
        config.write_text(re.sub(r"(?m)^log:.*\n(?:  .*\n)*", "", text))
        self.logfile = self.top / "controller.log"
        with open(config, "a") as more:
            more.write(f"\nlog: {{file: {self.logfile}, level: info}}\n")
        self.controller = subprocess.Popen(
            ["prlimit", "--nofile=1024:", str(BIN / "aresctld"), "--config", str(config)])
        self.tcp = until(lambda: re.search(r"listening on tcp:(\S+)", self.log())).group(1)
        self.wrap("true", "-H", "--array=0-9999")

    def local_socket(self):
        return re.search(r"unix:([^\"\]\s]+)", (self.dir / "ares.yaml").read_text()).group(1)

    def log(self):
        return self.logfile.read_text()

    def memory(self, key="VmRSS"):
        """Megabytes."""
        text = pathlib.Path(f"/proc/{self.controller.pid}/status").read_text()
        return int(re.search(key + r":\s+(\d+)", text).group(1)) >> 10

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.controller.pid}/fd"))

    def close(self):
        if self.controller:
            self.controller.terminate()
            self.controller.wait(30)
        super().close()


@contextlib.contextmanager
def attackers(kind, target, *options, user="nobody", processes=1, core=None):
    """Runs attackers until the block ends; yields what they have printed so far."""
    made = []
    words = [sys.executable, str(ATTACKER), kind, target, *map(str, options)]
    if os.geteuid() == 0:
        words += ["--user", str(pwd.getpwnam(user).pw_uid)]
    if core is not None:
        words += ["--core", str(core)]
    for _ in range(processes):
        made.append(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    try:
        yield made
    finally:
        for process in made:
            process.kill()
        for process in made:
            process.last = (process.communicate()[0].splitlines() or ["nothing"])[-1]


def commands(cluster, count, user=None):
    """How long each of so many commands took, seconds, the shortest first; one that failed took forever."""
    times = []
    for _ in range(count):
        begin = time.monotonic()
        done = cluster.run("aqueue", "-h", "-o", "%i", user=user, check=False)
        times.append(time.monotonic() - begin if done.returncode == 0 else math.inf)
    return sorted(times)


ATTACKS = {
    "half messages, gRPC socket": lambda t: ("half-messages", "unix:" + t.local_socket()),
    "half messages, TCP": lambda t: ("half-messages", t.tcp, "--connections", 200),
    "half messages in few streams, TCP": lambda t: ("half-messages", t.tcp, "--connections", 200, "--streams", 8,
                                                    "--bytes", 1900 << 10),
    "messages of a gigabyte, TCP": lambda t: ("half-messages", t.tcp, "--connections", 20, "--bytes", (1 << 30) - 1,
                                              "--streams", 1),
    "whole messages, TCP": lambda t: ("whole-messages", t.tcp, "--connections", 50),
    "connections, gRPC socket": lambda t: ("connections", "unix:" + t.local_socket(), "--connections", 5000),
    "connections, local socket": lambda t: ("connections", f"unix:{t.local_socket()}.call", "--connections", 20000),
    "connections, TCP": lambda t: ("connections", t.tcp, "--connections", 20000),
    "unread answers, local socket": lambda t: ("unread", f"unix:{t.local_socket()}.call", "--connections", 500,
                                               "--request", LISTING),
}


def p(times, share):
    return times[min(len(times) - 1, int(len(times) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of attacks; default: all")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--commands", type=int, default=100)
    given = parser.parse_args()
    print(f"{'attack':34} {'MB before':>9} {'most':>6} {'after':>6} {'idle p50':>9} {'p99':>7} {'attacked p50':>13} {'p99':>7}")
    for name, words in ATTACKS.items():
        if given.names and not any(part in name for part in given.names):
            continue
        target = Target()
        try:
            before, open_before = target.memory(), target.descriptors()
            idle = commands(target, given.commands, user="daemon")
            with attackers(*words(target), core=os.cpu_count() - 1) as running:
                begin = time.monotonic()
                busy = commands(target, given.commands, user="daemon")
                while time.monotonic() - begin < given.seconds:
                    busy = sorted(busy + commands(target, 10, user="daemon"))
            # It has noticed the end of the connections. It may have opened some to its database meanwhile.
            until(lambda: target.descriptors() <= open_before + 10)
            print(f"{name:34} {before:9} {target.memory('VmHWM'):6} {target.memory():6} {p(idle, .5) * 1e3:7.1f}ms"
                  f" {p(idle, .99) * 1e3:5.1f}ms {p(busy, .5) * 1e3:11.1f}ms {p(busy, .99) * 1e3:5.1f}ms   {running[0].last}",
                  flush=True)
            for line in target.log().splitlines():
                if " warning " in line:
                    print("    " + line)
        finally:
            target.close()


if __name__ == "__main__":
    sys.exit(main())
