"""Nominal 90 % intervals cover 90 % of the measurements: a file of many groups, and a single
group."""

from __future__ import annotations

import pytest

from tests.support.capacity.coverage import MODES, coverage


@pytest.mark.slow
def test_ninety_per_cent_intervals_cover_ninety_per_cent() -> None:
    covered = coverage(clusters=72, seed=400)
    assert set(covered) == {(mode, kind) for mode in MODES for kind in ("file", "alone")}
    assert {cell: share for cell, share in covered.items() if not 0.88 <= share <= 0.92} == {}
