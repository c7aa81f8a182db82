"""A supervisor's side of `acheckpoint commit`, so that tests need no cluster: it gives numbers and says what the controller knows."""

import os
import socket
import subprocess
import threading

from cluster import BIN


class Job:
    """Serves the socket of one attempt of job 12 in `folder`; `committed` is a list of (sequence, digest, size)."""

    def __init__(self, folder, keep=2, attempt=1, refuse=""):
        self.folder, self.keep, self.attempt, self.refuse = folder, keep, attempt, refuse
        self.committed, self.next = [], 1
        folder.mkdir(exist_ok=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "checkpoint"))
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def close(self):
        self.listener.close()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, client.makefile("rw") as lines:
                for line in lines:
                    lines.write(self.answer(line.split()))
                    lines.flush()

    def answer(self, words):
        if words == ["begin"]:
            self.next += 1
            return f"begun {self.next - 1} {self.attempt} 12\n"
        if self.refuse:
            return f"error {self.refuse}\n"
        self.committed.append((int(words[1]), words[2], int(words[3])))
        return f"recorded\nknown {max(1, int(words[1]) - self.keep + 1)}\n"


def acheckpoint(*words, env, **more):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "ARES_")) and not name.lower().endswith("_proxy")}
    return subprocess.run([str(BIN / "acheckpoint"), *map(str, words)], env={**clean, **env}, text=True, capture_output=True, timeout=120, **more)
