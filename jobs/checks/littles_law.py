"""Little's law for each closed-loop trial: N = X (R + Z), with every term measured.

Each of the N client threads is either within an operation (latency R) or between two operations (think
time Z, the client's own time). So the time spent in both, per second, is N: X R within operations, and X Z
between them. If the law closes, every second of every thread is accounted for: rate and latency describe
the same operations, and no client stalled unnoticed.

The check uses whole intervals in which every thread works. In a timed run, these are the intervals after the
ramp-up except the last, in which the client ends. In a load, threads first look up the table and end at
different times, so these are the intervals from the second with operations to the last before a thread
cleans up.

Source: J. D. C. Little, A Proof for the Queuing Formula L = lambda W (1961). Z: `ThinkTimed` of the
project's YCSB client.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.arrays.exact_sums import COARSE
from density_study.jobs.metrics.window import windows
from density_study.jobs.spark.columns import exact_sum, of_all
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.ycsb.output.measurement import CLEANUP, READ_MODIFY_WRITE, THINK

# Operations whose time does not count: clean-up is outside the loop, and a read-modify-write's time is
# already counted in its read and its update.
NO_TIME = (CLEANUP, READ_MODIFY_WRITE)
MIN_INTERVALS = 3  # of a load: with fewer, operations that cross the first boundary weigh too much


def littles_law(inputs: Inputs) -> DataFrame:
    """trial, closed_loop, little_error: |X (R + Z) / N - 1|, null if a client's Z was not measured.

    closed_loop: whether the law must close. This is so for a timed run without a target rate, for a load
    that is long enough to be checked, and for a run of others of unknown duration.
    """
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'")
    asks_no_rate, is_run = F.col("target_ops_s").isNull(), F.col("duration_s").isNotNull()
    of_others = F.col("imported") & (F.col("mix") != "load")
    busy = (
        inputs[tables.CLIENTS]
        .select("trial", "client", F.col("threads").alias("client_threads"))
        .join(_busy_threads(inputs), ["trial", "client"], "left")
        .groupBy("trial")
        .agg(
            F.when(
                F.count("threads_found") == F.count(F.lit(1)), exact_sum(F.col("threads_found"))
            ).alias("found"),
            of_all(F.sum, F.col("client_threads")).alias("all_threads"),
        )
    )
    # all_threads: N. found: X (R + Z), seconds of threads per second
    return trials.join(busy, "trial", "left").select(
        "trial",
        (asks_no_rate & (is_run | F.col("found").isNotNull() | of_others)).alias("closed_loop"),
        F.when(asks_no_rate, F.abs(F.col("found") / F.col("all_threads") - 1)).alias(
            "little_error"
        ),
    )


def _busy_threads(inputs: Inputs) -> DataFrame:
    """trial, client, threads_found: seconds within and between operations, per second in which all threads
    worked; null unless both were measured (in a load, for long enough)."""
    is_load = inputs[tables.TRIALS].select("trial", F.col("duration_s").isNull().alias("is_load"))
    log = Window.partitionBy("trial", "client", "operation", "outcome")
    intervals = (
        inputs[tables.YCSB_HISTOGRAMS]
        .where("kind = 'closed-loop'")
        .join(windows(inputs[tables.TRIALS]), "trial")
        .join(is_load, "trial")
        .withColumns(_a_load_works())
        .where(~F.col("operation").isin(*NO_TIME))
        .withColumn("last_s", F.max("begun_s").over(log))
        .where("length_s > 0")
        .where(F.when(F.col("is_load"), _within_a_load()).otherwise(_within_a_run()))
    )
    shares = intervals.groupBy("trial", "client", "operation", "outcome").agg(
        (exact_sum(F.col("time_us"), COARSE) / 1e6 / exact_sum(F.col("length_s"))).alias("share"),
        F.count(F.lit(1)).alias("intervals"),
        F.first("is_load").alias("is_load"),
    )
    between = F.col("operation") == THINK
    long_enough = ~F.col("is_load") | (F.col("intervals") >= MIN_INTERVALS)
    # without Z, the sum is X R alone: an error of the law would only show the client's own time
    both = (F.count_if(between & long_enough) > 0) & (F.count_if(~between & long_enough) > 0)
    return shares.groupBy("trial", "client").agg(
        F.when(both, exact_sum(F.col("share"))).alias("threads_found")
    )


def _within_a_run() -> Column:
    return F.expr("begun_s >= start_s + warm_up_s AND begun_s < last_s")


def _within_a_load() -> Column:
    """Also false if a log is missing, because it is then unknown when clean-up began."""
    whole = F.expr("begun_s > all_began_s AND begun_s + length_s <= cleaned_up_s")
    return F.coalesce(whole, F.lit(False))


def _a_load_works() -> dict[str, Column]:
    """all_began_s: start of the first interval with both operations and think times. cleaned_up_s: upper
    bound of the time when the first thread had finished; the log has the end of the clean-ups and their
    total duration."""
    client = Window.partitionBy("trial", "client")
    seen = F.col("operations") > 0
    operation = F.col("operation")
    of_users = ~operation.isin(*NO_TIME, THINK) & F.col("outcome").isNull()
    first = [
        F.min(F.when(seen & kind, F.col("begun_s"))).over(client)
        for kind in (of_users, operation == THINK)
    ]
    began_to_end = F.col("begun_s") - F.col("time_us") / 1e6
    return {
        "all_began_s": F.greatest(*first),
        "cleaned_up_s": F.min(F.when(seen & (operation == CLEANUP), began_to_end)).over(client),
    }
