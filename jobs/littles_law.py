"""Little's law of each closed-loop trial: N = X (R + Z), with all of them measured.

N client threads, of which each is either within an operation (R) or between two of them (Z, the
client's own time). So the time spent in both, over the time that passed, is N: X R is the time within
operations a second, X Z the time between them. That every second of every thread is found again says
that rate and latency are of the same operations, and that no client stood still unseen.

Source: J. D. C. Little, A Proof for the Queuing Formula L = lambda W (1961). Z: `ThinkTimed` of the
project's YCSB client.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.exact import COARSE, exact_sum
from jobs.latency import timed
from jobs.run_job import Inputs
from workloads.ycsb.operations import READ_MODIFY_WRITE, THINK

NO_TIME = ("CLEANUP", READ_MODIFY_WRITE)
"""Of no thread's loop, and of times that its read and its update count already."""


def littles_law(inputs: Inputs) -> DataFrame:
    """trial, closed_loop, little_error: |X (R + Z) / N - 1|; null where a client's Z was not
    measured, and of trials that are no closed loop (a load's threads do not end together)."""
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'")
    closed = F.col("target_ops_s").isNull() & F.col("duration_s").isNotNull()
    busy = (
        inputs[tables.CLIENTS]
        .select("trial", "client")
        .join(_busy_threads(inputs), ["trial", "client"], "left")
        .groupBy("trial")
        .agg(
            F.when(
                F.count("threads_found") == F.count(F.lit(1)), exact_sum(F.col("threads_found"))
            ).alias("found")
        )
    )
    threads = F.col("threads") * F.col("clients")
    return trials.join(busy, "trial", "left").select(
        "trial",
        closed.alias("closed_loop"),
        F.when(closed, F.abs(F.col("found") / threads - 1)).alias("little_error"),
    )


def _busy_threads(inputs: Inputs) -> DataFrame:
    """trial, client, threads_found: seconds within operations and between them, for each second
    that passed after the warm-up; null unless both were measured.

    The last interval of each log is left out: the client ends somewhere within it.
    """
    log = Window.partitionBy("trial", "client", "operation", "outcome")
    intervals = (
        timed(inputs[tables.YCSB_HISTOGRAMS], inputs)
        .where("kind = 'closed-loop'")
        .where(~F.col("operation").isin(*NO_TIME))
        .withColumn("last_s", F.max("begun_s").over(log))
        .where("begun_s >= start_s + warm_up_s AND begun_s < last_s AND length_s > 0")
    )
    shares = intervals.groupBy("trial", "client", "operation", "outcome").agg(
        (exact_sum(F.col("time_us"), COARSE) / 1e6 / exact_sum(F.col("length_s"))).alias("share")
    )
    between = F.col("operation") == THINK
    both = (F.count_if(between) > 0) & (F.count_if(~between) > 0)
    return shares.groupBy("trial", "client").agg(
        F.when(both, exact_sum(F.col("share"))).alias("threads_found")
    )
