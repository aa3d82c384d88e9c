"""Latency percentiles of each trial.

They come from merged histograms, never from averaged percentiles (method 11). Clients measure closed-loop
latency, and in latency trials also intended latency; both keep their names (method 10).

Records that others made may have no interval logs. For these alone, percentiles come from YCSB's summary, if
there is one client and no ramp-up to be cut.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.ycsb.output.latency import MIN_SLOWER
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

TABLE = tables.METRICS
PERCENTILES = ("50", "90", "95", "99", "99.9")
_PRINTED = "^([0-9.]+)(?:th)?PercentileLatency$"


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: latency in ms by operation, kind and percentile. Null with fewer than
    10 / (1 - p) operations."""
    wanted = [float(percentile) for percentile in PERCENTILES]
    columns = ("trial", "operation", "latency_kind", "percentile", "value_us")
    merged = inputs[tables.LATENCY_PERCENTILES].where(F.col("percentile").isin(wanted))
    values = merged.select(*columns).unionByName(_of_summaries(inputs, merged).select(*columns))
    return metric_rows(values, {"latency": ("ms", F.col("value_us") / 1000.0)})


def _of_summaries(inputs: Inputs, merged: DataFrame) -> DataFrame:
    """Percentiles that YCSB printed, of trials of others without interval logs. Null with fewer than
    10 / (1 - p) operations; no row if YCSB counted in buckets of 1 ms."""
    trials = inputs[tables.TRIALS].where("imported AND clients = 1 AND warm_up_s = 0")
    without_logs = trials.select("trial").join(merged, "trial", "left_anti")
    block = Window.partitionBy("trial", "name")  # [READ], [Intended-READ], ...
    printed = F.regexp_extract("measure", _PRINTED, 1).try_cast("double")
    rows = (
        inputs[tables.YCSB_SUMMARY]
        .join(without_logs, "trial")
        .where("outcome IS NULL")
        .where(~F.col("operation").isin(*NOT_OF_USERS))
        .withColumn("in_buckets", F.max(F.col("unit").isNull()).over(block))
        .withColumn(
            "operations",
            F.max(F.when(F.col("measure") == "Operations", F.col("value"))).over(block),
        )
        .withColumn("percentile", printed)
        .where("NOT in_buckets AND unit = 'us'")
        .where(F.col("percentile").isin([float(one) for one in PERCENTILES]))
    )
    enough = F.col("operations") * (100.0 - F.col("percentile")) >= 100.0 * MIN_SLOWER
    return rows.select(
        "trial",
        "operation",
        F.when(F.col("intended"), "intended").otherwise("closed-loop").alias("latency_kind"),
        "percentile",
        F.when(enough, F.col("value")).alias("value_us"),
    )
