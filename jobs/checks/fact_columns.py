"""Column expressions for facts about trials. Null means unknown, and propagates."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812


def of_all(aggregate: Callable[[Column], Column], value: Column) -> Column:
    """The aggregate; null if the value of any row is null."""
    return F.when(F.count(value) == F.count(F.lit(1)), aggregate(value))


def relative_error(value: Column, truth: Column) -> Column:
    """|value - truth| / truth; null unless truth is above 0."""
    return F.when(truth > 0, F.abs(value - truth) / truth)
