"""Drift of made logs: the last third against the first, and none where the time is too short to show it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from density_study.workloads.ycsb.facts.intervals import closed_loop, drift
from tests.unit.facts.made_rows import made_rows


def drift_of(rates: Sequence[int], clients: int = 1) -> float | None:
    """`rates`: operations in each measured second, divided among the clients; before them come two more."""
    rows = made_rows({}, {"ycsb_histograms": (
        {"client": f"ycsb-{client}", "operation": "READ", "kind": "closed-loop",
         "begun_s": 1_700_000_000.0 + second, "length_s": 1.0, "counted": rate // clients,
         "measured": second >= 2}
        for client in range(clients) for second, rate in enumerate([7, 7, *rates])
    )})  # fmt: skip
    return drift(closed_loop(rows))


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
def test_drift(rates: Sequence[int], expected: float | None) -> None:
    for clients in (1, 5):
        found = drift_of(rates, clients)
        assert found == (None if expected is None else pytest.approx(expected)), clients
