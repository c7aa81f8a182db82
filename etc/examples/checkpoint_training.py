#!/usr/bin/env python3
"""A training loop that survives preemption, its time limit and failures of its node: it adds up numbers, in place of a model.

It saves its state every few steps and when it is told to, commits it with acheckpoint, and begins from the newest
committed checkpoint when the job runs again. See ares-checkpoint(7); checkpoint.sh submits it.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
PAUSE = float(sys.argv[2]) if len(sys.argv) > 2 else 0.05
EVERY = int(sys.argv[3]) if len(sys.argv) > 3 else 50

asked = False


def ask(number, frame):
    global asked
    asked = True


def save(state):
    """Writes the state to a directory and makes it a checkpoint. A save that fails leaves the earlier checkpoints."""
    new = None
    try:
        new = tempfile.mkdtemp(prefix="new-", dir=os.environ["ARES_CHECKPOINT_PATH"])
        (pathlib.Path(new) / "state.json").write_text(json.dumps(state))
        done = subprocess.run(["acheckpoint", "commit", "--quiet", new, "--step", str(state["step"])], check=False)
        if done.returncode == 0:
            return True
    except OSError as error:  # such as a full disk
        print(f"step {state['step']} is not saved: {error}", flush=True)
    if new:
        shutil.rmtree(new, ignore_errors=True)
    return False


def restored():
    directory = os.environ.get("ARES_CHECKPOINT_RESTORE")
    if not directory:
        return {"step": 0, "sum": 0}
    return json.loads((pathlib.Path(directory) / "state.json").read_text())


def end():
    """When the job will be killed or stopped, in seconds since 1970, and why; None: no end is known."""
    try:
        at, why = pathlib.Path(os.environ["ARES_DEADLINE_FILE"]).read_text().split()
        return int(at), why
    except (OSError, KeyError, ValueError):
        return None


def main():
    global asked
    name = os.environ.get("ARES_CHECKPOINT_SIGNAL", "USR1")
    signal.signal(getattr(signal, "SIG" + name), ask)
    for left in pathlib.Path(os.environ["ARES_CHECKPOINT_PATH"]).glob("new-*"):  # by an attempt that was killed
        shutil.rmtree(left, ignore_errors=True)
    state = restored()
    print(f"begins at step {state['step']}", flush=True)
    while state["step"] < STEPS:
        state["step"] += 1
        state["sum"] += state["step"]  # the work
        time.sleep(PAUSE)
        if asked:
            asked = False
            at, why = end() or (0, "UNKNOWN")
            print(f"told to save at step {state['step']}: {why} in {at - time.time():.0f} s", flush=True)
            saved = save(state)
            # The time until the limit can still be used, and a suspended job goes on later. Otherwise another job waits.
            if saved and why not in ("TIMEOUT", "SUSPENDED", "UNKNOWN"):
                return
        elif state["step"] % EVERY == 0:
            save(state)
    print(f"sum {state['sum']}", flush=True)


if __name__ == "__main__":
    main()
