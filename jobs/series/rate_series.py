"""Rates in each second of a trial: operations, transferred bytes, disk traffic."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.arrays.spans import MIN_S
from density_study.jobs.metrics.throughput import MIB, RATE
from density_study.jobs.metrics.window import windows
from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs, conform

TABLE = tables.TRIAL_RATE_SERIES
DISKS = {"disk_read": "disk_read_bytes_s", "disk_write": "disk_write_bytes_s"}


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `trial_rate_series`."""
    done = _operations(inputs).unionByName(_transferred(inputs)).unionByName(_asked(inputs))
    return conform(_with_idle_seconds(done, inputs), TABLE).unionByName(
        conform(_disks(inputs), TABLE)
    )


def _operations(inputs: Inputs) -> DataFrame:
    """trial, name, unit, second, amount."""
    return inputs[tables.OPERATION_SECONDS].select(
        "trial",
        F.lit("operations").alias("name"),
        F.lit("ops/s").alias("unit"),
        "second",
        F.col("operations").alias("amount"),
    )


def _asked(inputs: Inputs) -> DataFrame:
    """As `_operations`, for the schedules of clients."""
    spans = (
        inputs[tables.YCSB_SCHEDULE]
        .join(windows(inputs[tables.TRIALS]), "trial")
        .select(
            "trial",
            F.col("begun_s").alias("since_s"),
            F.least(F.col("begun_s") + 1.0, F.col("end_s")).alias("until_s"),
            "start_s",
            "operations",
        )
    )
    return by_second(spans).select(
        "trial",
        F.lit("requested").alias("name"),
        F.lit("ops/s").alias("unit"),
        "second",
        (F.col("operations") * share_of_span()).alias("amount"),
    )


def _transferred(inputs: Inputs) -> DataFrame:
    """As `_operations`, for the job's bytes: split evenly over successful maps, and spread over each map."""
    io = inputs[tables.DFSIO_IO].groupBy("trial").agg(F.sum("bytes").alias("bytes"))
    maps = inputs[tables.MAP_ATTEMPTS].where(
        "status = 'SUCCEEDED' AND start_epoch_s IS NOT NULL AND finish_epoch_s > start_epoch_s"
    )
    count = maps.groupBy("trial").agg(F.count(F.lit(1)).alias("maps"))
    each = maps.join(count, "trial").join(io, "trial").join(windows(inputs[tables.TRIALS]), "trial")
    spans = each.select(
        "trial",
        F.col("start_epoch_s").alias("since_s"),
        F.col("finish_epoch_s").alias("until_s"),
        "start_s",
        # evenly: TestDFSIO reports the bytes of all maps together only
        (F.col("bytes") / F.col("maps") / MIB).alias("done"),
    )
    return by_second(spans).select(
        "trial",
        F.lit("transferred").alias("name"),
        F.lit(RATE).alias("unit"),
        "second",
        (F.col("done") * share_of_span()).alias("amount"),
    )


def _with_idle_seconds(done: DataFrame, inputs: Inputs) -> DataFrame:
    """Rate of each second; 0 for idle seconds of the window."""
    key = ("trial", "name", "unit")
    last = F.ceil("window_s") - 1
    seconds = windows(inputs[tables.TRIALS]).select(
        "trial", F.explode(F.sequence(F.lit(0), last.cast("int"))).alias("second")
    )
    idle = done.select(*key).distinct().join(seconds, "trial").withColumn("amount", F.lit(0.0))
    return (
        done.unionByName(idle).groupBy(*key, "second").agg(exact_sum(F.col("amount")).alias("rate"))
    )


def _disks(inputs: Inputs) -> DataFrame:
    """Sum over the hosts' disks, which include the VMs' disks. A second without a sample of some monitored
    host has no row."""
    hosts = (
        inputs[tables.MONITORS]
        .where("kind = 'dool' AND NOT contains(host, '.')")
        .groupBy("trial")
        .agg(F.count("host").alias("hosts"))
    )
    sums = {
        name: (exact_sum(F.col(column) / MIB), F.count(column)) for name, column in DISKS.items()
    }
    named = [
        F.struct(F.lit(name).alias("name"), rate.alias("rate"), seen.alias("seen"))
        for name, (rate, seen) in sums.items()
    ]
    return (
        inputs[tables.HOST_DISK_SERIES]
        .where("NOT contains(host, '.')")
        .groupBy("trial", "second")
        .agg(F.array(*named).alias("both"))
        .select("trial", "second", F.inline("both"))
        .join(hosts, "trial")
        .where("seen = hosts")
        .withColumn("unit", F.lit(RATE))
    )


def by_second(spans: DataFrame) -> DataFrame:
    """One row per span and second that it overlaps, with `second` and `inside_s`, the overlap in seconds.

    spans: since_s, until_s (controller's clock) and start_s of the trial's window. Empty spans are dropped.
    """
    since, until = F.col("since_s") - F.col("start_s"), F.col("until_s") - F.col("start_s")
    seconds = F.sequence(F.floor(since), F.floor(until))
    inside = F.least(until, F.col("second") + 1) - F.greatest(since, F.col("second"))
    return (
        spans.where("until_s > since_s")
        .withColumn("second", F.explode(seconds))
        .withColumn("inside_s", inside)
        .where(F.col("inside_s") >= MIN_S)
        .withColumn("second", F.col("second").cast("int"))
    )


def share_of_span() -> Column:
    """The share of the span within the row's second, for frames from `by_second`."""
    return F.col("inside_s") / (F.col("until_s") - F.col("since_s"))
