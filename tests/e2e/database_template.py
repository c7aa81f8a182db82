"""A database with the tables of this release and nothing in them, made once for each build.

A private cluster that finds it in its folder need not run initdb and all migrations, which takes most of the processor time of a start.
"""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

PROGRAMS = os.environ.get("ARES_TEST_PROGRAMS")
MEMORY = "/dev/shm"
ROOM = 2 << 30


def give_to(folder, make, in_memory):
    """Puts a copy into the folder of a cluster that was never started. `make` starts a cluster with the given options of acluster.

    `in_memory`: the folder gets a link to a copy in memory, if there is room. PostgreSQL writes as much then, and tests wait less for the
    disk. Returns the folder of that copy, which the caller removes; else None.

    Nothing is done where the build has no program that makes the tables: the cluster then makes them at its first start.
    """
    if not PROGRAMS or not (pathlib.Path(PROGRAMS) / "make_schema").exists():
        return None
    template = _template(make)
    folder.mkdir(mode=0o755)
    data = folder / "pg"
    outside = None
    if in_memory and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        outside = pathlib.Path(tempfile.mkdtemp(prefix="ares-e2e-", dir=MEMORY))
        outside.chmod(0o755)
        data.symlink_to(outside / "pg")
        data = outside / "pg"
    subprocess.run(["cp", "-a", "--reflink=auto", str(template), str(data)], check=True)
    return outside


def _template(make):
    top = pathlib.Path(PROGRAMS).parent / "database-template"
    top.mkdir(exist_ok=True)
    made_by = [pathlib.Path(PROGRAMS) / "make_schema", pathlib.Path(PROGRAMS).parent / "bin" / "acluster"]
    stamp = hashlib.sha256(repr([os.geteuid()] + [file.stat().st_mtime_ns for file in made_by]).encode()).hexdigest()[:16]
    template = top / stamp
    with open(top / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not template.exists():
            for old in top.iterdir():
                if old.is_dir():
                    shutil.rmtree(old)
            _fill(make, top / "new")
            (top / "new").rename(template)
    return template


def _fill(make, folder):
    with contextlib.closing(make("--no-supervise", "--nodes", "1", "--exec", "mock")) as cluster:
        # The database that the controller has used is replaced by one without rows.
        os.kill(cluster.pid("aresctld"), signal.SIGKILL)
        where = cluster.database()
        cluster.postgres("dropdb", "-f", *where[:4], "-U", "postgres", "ares")
        cluster.postgres("createdb", *where[:4], "-U", "postgres", "-O", "ares", "ares")
        cluster.postgres(f"{PROGRAMS}/make_schema", where[1], where[3], where[7], where[5])
        cluster.acluster("down")
        subprocess.run(["cp", "-a", str(cluster.dir / "pg"), str(folder)], check=True)
