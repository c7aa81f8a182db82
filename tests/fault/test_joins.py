"""A few nodes join and leave under load; joins.py does it 200 times."""
import os
import shutil

import pytest

from joins import Joins


def test_nodes_join_and_leave_under_load():
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces")
    if not shutil.which("ip"):
        pytest.skip("no program ip")
    joins = Joins(joins=8, at_once=2, seed=1)
    try:
        assert joins.run() == []
    finally:
        joins.close()
