"""Trials with a declared tier of the block cache, and trials with a declared network."""

from __future__ import annotations

from density_study.workloads.base.values import CacheUse
from tests.support.records.factory import RunFactory
from tests.support.truth import Truth

BUILD = "b1-v2-flash"
COUNTED = {"l1_hits": 900, "l1_misses": 100, "l2_hits": 300, "l2_misses": 100, "evictions": 12}


def use(declared: str, in_use: str | None, **counted: int | None) -> CacheUse:
    engines = {"w1/regionserver-1": declared, "w2/regionserver-1": in_use}
    return CacheUse(declared=declared, engines=engines, **{**COUNTED, **counted})


USES = {
    "right": use("offheap", "offheap"),
    "wrong": use("offheap", "file"),
    "half": use("pmem", "pmem with 12 MiB"),
    "silent": use("offheap", None, l1_hits=None, l2_hits=None),
    "unused": use("file", "file", l2_hits=0),
    "heap": use("heap", "heap", l2_hits=0, l2_misses=0),
    "cold heap": use("heap", "heap", l1_hits=0),
    "hdfs": use("hdfs_pmem", "hdfs_pmem", l1_hits=None, l1_misses=None, evictions=None),
    "none": None,
}
RATE = {"what": "rate", "declared": 100.0, "unit": "Mbit/s", "why": "no answer"}
NETWORKS = {"good network": True, "wrong network": False, "silent network": None}


def tier_trials(factory: RunFactory) -> dict[str, Truth]:
    truths = {}
    for name, caches in {**USES, "load": use("file", "file", l2_hits=0)}.items():
        mix = "load" if name == "load" else "scan95-insert5"
        truth = factory.ycsb(BUILD, mix, seconds=2, rate=20)
        truth.caches = caches
        truths[name] = truth
    for name, holds in NETWORKS.items():
        truth = factory.ycsb(BUILD, "scan95-insert5", seconds=2, rate=20)
        truth.network = ({**RATE, "measured": None if holds is None else 80.0, "holds": holds},)
        truths[name] = truth
    return truths
