"""Looks for processes of jobs as soon as these count as over, in a thread of its own."""
import contextlib
import threading

from .processes import of_job, stat_fields

NOT_OVER = "PENDING,CONFIGURING,RUNNING,COMPLETING,SUSPENDED"


class Follower:
    def __init__(self, campaign):
        self.campaign, self.jobs, self.lock = campaign, set(), threading.Lock()
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def add(self, job):
        with self.lock:
            self.jobs.add(job)

    def stop(self):
        self.stopping.set()
        self.thread.join()

    def _run(self):
        target = self.campaign.target
        while not self.stopping.wait(0.2):
            with self.lock:
                followed = set(self.jobs)
            if not followed:
                continue
            done = target.run("aqueue", "-h", "-t", NOT_OVER, "-o", "%i", check=False)
            if done.returncode != 0:
                continue
            over = followed - set(done.stdout.split())
            for job in over:
                for process, line in of_job(target.top, job):
                    self.campaign.problem("orphans", f"job {job} is over and has process {process.pid} ({state(process)}) {line}")
            with self.lock:
                self.jobs -= over


def state(process):
    with contextlib.suppress(OSError):
        return stat_fields(process.pid)[0]
    return "ended"
