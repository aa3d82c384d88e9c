"""Column expressions: sums that do not depend on the order of the rows."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from density_study.workloads.rows.arrays.exact_sums import FINE


def exact_sum(value: Column) -> Column:
    """Sum of doubles in fixed point, in units of 1e-9. Nulls are skipped; no rows give null. A sum beyond
    9.2e9 raises an error in Spark instead of overflowing."""
    # the same for every order and partitioning, where a floating-point sum differs in its last bits
    return F.sum(F.rint(value * FINE).cast("long")) / FINE
