"""Sums that do not depend on the order rows arrive in."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812


def exact_sum(value: Column) -> Column:
    """Sum of doubles as decimals of nine places: the same in every order and partitioning, while
    the sum of floating-point numbers differs in its last bits. Exact to 1e-9 a row; null rows are
    left out, and no row at all gives null. Holds below 1e19 a row."""
    return F.sum(value.cast("decimal(28,9)")).cast("double")
