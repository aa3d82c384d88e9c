"""Facts from the monitors: coverage of the window (method 20), and CPU use of the nodes' processes compared
with their host's total (methods 4 and 19)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.window import windows
from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs


def worst_coverage(inputs: Inputs) -> DataFrame:
    """trial, monitor_coverage, monitor_worst: the monitor with the lowest coverage. Null if the window is
    shorter than a sampling period."""
    coverage = F.col("seen") / F.when(
        F.col("seen") + F.col("lost") > 0, F.col("seen") + F.col("lost")
    )
    name = F.concat_ws(" on ", "kind", "host")
    worst = F.min(F.struct(coverage.alias("coverage"), name.alias("name"))).alias("worst")
    monitors = inputs[tables.MONITORS].select("trial", "kind", "host", "period_s")
    monitors = monitors.join(windows(inputs[tables.TRIALS]), "trial")
    expecting = monitors.where("window_s >= period_s")  # else no sample is expected
    counted = expecting.join(inputs[tables.MONITOR_ROUNDS], ["trial", "kind", "host"], "left")
    empty = F.floor(F.col("window_s") / F.col("period_s"))  # lost by a monitor without any sample
    return (
        counted.withColumn("lost", F.coalesce("lost", empty))
        .fillna(0, ["seen"])
        .groupBy("trial")
        .agg(worst)
        .select(
            "trial",
            F.col("worst.coverage").alias("monitor_coverage"),
            F.col("worst.name").alias("monitor_worst"),
        )
    )


def processes_cpu(inputs: Inputs) -> DataFrame:
    """Three facts per trial:

    - client_cpu_share: CPU use of the (busiest) client, as a share of its node's cores (method 4).
    - cpu_excess: CPU use of the nodes' processes minus that of their host, in percent of the host's cores
      (method 19).
    - foreign_cpu: CPU use of the host minus that of the nodes' processes. Null for hosts with VMs, because
      work for a VM is not foreign. Containers have none of that: they are on the host's own kernel.

    A VM or container counts with the CPU time that its host gave it over the whole window: an emulated VM
    counts waiting for a core as use.
    """
    used = inputs[tables.METRICS].where("name = 'cpu_used'").select("trial", "scope", "value")
    hosts = used.select(
        "trial",
        F.regexp_extract("scope", "^host:(.*)$", 1).alias("host"),
        F.col("value").alias("measured"),
    )
    whole = inputs[tables.HOST_USE].select("trial", "host", "cpu_used_whole")
    nodes = inputs[tables.NODES].join(used, ["trial", "scope"])
    share = F.col("value") / 100.0 * F.col("host_cores") / F.col("cores")
    # a VM with pinned cores counts percent of its own cores, not of its host's
    spent = F.col("value") * F.col("cores") / F.col("host_cores")
    of_host = F.when(F.col("guests") > 0, F.col("cpu_used_whole")).otherwise(F.col("measured"))
    beyond = of_host - F.col("processes")
    by_host = nodes.groupBy("trial", "host").agg(
        F.max(F.when(F.split("scope", ":")[0] == "client", share)).alias("client_share"),
        exact_sum(F.coalesce("host_cpu_share_percent", spent)).alias("processes"),
        F.count("host_cpu_share_percent").alias("guests"),
        F.count("throttled_percent").alias("containers"),
    )
    return (
        by_host.join(hosts, ["trial", "host"], "left")
        .join(whole, ["trial", "host"], "left")
        .groupBy("trial")
        .agg(
            F.max("client_share").alias("client_cpu_share"),
            F.max(-beyond).alias("cpu_excess"),
            F.max(F.when(F.col("guests") == F.col("containers"), beyond)).alias("foreign_cpu"),
        )
    )
