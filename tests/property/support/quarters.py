"""A loop over many drawn inputs in four tests: `make test` runs the first, the others are slow."""

from __future__ import annotations

import pytest

QUARTERS = pytest.mark.parametrize(
    "quarter", [0, *(pytest.param(number, marks=pytest.mark.slow) for number in (1, 2, 3))]
)


def quarter_of(count: int, quarter: int) -> range:
    """Every fourth number below `count`."""
    return range(quarter, count, 4)
