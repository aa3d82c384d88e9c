"""What the nodes' processes used of their host's CPU, beside what all of it did (methods 4 and 19)."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.spark.exact import exact_sum
from jobs.spark.inputs import Inputs


def processes_cpu(inputs: Inputs) -> DataFrame:
    """client_cpu_share, of the client node's own cores (method 4); cpu_excess, what the nodes'
    processes used beyond what their host did, in percent of its cores (method 19); foreign_cpu, what
    their host did beyond them. A guest counts by what its host gave it in the whole window: emulated, it
    takes waiting for a core for use. What a host does for its guests is no foreign work."""
    used = inputs[tables.METRICS].where("name = 'cpu_used'").select("trial", "scope", "value")
    hosts = used.select(
        "trial",
        F.regexp_extract("scope", "^host:(.*)$", 1).alias("host"),
        F.col("value").alias("measured"),
    )
    whole = inputs[tables.HOST_USE].select("trial", "host", "cpu_used_whole")
    nodes = inputs[tables.NODES].join(used, ["trial", "scope"])
    share = F.col("value") / 100.0 * F.col("host_cores") / F.col("cores")
    spent = F.col("value") * F.col("cores") / F.col("host_cores")
    of_host = F.when(F.col("guests") > 0, F.col("cpu_used_whole")).otherwise(F.col("measured"))
    beyond = of_host - F.col("processes")
    by_host = nodes.groupBy("trial", "host").agg(
        F.max(F.when(F.col("scope") == "client", share)).alias("client_share"),
        exact_sum(F.coalesce("host_cpu_share_percent", spent)).alias("processes"),
        F.count("host_cpu_share_percent").alias("guests"),
    )
    return (
        by_host.join(hosts, ["trial", "host"], "left")
        .join(whole, ["trial", "host"], "left")
        .groupBy("trial")
        .agg(
            F.max("client_share").alias("client_cpu_share"),
            F.max(-beyond).alias("cpu_excess"),
            F.max(F.when(F.col("guests") == 0, beyond)).alias("foreign_cpu"),
        )
    )
