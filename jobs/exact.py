"""Sums that do not depend on the order rows arrive in."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

FINE = 1e9
COARSE = 1e3
"""For bytes and bytes a second."""


def exact_sum(value: Column, steps: float = FINE) -> Column:
    """Sum of doubles as whole numbers of 1/`steps`: the same in every order and partitioning, while
    the sum of floating-point numbers differs in its last bits. Null rows are left out, and no row at
    all gives null. A sum beyond 9.2e18 / steps is an error of Spark's, not a wrong number."""
    return F.sum(F.rint(value * steps).cast("long")) / steps
