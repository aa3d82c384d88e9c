"""What a fault under load did: how long until the rate was back, what failed, and what is missing.

A rate is back at the first second from which, for SUSTAINED_S seconds, clients achieve 98 % of the target on
average and nine tenths of it in each. The backlog of a stall makes the rate higher than the target for a
while, so that the mean alone could begin within the stall. What a fault does may come late: the search begins
at the first second after the fault in which the rate is below nine tenths.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.metrics.throughput import whole_run
from density_study.jobs.spark.columns import of_all
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS

TABLE = tables.METRICS
SUSTAINED, EACH, SUSTAINED_S = 0.98, 0.9, 5


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`, of trials with a fault. time_to_recover is null if the rate was not back by the end
    of the trial; failed_operations and lost_rows are null if they are unknown."""
    faults = (
        inputs[tables.TRIALS]
        .where("fault_s IS NOT NULL AND window_end_epoch_s > window_start_epoch_s")
        .withColumn("window_s", F.col("window_end_epoch_s") - F.col("window_start_epoch_s"))
        .select("trial", "fault_s", "target_ops_s", "window_s", "rows_acknowledged", "rows_found")
    )
    lost = F.col("rows_acknowledged") - F.col("rows_found")
    wide = (
        faults.withColumn("lost_rows", lost)
        .join(_recovered(inputs, faults), "trial", "left")
        .join(_failed(inputs), "trial", "left")
        .join(_worst(inputs, faults), "trial", "left")
    )
    return metric_rows(
        wide,
        {
            "time_to_recover": ("s", F.col("recovered_s")),
            "failed_operations": ("count", F.col("failed")),
            "worst_latency": ("ms", F.col("worst_ms")),
            "lost_rows": ("count", F.col("lost_rows")),
        },
    )


def _recovered(inputs: Inputs, faults: DataFrame) -> DataFrame:
    """trial, recovered_s: from the fault to the first second of a sustained rate."""
    from_fault = F.sequence(F.floor("fault_s").cast("int"), F.ceil("window_s").cast("int") - 1)
    seconds = faults.withColumn("second", F.explode(from_fault))
    done = F.coalesce("operations", F.lit(0.0))  # a second without operations has no row
    shares = seconds.join(inputs[tables.OPERATION_SECONDS], ["trial", "second"], "left").withColumn(
        "share", done / F.col("target_ops_s")
    )
    coming = Window.partitionBy("trial").orderBy("second").rowsBetween(0, SUSTAINED_S - 1)
    share = F.col("share")
    sustained = (
        (F.count(share).over(coming) == SUSTAINED_S)
        & (F.avg(share).over(coming) >= SUSTAINED)
        & (F.min(share).over(coming) >= EACH)
    )
    after_s = F.greatest(F.lit(0.0), F.col("second") - F.col("fault_s"))
    # Without such a second, the fault did nothing to the rate. The last seconds, from which no sustained
    # rate could follow, do not count: the last one is not whole.
    fell = (share < EACH) & (F.count(share).over(coming) == SUSTAINED_S)
    fell_s = F.min(F.when(F.col("fell"), F.col("second"))).over(Window.partitionBy("trial"))
    return (
        shares.withColumn("sustained", sustained)
        .withColumn("fell", fell)
        .withColumn("fell_s", fell_s)
        .where("sustained AND (fell_s IS NULL OR second >= fell_s)")
        .groupBy("trial")
        .agg(F.min(after_s).alias("recovered_s"))
    )


def _failed(inputs: Inputs) -> DataFrame:
    """trial, failed: operations of the whole run; null if a client does not tell."""
    clients = inputs[tables.CLIENTS].select("trial", "client")
    runs = clients.join(whole_run(inputs[tables.YCSB_SUMMARY]), ["trial", "client"], "left")
    return runs.groupBy("trial").agg(of_all(F.sum, F.col("failed")).alias("failed"))


def _worst(inputs: Inputs, faults: DataFrame) -> DataFrame:
    """trial, worst_ms: the longest intended latency after the fault, of operations that succeeded."""
    return (
        inputs[tables.YCSB_HISTOGRAMS]
        .where("kind = 'intended' AND outcome IS NULL")
        .where(~F.col("operation").isin(*NOT_OF_USERS))
        .join(faults.select("trial", "fault_s"), "trial")
        .where("begun_s + length_s > fault_s")
        .groupBy("trial")
        .agg((F.max(F.array_max("value_us")) / 1000.0).alias("worst_ms"))
    )
