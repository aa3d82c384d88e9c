"""Results of YCSB's clients compared with the request and with each other (method 9), and their drift."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.analysis.validity.rules import GC_BEARABLE
from density_study.jobs.metrics.throughput import whole_run
from density_study.jobs.spark.columns import of_all, relative_error
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.ycsb.output.summary import GC_MEASURE, GC_TIME

PARTS = 3  # equal parts of the time after the ramp-up, for `drift`: a rule fixed before the data
LEAST_DRIFT_S = 6.0  # two intervals of a second in each


def ycsb_facts(inputs: Inputs) -> DataFrame:
    """failed_operations, ycsb_share, ycsb_rate_error, histogram_error, client_gc_share: over all clients of a
    trial, null if a client reported nothing (method 9)."""
    columns = ("trial", "duration_s", "warm_up_client_s")
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'").select(*columns)
    clients = (
        inputs[tables.CLIENTS]
        .select("trial", "client", "operations_asked")
        .join(trials, "trial")
        .join(whole_run(inputs[tables.YCSB_SUMMARY]), ["trial", "client"], "left")
        .join(_histogram_counts(inputs), ["trial", "client"], "left")
        .join(_collections(inputs), ["trial", "client"], "left")
    )
    by_count = F.col("operations") / F.col("operations_asked")
    by_time = F.col("run_s") / F.col("duration_s")
    done = F.least(F.lit(1.0), F.greatest(by_count, by_time))  # a run ends by count or by time
    rate_error = relative_error(F.col("overall_ops_s") * F.col("run_s"), F.col("operations"))
    histogram_error = relative_error(F.col("in_histograms"), F.col("succeeded"))
    # YCSB counts from the start of the JVM
    client_s = F.col("run_s") + F.coalesce("warm_up_client_s", F.lit(0.0))
    gc_share = F.max(F.col("gc_s") / client_s)
    return clients.groupBy("trial").agg(
        of_all(F.sum, F.col("failed")).alias("failed_operations"),
        of_all(F.min, done).alias("ycsb_share"),
        of_all(F.max, rate_error).alias("ycsb_rate_error"),
        of_all(F.max, histogram_error).alias("histogram_error"),
        gc_share.alias("client_gc_share"),
        F.when(gc_share <= GC_BEARABLE, gc_share).alias("client_gc_noted"),
    )


def _collections(inputs: Inputs) -> DataFrame:
    """trial, client, gc_s: time in which the client's JVM stood still to collect garbage."""
    printed = F.col("operation") == GC_TIME
    rows = inputs[tables.YCSB_SUMMARY].where(printed & (F.col("measure") == GC_MEASURE))
    return rows.groupBy("trial", "client").agg((F.max("value") / 1000.0).alias("gc_s"))


def _histogram_counts(inputs: Inputs) -> DataFrame:
    """trial, client, in_histograms: successful operations of the whole run, ramp-up included."""
    return (
        inputs[tables.YCSB_HISTOGRAMS]
        .where("counted IS NOT NULL AND kind = 'closed-loop'")
        .groupBy("trial", "client")
        .agg(F.sum("counted").alias("in_histograms"))
    )


def drift(inputs: Inputs) -> DataFrame:
    """trial, drift: rate of the last third of the time after the ramp-up over rate of the first (method 7),
    for all clients together; null if the first has no operations, or if they are so short that the edges of a
    second decide: a load of two seconds may end before the last third begins."""
    # Thirds, not a fitted slope: one slow second at an end moves a slope more than a third's mean.
    intervals = inputs[tables.YCSB_HISTOGRAMS].where("measured AND kind = 'closed-loop'")
    whole = Window.partitionBy("trial")
    begun, end = F.col("begun_s"), F.col("begun_s") + F.col("length_s")
    placed = (
        intervals.withColumn("end_s", end)
        .withColumn("first_s", F.min(begun).over(whole))
        .withColumn("span_s", F.max("end_s").over(whole) - F.col("first_s"))
        .where(F.col("span_s") >= LEAST_DRIFT_S)
        # by time, not by number of intervals: each client writes intervals of its own
        .withColumn("part", F.floor(PARTS * (begun - F.col("first_s")) / F.col("span_s")))
    )
    rates = placed.groupBy("trial", "part").agg(
        (F.sum("counted") / (F.max("end_s") - F.min("begun_s"))).alias("ops_s")
    )
    of = {part: F.max(F.when(F.col("part") == part, F.col("ops_s"))) for part in (0, PARTS - 1)}
    return rates.groupBy("trial").agg(F.when(of[0] > 0, of[PARTS - 1] / of[0]).alias("drift"))
