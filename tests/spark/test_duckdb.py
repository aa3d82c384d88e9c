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


def same(actual: pd.Series[float], expected: pd.Series[float]) -> None:
    expected = expected.sort_index()
    assert list(actual.index) == list(expected.index)
    assert len(actual) > 3
    assert ((actual - expected).abs() < 10.0**-PUBLISHED_DIGITS).all(), (actual, expected)


@pytest.mark.parametrize("name", ("cpu_used", "disk_read", "disk_write"))
def test_hosts(world: Analysed, name: str) -> None:
    actual = metric(world, name, ["trial", "scope"])
    actual = actual[[str(scope).startswith("host:") for _, scope in actual.index]]
    same(actual, query(world.root, HOSTS).set_index(["trial", "scope"])[name])


def test_rates(world: Analysed) -> None:
    expected = query(world.root, RATES).set_index("trial")["throughput"]
    actual = metric(world, "throughput", ["trial"])
    same(actual[actual.index.isin(expected.index)], expected)
    assert {world.truths[case].trial for case in ("mixed", "scan", "clock_off")} <= set(
        expected.index
    )


def test_percentiles(world: Analysed) -> None:
    key = ["trial", "operation", "latency_kind", "percentile"]
    same(metric(world, "latency", key), query(world.root, LATENCIES).set_index(key)["latency"])
