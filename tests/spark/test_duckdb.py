"""Another engine over the same Parquet publishes the same digits."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.spark.conftest import Analysed
from tests.spark.support.duckdb_oracle import HOSTS, LATENCIES, RATES, query

pytestmark = pytest.mark.spark
PUBLISHED_DIGITS = 6


def metric(world: Analysed, name: str, key: list[str]) -> pd.Series[float]:
    rows = world.table("metrics")
    rows = rows[(rows["name"] == name) & rows["value"].notna()]
    return rows.set_index(key)["value"].sort_index()


def same(ours: pd.Series[float], theirs: pd.Series[float]) -> None:
    theirs = theirs.sort_index()
    assert list(ours.index) == list(theirs.index)
    assert len(ours) > 3
    assert ((ours - theirs).abs() < 10.0**-PUBLISHED_DIGITS).all(), (ours, theirs)


@pytest.mark.parametrize("name", ("cpu_used", "disk_read", "disk_write"))
def test_hosts(world: Analysed, name: str) -> None:
    ours = metric(world, name, ["trial", "scope"])
    ours = ours[[str(scope).startswith("host:") for _, scope in ours.index]]
    same(ours, query(world.root, HOSTS).set_index(["trial", "scope"])[name])


def test_rates(world: Analysed) -> None:
    theirs = query(world.root, RATES).set_index("trial")["throughput"]
    ours = metric(world, "throughput", ["trial"])
    same(ours[ours.index.isin(theirs.index)], theirs)
    assert {world.truths[case].trial for case in ("mixed", "scan", "clock_off")} <= set(
        theirs.index
    )


def test_percentiles(world: Analysed) -> None:
    key = ["trial", "operation", "latency_kind", "percentile"]
    same(metric(world, "latency", key), query(world.root, LATENCIES).set_index(key)["latency"])
