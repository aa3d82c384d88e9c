"""Sums that do not depend on the order rows arrive in."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from jobs.arrays.exact_sums import COARSE, FINE

__all__ = ["COARSE", "FINE", "exact_sum", "whole_steps"]


def exact_sum(value: Column, steps: float = FINE) -> Column:
    """Sum of doubles as whole numbers of 1/`steps`: the same in every order and partitioning, while
    the sum of floating-point numbers differs in its last bits. Null rows are left out, and no row at
    all gives null. A sum beyond 9.2e18 / steps is an error of Spark's, not a wrong number."""
    return F.sum(whole_steps(value, steps)) / steps


def whole_steps(value: Column, steps: float = FINE) -> Column:
    """The double as a whole number of 1/`steps`, halves to even."""
    return F.rint(value * steps).cast("long")
