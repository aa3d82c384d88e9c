"""What was done in each second of a trial: `python -m jobs.rate_series RUN` prints it."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.cpu_series import host_seconds, mean_of_second
from jobs.exact import exact_sum
from jobs.latency import timed, user_operations
from jobs.run_job import Inputs, run_job
from jobs.seconds import by_second, share_of_span
from jobs.store import conform
from jobs.throughput import MIB, RATE
from jobs.window import windows
from workloads.ycsb.saturation import READ_MODIFY_WRITE

TABLE = tables.TRIAL_RATE_SERIES
INPUTS = (
    tables.TRIALS,
    tables.CLIENTS,
    tables.MONITORS,
    tables.HOST_SAMPLES,
    tables.DFSIO_IO,
    tables.MAP_ATTEMPTS,
    tables.YCSB_HISTOGRAMS,
)
DISKS = ("disk_read", "disk_write")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `trial_rate_series`."""
    done = _operations(inputs).unionByName(_transferred(inputs))
    return conform(_with_idle_seconds(done, inputs), TABLE).unionByName(
        conform(_disks(inputs), TABLE)
    )


def _operations(inputs: Inputs) -> DataFrame:
    """trial, name, unit, second, amount: of all clients, each interval spread over its length. A
    read-modify-write is counted thrice by the tool, and once here."""
    intervals = timed(user_operations(inputs[tables.YCSB_HISTOGRAMS]), inputs)
    sign = F.when(F.col("operation") == READ_MODIFY_WRITE, -1).otherwise(1)
    spans = (
        intervals.where("kind = 'closed-loop'")
        .withColumn("since_s", F.col("begun_s"))
        .withColumn("until_s", F.col("begun_s") + F.col("length_s"))
    )
    return by_second(spans).select(
        "trial",
        F.lit("operations").alias("name"),
        F.lit("ops/s").alias("unit"),
        "second",
        (F.col("operations") * sign * share_of_span()).alias("amount"),
    )


def _transferred(inputs: Inputs) -> DataFrame:
    """The job's bytes, in equal parts a map that succeeded, spread from its start to its end."""
    io = inputs[tables.DFSIO_IO].groupBy("trial").agg(F.sum("bytes").alias("bytes"))
    maps = inputs[tables.MAP_ATTEMPTS].where(
        "status = 'SUCCEEDED' AND start_epoch_s IS NOT NULL AND finish_epoch_s > start_epoch_s"
    )
    count = maps.groupBy("trial").agg(F.count(F.lit(1)).alias("maps"))
    spans = (
        maps.join(count, "trial")
        .join(io, "trial")
        .join(windows(inputs[tables.TRIALS]), "trial")
        .withColumn("since_s", F.col("start_epoch_s"))
        .withColumn("until_s", F.col("finish_epoch_s"))
    )
    mib = F.col("bytes") / F.col("maps") / MIB
    return by_second(spans).select(
        "trial",
        F.lit("transferred").alias("name"),
        F.lit(RATE).alias("unit"),
        "second",
        (mib * share_of_span()).alias("amount"),
    )


def _with_idle_seconds(done: DataFrame, inputs: Inputs) -> DataFrame:
    """The sum of each second; seconds of the window in which nothing was done with 0."""
    last = F.ceil("window_s") - 1
    seconds = windows(inputs[tables.TRIALS]).select(
        "trial", F.explode(F.sequence(F.lit(0), last.cast("int"))).alias("second")
    )
    idle = (
        done.select("trial", "name", "unit")
        .distinct()
        .join(seconds, "trial")
        .withColumn("amount", F.lit(0.0))
    )
    return (
        done.unionByName(idle)
        .groupBy("trial", "name", "unit", "second")
        .agg(exact_sum(F.col("amount")).alias("rate"))
    )


def _disks(inputs: Inputs) -> DataFrame:
    """All hosts' disks together (guests' are among them); no row for a second of which one monitored
    host has no sample."""
    hosts = (
        inputs[tables.MONITORS]
        .where("kind = 'dool' AND NOT contains(host, '.')")
        .groupBy("trial")
        .agg(F.count("host").alias("hosts"))
    )
    rates = (
        host_seconds(inputs)
        .where("NOT contains(host, '.')")
        .groupBy("trial", "host", "second")
        .agg(*(mean_of_second(f"{name}_bytes_s") for name in DISKS))
    )
    named = [
        F.struct(F.lit(name).alias("name"), (F.col(f"{name}_bytes_s") / MIB).alias("rate"))
        for name in DISKS
    ]
    return (
        rates.select("trial", "second", F.explode(F.array(*named)).alias("one"))
        .groupBy("trial", "second", "one.name")
        .agg(exact_sum(F.col("one.rate")).alias("rate"), F.count("one.rate").alias("seen"))
        .join(hosts, "trial")
        .where("seen = hosts")
        .withColumn("unit", F.lit(RATE))
    )


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
