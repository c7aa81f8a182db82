import os
import pwd

import pytest

from cluster import BIN, Cluster, f1, processes_naming

# Missing ones are reported once, instead of as many obscure failures.
PROGRAMS = ["acluster", "aresctld", "aresd", "aresstepd", "asub", "aqueue", "acancel", "aacct", "aacctmgr", "ainfo", "actl", "adiag",
            "areport", "ashare", "aprio", "astat", "asim", "ares-adopt", "acheckpoint"]


def pytest_sessionstart(session):
    missing = [program for program in PROGRAMS if not (BIN / program).exists()]
    if missing:
        pytest.exit(f"not built in {BIN}: {', '.join(missing)}", returncode=1)


@pytest.fixture(scope="module")
def cluster():
    """Fixture F1."""
    made = Cluster(config=f1())
    yield made
    made.close()


@pytest.fixture(scope="module")
def gpu_cluster():
    """Fixture F2."""
    made = Cluster(config=f1(gpus=True))
    yield made
    made.close()


@pytest.fixture(scope="session")
def others():
    """Names of two users other than root that every Debian has. Only root can act as them."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as several users")
    names = ["daemon", "bin"]
    for name in names:
        pwd.getpwnam(name)
    return names


@pytest.fixture
def fresh():
    """Starts clusters with the given options; checks that they leave no process."""
    made = []
    def make(*options, **more):
        made.append(Cluster(*options, **more))
        return made[-1]
    yield make
    for cluster in made:
        top = str(cluster.top)
        cluster.close()
        assert processes_naming(top) == []
