"""Metrics of each test case on each topology, over its counted trials: the valid ones, and of imported
records also those that are unknown only because nobody recorded a fact.

The unit of evidence is the build (method 1): repeated trials of a test case on one build are one point, their
mean.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads import tables

TABLE = tables.TEST_CASE_METRICS
_WHICH = ("name", "unit", "operation", "latency_kind", "percentile", "scope")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `test_case_metrics`. A metric that no trial has is null, without points. Excluded are trials
    that measure the monitoring overhead, because half of them ran without monitors, and probes of a search
    other than its answer."""
    counted = inputs[tables.VERDICTS].where("counted").select("trial")
    studied = inputs[tables.TRIALS].where("studied")
    placed = studied.select("trial", "topology", "test_case", "repetition", "build")
    mean = exact_sum(F.col("value")) / F.count("value")
    builds = (
        inputs[tables.METRICS]
        .join(counted, "trial")
        .join(placed, "trial")
        .groupBy("topology", "test_case", *_WHICH, "repetition", "build")
        .agg(mean.alias("value"))
    )
    known = F.when(F.col("value").isNotNull(), F.struct("repetition", "build", "value"))
    return builds.groupBy("topology", "test_case", *_WHICH).agg(
        # one disturbed build must not move what is shown; findings use the points, and geometric means
        F.median("value").alias("value"),
        F.count("value").alias("n"),
        F.transform(F.array_sort(F.collect_list(known)), lambda p: p["value"]).alias("points"),
    )
