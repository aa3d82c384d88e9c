"""Drift of made logs: the last third against the first, and none where the time is too short to show it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from density_study.analysis import tables
from density_study.jobs.checks.ycsb_facts import drift
from tests.spark.checks.test_littles_law_of_loads import frame


def drift_of(spark: SparkSession, rates: Sequence[int], clients: int = 1) -> float | None:
    """`rates`: operations in each measured second, divided among the clients; before them come two more."""
    histograms = frame(spark, tables.YCSB_HISTOGRAMS, (
        {"trial": "t", "client": f"ycsb-{client}", "operation": "READ", "kind": "closed-loop",
         "begun_s": 1_700_000_000.0 + second, "length_s": 1.0, "counted": rate // clients,
         "measured": second >= 2}
        for client in range(clients) for second, rate in enumerate([7, 7, *rates])
    ))  # fmt: skip
    found = drift({tables.YCSB_HISTOGRAMS: histograms}).collect()
    return found[0]["drift"] if found else None


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([100, 100, 500, 500, 150, 150], 1.5),  # the middle third does not count
        ([100, 120, 1, 1, 55, 55], 0.5),
        ([100] * 9, 1.0),
        ([0, 0, 9, 9, 100, 100], None),  # no rate to compare with
        ([100, 100, 100, 100, 1], None),  # five seconds: one at an end would decide
    ],
)
def test_drift(spark: SparkSession, rates: Sequence[int], expected: float | None) -> None:
    assert (
        drift_of(spark, rates) == pytest.approx(expected)
        if expected
        else not drift_of(spark, rates)
    )
    if expected:
        assert drift_of(spark, rates, clients=5) == pytest.approx(expected)
