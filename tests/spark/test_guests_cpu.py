"""Guests reconciled with their host: by CPU time received from the host, not by the guests' own
count."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from density_study.analysis import tables
from density_study.jobs.checks.monitor_facts import processes_cpu

WHOLE = ("trial", "host", "cpu_used_whole")
TYPES = (
    "trial string, node string, host string, scope string, cores int, host_cores int, "
    "host_cpu_share_percent double, throttled_percent double"
)
USED = ("trial", "scope", "name", "value")


@pytest.mark.parametrize(
    ("received", "host", "excess"),
    [((30.0, 25.0), 20.0, -5.0), ((None, None), 60.0, 40.0)],
)
def test_steal_time_is_not_use_of_the_host(
    spark: SparkSession, received: tuple[float | None, float | None], host: float, excess: float
) -> None:
    """Two guests with one vCPU each, on a host with two cores: 100 % and 100 % busy by their own
    count. The host's figures cover the whole window, and are compared with its use of the whole
    window."""
    rows = [("t", f"w{n}", "h1", f"node:w{n}", 1, 2, received[n - 1], None) for n in (1, 2)]
    used = [("t", scope, "cpu_used", 100.0) for scope in ("node:w1", "node:w2")]
    used += [("t", "host:h1", "cpu_used", host), ("t", "guest:w1.h1", "cpu_used", 100.0)]
    inputs = {
        tables.NODES: spark.createDataFrame(rows, TYPES),
        tables.HOST_USE: spark.createDataFrame([("t", "h1", 60.0)], WHOLE),
        tables.METRICS: spark.createDataFrame(used, USED),
    }
    (row,) = processes_cpu(inputs).collect()
    assert row["cpu_excess"] == pytest.approx(excess)


def test_work_beside_containers_is_foreign(spark: SparkSession) -> None:
    """They are on the host's kernel: what it did beyond their CPU time was done for others."""
    rows = [("t", f"w{n}", "h1", f"node:w{n}", 1, 2, 20.0, 5.0) for n in (1, 2)]
    used = [
        ("t", "node:w1", "cpu_used", 20.0),
        ("t", "node:w2", "cpu_used", 20.0),
        ("t", "host:h1", "cpu_used", 70.0),
    ]
    inputs = {
        tables.NODES: spark.createDataFrame(rows, TYPES),
        tables.HOST_USE: spark.createDataFrame([("t", "h1", 60.0)], WHOLE),
        tables.METRICS: spark.createDataFrame(used, USED),
    }
    (row,) = processes_cpu(inputs).collect()
    assert row["foreign_cpu"] == pytest.approx(20.0)
