"""An existing cluster with another HBase: YCSB's client of its own version loads and reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.versions import Versions
from density_study.cluster.stack.recipes import client_of
from tests.live.support.standalone import CREATE, standing

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(300)]
OTHER, ROWS = "2.5.13-hadoop3", 2000


def test_the_client_of_an_older_hbase_loads_and_reads_it(tmp_path: Path) -> None:
    with standing(tmp_path, Versions(hbase=OTHER, client=client_of(OTHER))) as hbase:
        asked = hbase.tool("servers --namespace x + namespace state x --tag x")
        assert client_of(asked["servers"]["version"]) == OTHER
        assert asked["namespace"]["quotas"] == []  # it has no quotas at all
        hbase.tool(CREATE)
        loaded = hbase.ycsb("-load", "-threads", "2", "-p", f"recordcount={ROWS}")
        assert f"[INSERT], Return=OK, {ROWS}" in loaded.stdout, loaded.stdout + loaded.stderr
        read = hbase.ycsb("-t", "-threads", "2", "-p", f"recordcount={ROWS}", "-p", "operationcount=500",
                          "-p", "readproportion=1", "-p", "updateproportion=0")  # fmt: skip
        assert "[READ], Return=OK, 500" in read.stdout, read.stdout + read.stderr
