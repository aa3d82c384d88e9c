"""How much is enough to know a number: limits that several instruments share. docs/methodology.md says
why."""

from __future__ import annotations

SUSTAINED = 0.98
"""Least share of its target rate that a load achieves (method 4)."""
MIN_SLOWER = 10
"""Operations slower than a percentile, below which it is not known (method 11)."""
