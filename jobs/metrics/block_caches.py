"""How many blocks each trial found in the block caches of its RegionServers, by their own counters; of HDFS's
cache, how much of what it read.

The counters are read before and after the window, so that they include its ramp-up.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.cluster.model.configuration import HDFS_PMEM
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.spark.run_tables import Inputs

TABLE = tables.METRICS


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`, of trials whose arm declares a tier: of HBase l1_hit_percent and cache_evictions,
    with a cache beside the heap l2_hit_percent. Null if a server did not tell, or nothing was looked for."""
    tiers = inputs[tables.TRIALS].where("tier IS NOT NULL")
    evictions = ("blocks", F.col("cache_evictions"))
    l1 = {"l1_hit_percent": ("percent", _hit_percent("l1")), "cache_evictions": evictions}
    l2 = {"l2_hit_percent": ("percent", _hit_percent("l2"))}
    of_hbase, beside = F.col("tier") != HDFS_PMEM, F.col("tier") != "heap"
    return metric_rows(tiers.where(of_hbase), l1).unionByName(metric_rows(tiers.where(beside), l2))


def _hit_percent(level: str) -> Column:
    hits = F.col(f"{level}_hits")
    looked_for = hits + F.col(f"{level}_misses")
    return F.when(looked_for > 0, 100.0 * hits / looked_for)
