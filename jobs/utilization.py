"""CPU and disk use of each trial: `python -m jobs.utilization RUN` prints it.

Host figures are dool's, of the whole machine, counted once. Nodes that share a kernel see the same
dool figures, so their own CPU is what their processes spent. Steal is not use (method 19).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.exact import COARSE, FINE, exact_sum
from jobs.metric_rows import metric_rows
from jobs.run_job import Inputs, run_job
from jobs.window import by_controller_clock, overlap_s, windows

TABLE = tables.METRICS
INPUTS = (
    tables.TRIALS,
    tables.NODES,
    tables.MONITORS,
    tables.HOST_SAMPLES,
    tables.NODE_CPU_SAMPLES,
)
MIB = 2.0**20
PERCENT = "percent"


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: cpu_* and disk_* by scope. See `analysis.tables` for the scopes."""
    hosts = host_means(inputs).withColumn("scope", machine_scope())
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
    return host_rows.unionByName(_process_rows(_by_scope(ticks))).unionByName(
        metric_rows(apart, {"cpu_used": (PERCENT, F.col("used"))})
    )


def machine_scope() -> Column:
    """Scope of what dool saw of a machine: a guest (named <node>.<host>) is none of the hosts."""
    kind = F.when(F.col("host").contains("."), F.lit("guest:")).otherwise(F.lit("host:"))
    return F.concat(kind, "host")


def host_means(inputs: Inputs) -> DataFrame:
    """trial, host and the mean of each dool column over the window, samples at its edges weighted
    by the part of them that lies inside; the since-boot sample is dropped (method 18)."""
    weighted = (
        host_samples(inputs)
        .withColumn("weight_s", overlap_s(F.col("since_s"), F.col("until_s")))
        .where("weight_s > 0")
    )
    values = [
        column.name
        for column in tables.HOST_SAMPLES.columns
        if column.name.startswith(("cpu_", "disk_"))
    ]
    return weighted.groupBy("trial", "host").agg(*[_weighted_mean(name) for name in values])


def host_samples(inputs: Inputs) -> DataFrame:
    """dool's samples of trials that have a window, with the two times (since_s, until_s; controller's
    clock) between which each was taken, and the window's own."""
    at = by_controller_clock(F.col("epoch_s"), F.col("clock_offset_s"))
    return (
        distinct_samples(inputs[tables.HOST_SAMPLES])
        .join(_monitor(inputs, "dool"), ["trial", "host"])
        .join(windows(inputs[tables.TRIALS]), "trial")
        .withColumn("since_s", at - F.col("period_s"))
        .withColumn("until_s", at)
    )


def distinct_samples(samples: DataFrame) -> DataFrame:
    """Samples without the since-boot one; of two with the same time the first line is kept."""
    return samples.where("NOT since_boot AND NOT repeated")


def _weighted_mean(name: str) -> Column:
    known = F.when(F.col(name).isNotNull(), F.col("weight_s"))
    return (exact_sum(F.col(name) * known, steps_of(name)) / exact_sum(known)).alias(name)


def steps_of(name: str) -> float:
    """How finely the sums of a column of `host_samples` are made."""
    return FINE if name.startswith("cpu_") else COARSE


def _monitor(inputs: Inputs, kind: str) -> DataFrame:
    return (
        inputs[tables.MONITORS]
        .where(F.col("kind") == kind)
        .select("trial", "host", "period_s", "clock_offset_s")
    )


def node_ticks(inputs: Inputs) -> DataFrame:
    """trial, host, node, scope, roles, user_ticks, system_ticks spent in the window, and what the
    host could have spent: window_s x ticks_per_s x cores.

    Cumulative ticks are interpolated at the window's edges: of an increment between two rounds the
    part counts that lies in the window. Ticks fall when a process has gone whose parent did not
    wait for it; such a step counts as none.
    """
    steps = tick_steps(inputs).withColumn(
        "inside",
        overlap_s(F.col("since_s"), F.col("until_s")) / (F.col("until_s") - F.col("since_s")),
    )
    spent = steps.groupBy("trial", "host", "node", "window_s", "ticks_per_s", "cores").agg(
        exact_sum(F.col("user_step") * F.col("inside")).alias("user_ticks"),
        exact_sum(F.col("system_step") * F.col("inside")).alias("system_ticks"),
    )
    placed = inputs[tables.NODES].select("trial", "node", "scope", "roles")
    return spent.join(placed, ["trial", "node"], "left").select(
        "trial",
        "host",
        "node",
        F.coalesce("scope", "node").alias("scope"),
        "roles",
        "user_ticks",
        "system_ticks",
        (F.col("window_s") * F.col("ticks_per_s") * F.col("cores")).alias("capacity_ticks"),
    )


def tick_steps(inputs: Inputs) -> DataFrame:
    """Each node's increments of ticks, with the two times (since_s, until_s; controller's clock)
    between which they were spent, and the window's own. Ticks never fall here."""
    offset_s = F.col("clock_offset_s")
    until = by_controller_clock(F.col("epoch_s"), offset_s)
    since = by_controller_clock(F.col("since_epoch_s"), offset_s)
    return (
        inputs[tables.NODE_CPU_SAMPLES]
        .where("user_step IS NOT NULL")
        .join(_monitor(inputs, "nodecpu"), ["trial", "host"])
        .join(windows(inputs[tables.TRIALS]), "trial")
        .withColumn("until_s", until)
        .withColumn("since_s", F.coalesce(since, F.col("until_s") - F.col("period_s")))
        .where("until_s > since_s")
    )


def _by_scope(ticks: DataFrame) -> DataFrame:
    """Ticks of each scope, and of `cluster`: masters and workers together. A scope on several hosts
    is measured against all their cores, each host once."""
    member = F.arrays_overlap("roles", F.array(F.lit("master"), F.lit("worker")))
    scopes = F.when(member, F.array("scope", F.lit("cluster"))).otherwise(F.array("scope"))
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
    """trial, scope, used: the host's Used CPU without what client and monitors spent on it."""
    ours = ticks.where(F.col("scope").isin("client", "monitor"))
    spent = 100.0 * (F.col("user_ticks") + F.col("system_ticks")) / F.col("capacity_ticks")
    shares = ours.groupBy("trial", "host").agg(exact_sum(spent).alias("not_cluster"))
    real = hosts.where("scope LIKE 'host:%'")
    return real.join(shares, ["trial", "host"]).select(
        "trial",
        F.concat(F.lit("host-less-client:"), "host").alias("scope"),
        (F.col("used") - F.col("not_cluster")).alias("used"),
    )


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
