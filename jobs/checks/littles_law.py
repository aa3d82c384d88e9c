"""Little's law of each closed-loop trial: N = X (R + Z), with all of them measured.

N client threads, of which each is either within an operation (R) or between two of them (Z, the
client's own time). So the time spent in both, over the time that passed, is N: X R is the time within
operations a second, X Z the time between them. That every second of every thread is found again says
that rate and latency are of the same operations, and that no client stood still unseen.

It is held over whole intervals in which every thread works. Of a timed run: after the warm-up, but for
the last, somewhere within which the client ends. Of a load, whose threads begin with a table they have
to find and end each with its share of the rows: from the second interval with operations to the last
before a thread cleans up.

Source: J. D. C. Little, A Proof for the Queuing Formula L = lambda W (1961). Z: `ThinkTimed` of the
project's YCSB client.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.metrics.window import windows
from jobs.spark.exact import COARSE, exact_sum
from jobs.spark.inputs import Inputs
from workloads.ycsb.output.operations import CLEANUP, READ_MODIFY_WRITE, THINK

NO_TIME = (CLEANUP, READ_MODIFY_WRITE)
"""Of no thread's loop, and of times that its read and its update count already."""
MIN_INTERVALS = 3
"""Of a load: in fewer, what began before the first of them and ended within weighs too much."""


def littles_law(inputs: Inputs) -> DataFrame:
    """trial, closed_loop, little_error: |X (R + Z) / N - 1|. The error is null where a client's Z was
    not measured. closed_loop: whether the trial is held to the law. A timed run without a rate asked
    for is; a load where the law could be held at all: many a one is too short."""
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'")
    asks_no_rate, is_run = F.col("target_ops_s").isNull(), F.col("duration_s").isNotNull()
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
        (asks_no_rate & (is_run | F.col("found").isNotNull())).alias("closed_loop"),
        F.when(asks_no_rate, F.abs(F.col("found") / threads - 1)).alias("little_error"),
    )


def _busy_threads(inputs: Inputs) -> DataFrame:
    """trial, client, threads_found: seconds within operations and between them, for each second
    that passed while all threads worked; null unless both were measured (of a load, for long enough).
    """
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
    both = (F.count_if(between & long_enough) > 0) & (F.count_if(~between & long_enough) > 0)
    return shares.groupBy("trial", "client").agg(
        F.when(both, exact_sum(F.col("share"))).alias("threads_found")
    )


def _within_a_run() -> Column:
    return F.expr("begun_s >= start_s + warm_up_s AND begun_s < last_s")


def _within_a_load() -> Column:
    """False too where a log is missing: that nobody cleaned up is not known then."""
    whole = F.expr("begun_s > all_began_s AND begun_s + length_s <= cleaned_up_s")
    return F.coalesce(whole, F.lit(False))


def _a_load_works() -> dict[str, Column]:
    """all_began_s: when the interval begins in which operations, and times between them, are first
    seen. cleaned_up_s: at the latest, when the first thread had no more to do; the log has when
    clean-ups ended, and what they took together."""
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
