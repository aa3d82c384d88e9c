"""Nominal 90 % intervals hold 90 % of what is measured: a file of many groups, and a group alone."""

from __future__ import annotations

import pytest

from tests.support.coverage import MODES, coverage


@pytest.mark.thorough
def test_ninety_per_cent_intervals_cover_ninety_per_cent() -> None:
    found = coverage(clusters=72, seed=400)
    assert set(found) == {(mode, kind) for mode in MODES for kind in ("file", "alone")}
    assert {cell: share for cell, share in found.items() if not 0.88 <= share <= 0.92} == {}
