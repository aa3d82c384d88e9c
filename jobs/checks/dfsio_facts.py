"""TestDFSIO's results compared with the requested work, with each other, and with similar trials."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.throughput import dfsio_work
from density_study.jobs.spark.columns import relative_error
from density_study.jobs.spark.run_tables import Inputs

AGREEING_MODES = ("random", "backward", "skip")


def dfsio_facts(inputs: Inputs) -> DataFrame:
    """dfsio_share, dfsio_rate_error, access_spread, unwritten_share."""
    trials = inputs[tables.TRIALS].where("workload = 'testdfsio'")
    reported = (
        inputs[tables.DFSIO_RESULTS]
        .groupBy("trial")
        .agg(
            # With several results in the trial's file, the trial's own result is unknown.
            F.when(F.count(F.lit(1)) == 1, F.max("throughput_mib_s")).alias("reported_mib_s")
        )
    )
    rates = _metric(inputs, "throughput_per_stream", "per_stream")
    done = (
        trials.join(dfsio_work(inputs), "trial", "left")
        .join(reported, "trial", "left")
        .join(rates, "trial", "left")
    )
    # -skip may stop early, without a message (method 16)
    bytes_share = F.col("bytes") / F.col("asked_bytes")
    share = F.least(F.lit(1.0), F.col("tasks") / F.col("files"), bytes_share)
    # the request of others may be unknown, and `least` leaves out nulls
    known = bytes_share.isNotNull() & F.col("files").isNotNull()
    # a rate that is the reported one cannot contradict it
    measured = F.when(F.col("task_ms").isNotNull(), F.col("per_stream"))
    return done.select(
        "trial",
        F.when(known, share).alias("dfsio_share"),
        relative_error(F.col("reported_mib_s"), measured).alias("dfsio_rate_error"),
        _spread().alias("access_spread"),
        F.when(
            F.col("physical_write_bytes") > 0,
            F.col("unwritten_bytes") / F.col("physical_write_bytes"),
        ).alias("unwritten_share"),
    )


def _metric(inputs: Inputs, name: str, alias: str) -> DataFrame:
    """trial, and the metric `name` (one per trial) as `alias`."""
    metrics = inputs[tables.METRICS].where(F.col("name") == name)
    return metrics.select("trial", F.col("value").alias(alias))


def _spread() -> Column:
    """max / min - 1 over the random, backward and skip reads of one build with otherwise equal settings
    (method 15); null with fewer than two of these modes."""
    stored = ("storage_policy", "erasure_coding")
    same = ("files", "file_size_mib", "read_size_bytes", "readers", *stored)
    group = Window.partitionBy("build", *same)
    rate = F.when(
        F.col("mode").isin(*AGREEING_MODES) & (F.col("state") == "complete"), F.col("per_stream")
    )
    kinds = F.size(F.collect_set(F.when(rate.isNotNull(), F.col("mode"))).over(group))
    spread = F.max(rate).over(group) / F.min(rate).over(group) - 1
    return F.when(rate.isNotNull() & (kinds > 1), spread)
