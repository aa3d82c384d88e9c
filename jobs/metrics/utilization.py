"""CPU and disk use of each trial.

Host figures come from dool and cover the whole machine, counted once. Nodes that share a kernel would see the
same dool figures, so their own CPU use is that of their processes. Steal is not use (method 19). Throttled
time is to a container what steal is to a VM: its processes could run, but its quota is used up.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs

TABLE = tables.METRICS
MIB = 2.0**20
PERCENT = "percent"
_MEMBER = "arrays_overlap(roles, array('master', 'worker'))"
CLIENTS = "client:"
"""Scopes of single clients, where a cluster has several."""


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: cpu_* and disk_* by scope. See `analysis.tables` for the scopes."""
    hosts = _of_clusters(inputs, inputs[tables.HOST_USE].where("measured_s > 0"))
    # Stolen time was never ours, and waiting for a disk is not work: both would inflate the VM arms.
    used = F.lit(100.0) - F.col("cpu_idle") - F.col("cpu_iowait") - F.col("cpu_steal")
    shares = [f"cpu_{part}" for part in ("user", "system", "iowait", "steal", "idle")]
    host_rows = metric_rows(
        hosts,
        {
            "cpu_used": (PERCENT, used),
            **{share: (PERCENT, F.col(share)) for share in shares},
            "disk_read": ("MiB/s", F.col("disk_read_bytes_s") / MIB),
            "disk_write": ("MiB/s", F.col("disk_write_bytes_s") / MIB),
        },
    )
    ticks = node_ticks(inputs)
    apart = _less_client(hosts.withColumn("used", used), ticks)
    stopped = inputs[tables.NODES].where("throttled_percent IS NOT NULL")
    return (
        host_rows.unionByName(_process_rows(_by_scope(ticks)))
        .unionByName(metric_rows(apart, {"cpu_used": (PERCENT, F.col("used"))}))
        .unionByName(metric_rows(stopped, {"cpu_throttled": (PERCENT, F.col("throttled_percent"))}))
    )


def _of_clusters(inputs: Inputs, hosts: DataFrame) -> DataFrame:
    """Rows of the cluster's hosts. That of a given cluster's client says nothing of the cluster."""
    given = inputs[tables.TRIALS].select("trial", "given")
    watched = inputs[tables.NODES].where(_MEMBER).select("trial", "host").distinct()
    watched = watched.withColumn("watched", F.lit(True))
    of_each = hosts.join(given, "trial").join(watched, ["trial", "host"], "left")
    return of_each.where("NOT given OR watched").drop("given", "watched")


def node_ticks(inputs: Inputs) -> DataFrame:
    """trial, host, node, scope, roles, user_ticks and system_ticks spent in the window, and capacity_ticks,
    the host's capacity: window_s x ticks_per_s x cores."""
    placed = inputs[tables.NODES].select("trial", "node", "scope", "roles")
    return (
        inputs[tables.NODE_USE]
        .join(placed, ["trial", "node"], "left")
        .withColumn("scope", F.coalesce("scope", "node"))
    )


def _by_scope(ticks: DataFrame) -> DataFrame:
    """Ticks of each scope, of `cluster`, the masters and workers together, and of `client`, all clients
    together. The capacity of a scope on several hosts is that of all these hosts, each counted once."""
    one_of_several = F.col("scope").startswith(CLIENTS)
    scopes = (
        F.when(F.expr(_MEMBER), F.array("scope", F.lit("cluster")))
        .when(one_of_several, F.array("scope", F.lit("client")))
        .otherwise(F.array("scope"))
    )
    by_host = (
        ticks.withColumn("scope", F.explode(scopes))
        .groupBy("trial", "scope", "host")
        .agg(
            exact_sum(F.col("user_ticks")).alias("user_ticks"),
            exact_sum(F.col("system_ticks")).alias("system_ticks"),
            F.max("capacity_ticks").alias("capacity_ticks"),
        )
    )
    names = ("user_ticks", "system_ticks", "capacity_ticks")
    return by_host.groupBy("trial", "scope").agg(*[exact_sum(F.col(n)).alias(n) for n in names])


def _process_rows(spent: DataFrame) -> DataFrame:
    user = 100.0 * F.col("user_ticks") / F.col("capacity_ticks")
    system = 100.0 * F.col("system_ticks") / F.col("capacity_ticks")
    return metric_rows(
        spent,
        {
            "cpu_used": (PERCENT, user + system),
            "cpu_user": (PERCENT, user),
            "cpu_system": (PERCENT, system),
        },
    )


def _less_client(hosts: DataFrame, ticks: DataFrame) -> DataFrame:
    """trial, scope, used: the host's Used CPU minus that of the client and the monitors on it."""
    is_client = (F.col("scope") == "client") | F.col("scope").startswith(CLIENTS)
    ours = ticks.where(is_client | (F.col("scope") == "monitor"))
    spent = 100.0 * (F.col("user_ticks") + F.col("system_ticks")) / F.col("capacity_ticks")
    shares = ours.groupBy("trial", "host").agg(exact_sum(spent).alias("not_cluster"))
    real = hosts.where("scope LIKE 'host:%'")
    return real.join(shares, ["trial", "host"]).select(
        "trial",
        F.concat(F.lit("host-less-client:"), "host").alias("scope"),
        (F.col("used") - F.col("not_cluster")).alias("used"),
    )
