"""Whether the clients of a trial shared the load: several YCSB clients that start at one moment.

A sum over clients describes the cluster only while all of them work, and only if none of them was the limit.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.spark.columns import of_all
from density_study.jobs.spark.run_tables import Inputs


def client_facts(inputs: Inputs) -> DataFrame:
    """trial, started_together, client_late_s, clients_overlap, client_lag; all but the first null unless
    every client's log tells.

    - client_late_s: largest distance between the common start and a client's first operation.
    - clients_overlap: time in which all clients worked, as a share of the time in which any did.
    - client_lag: the slowest client's rate over the fastest's, each as a share of what was asked of it: of
      the target, else of the threads. After the ramp-up.
    """
    clients = (
        inputs[tables.CLIENTS]
        .where("begin_epoch_s IS NOT NULL")
        .select("trial", "client", "begin_epoch_s", "threads")
        .join(_work(inputs), ["trial", "client"], "left")
        .join(inputs[tables.TRIALS].select("trial", "target_ops_s"), "trial")
    )
    late_s = F.abs(F.col("first_s") - F.col("begin_epoch_s"))
    # clients divide a target evenly, whatever their threads
    asked = F.when(F.col("target_ops_s").isNull(), F.col("threads")).otherwise(1)
    achieved = F.when(asked > 0, F.col("ops_s") / asked)
    all_s = of_all(F.min, F.col("last_s")) - F.max("first_s")
    any_s = F.max("last_s") - F.min("first_s")
    fastest = F.max(achieved)
    return clients.groupBy("trial").agg(
        F.lit(True).alias("started_together"),
        of_all(F.max, late_s).alias("client_late_s"),
        # not F.greatest, which skips nulls
        F.when(any_s > 0, F.when(all_s < 0, 0.0).otherwise(all_s / any_s)).alias("clients_overlap"),
        F.when(fastest > 0, of_all(F.min, achieved) / fastest).alias("client_lag"),
    )


def _work(inputs: Inputs) -> DataFrame:
    """trial, client, first_s and last_s: first and last moment with operations, controller's clock; ops_s
    after the ramp-up. An interval log begins with its first operation, so first_s is exact."""
    ends_s = F.col("begun_s") + F.col("length_s")
    measured_s = F.max(F.when(F.col("measured"), ends_s)) - F.min(
        F.when(F.col("measured"), F.col("begun_s"))
    )
    return (
        inputs[tables.YCSB_HISTOGRAMS]
        .where("counted IS NOT NULL AND kind = 'closed-loop' AND operations > 0")
        .groupBy("trial", "client")
        .agg(
            F.min("begun_s").alias("first_s"),
            F.max(ends_s).alias("last_s"),
            F.when(
                measured_s > 0, F.sum(F.when(F.col("measured"), F.col("counted"))) / measured_s
            ).alias("ops_s"),
        )
    )
