"""What TestDFSIO says of a trial, held against what was asked, against itself and against its kin."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.checks.fact_columns import relative_error
from jobs.spark.inputs import Inputs

AGREEING_MODES = ("random", "backward", "skip")


def dfsio_facts(inputs: Inputs) -> DataFrame:
    """dfsio_share, dfsio_rate_error, access_spread."""
    trials = inputs[tables.TRIALS].where("workload = 'testdfsio'")
    io = (
        inputs[tables.DFSIO_IO]
        .groupBy("trial")
        .agg(F.sum("bytes").alias("bytes"), F.sum("tasks").alias("tasks"))
    )
    said = (
        inputs[tables.DFSIO_RESULTS]
        .groupBy("trial")
        .agg(
            # more than one block in a trial's own file: which one is the trial's is not known
            F.when(F.count(F.lit(1)) == 1, F.max("throughput_mib_s")).alias("said_mib_s")
        )
    )
    rates = _metric(inputs, "throughput_per_stream", "per_stream")
    done = trials.join(io, "trial", "left").join(said, "trial", "left").join(rates, "trial", "left")
    bytes_share = F.col("bytes") / F.col("asked_bytes")
    share = F.least(F.lit(1.0), F.col("tasks") / F.col("files"), bytes_share)
    return done.select(
        "trial",
        F.when(F.col("bytes").isNotNull(), share).alias("dfsio_share"),
        relative_error(F.col("said_mib_s"), F.col("per_stream")).alias("dfsio_rate_error"),
        _spread().alias("access_spread"),
    )


def _metric(inputs: Inputs, name: str, alias: str) -> DataFrame:
    """trial and the metric `name`, which a trial has once, as `alias`."""
    metrics = inputs[tables.METRICS].where(F.col("name") == name)
    return metrics.select("trial", F.col("value").alias(alias))


def _spread() -> Column:
    """Fastest over slowest, minus 1, of the random, backward and skip reads of one build that differ
    in nothing else (method 15); null when fewer than two of the kinds are there."""
    stored = ("storage_policy", "erasure_coding")
    same = ("files", "file_size_mib", "read_size_bytes", "readers", *stored)
    group = Window.partitionBy("build", *same)
    rate = F.when(
        F.col("mode").isin(*AGREEING_MODES) & (F.col("state") == "complete"), F.col("per_stream")
    )
    kinds = F.size(F.collect_set(F.when(rate.isNotNull(), F.col("mode"))).over(group))
    spread = F.max(rate).over(group) / F.min(rate).over(group) - 1
    return F.when(rate.isNotNull() & (kinds > 1), spread)
