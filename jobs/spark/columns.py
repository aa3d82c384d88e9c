"""Column expressions: sums that do not depend on the order of the rows, and facts that may be unknown."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from density_study.jobs.arrays.exact_sums import FINE


def exact_sum(value: Column, steps: float = FINE) -> Column:
    """Sum of doubles in fixed point, in units of 1/`steps`. Nulls are skipped; no rows give null. A sum
    beyond 9.2e18 / steps raises an error in Spark instead of overflowing."""
    # the same for every order and partitioning, where a floating-point sum differs in its last bits
    return F.sum(whole_steps(value, steps)) / steps


def whole_steps(value: Column, steps: float = FINE) -> Column:
    """The double as an integer in units of 1/`steps`, rounded half to even."""
    return F.rint(value * steps).cast("long")


def of_all(aggregate: Callable[[Column], Column], value: Column) -> Column:
    """The aggregate; null (unknown) if the value of any row is null."""
    return F.when(F.count(value) == F.count(F.lit(1)), aggregate(value))


def relative_error(value: Column, truth: Column) -> Column:
    """|value - truth| / truth; null unless truth is above 0."""
    return F.when(truth > 0, F.abs(value - truth) / truth)
