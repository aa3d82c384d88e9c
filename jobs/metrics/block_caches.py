"""How many blocks each trial found in the block caches of its RegionServers, by their own counters.

The counters are read before and after the window, so that they include its ramp-up.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.spark.run_tables import Inputs

TABLE = tables.METRICS


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`, of trials whose arm declares a tier: l1_hit_percent and cache_evictions, and
    l2_hit_percent with a cache beside the heap. Null if a server did not tell, or nothing was looked for."""
    tiers = inputs[tables.TRIALS].where("tier IS NOT NULL")
    evictions = ("blocks", F.col("cache_evictions"))
    l1 = {"l1_hit_percent": ("percent", _hit_percent("l1")), "cache_evictions": evictions}
    l2 = {"l2_hit_percent": ("percent", _hit_percent("l2"))}
    return metric_rows(tiers, l1).unionByName(metric_rows(tiers.where("tier <> 'heap'"), l2))


def _hit_percent(level: str) -> Column:
    hits = F.col(f"{level}_hits")
    looked_for = hits + F.col(f"{level}_misses")
    return F.when(looked_for > 0, 100.0 * hits / looked_for)
