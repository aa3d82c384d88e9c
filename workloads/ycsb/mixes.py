"""The mixes of operations, as parameters of YCSB's CoreWorkload."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

CoreMix = Literal[
    "load", "read45-insert55", "scan95-insert5", "a", "b", "c", "d", "e", "f"
]  # a to f: YCSB's own core workloads
VariantMix = Literal["variant-load", "region-scan", "sample-read", "cohort-query"]
Mix = CoreMix | VariantMix
LOADS: tuple[Mix, ...] = ("load", "variant-load")
"""Mixes that write a whole table, and end with its last row."""
LABELS: dict[Mix, str] = {
    "load": "data load",
    "read45-insert55": "45/55 read-insert",
    "scan95-insert5": "95/5 short scan",
    "a": "core workload A",
    "b": "core workload B",
    "c": "core workload C",
    "d": "core workload D",
    "e": "core workload E",
    "f": "core workload F",
    "variant-load": "variant store, load",
    "region-scan": "variant store, region scan",
    "sample-read": "variant store, sample read",
    "cohort-query": "variant store, scans among reads",
}
"""Names for people, in the order in which settings are shown."""
LATENCY_OPERATIONS: Mapping[Mix, tuple[str, ...]] = MappingProxyType(
    {
        "load": ("INSERT",),
        "read45-insert55": ("READ", "INSERT"),
        "scan95-insert5": ("SCAN", "INSERT"),
        "variant-load": ("INSERT",),
        "region-scan": ("SCAN",),
        "cohort-query": ("SCAN", "READ"),
    }
)
"""Operations whose latency is compared; READ for the other mixes."""
_OPERATIONS = ("read", "update", "insert", "scan", "readmodifywrite")


def _mix(**share: float) -> Mapping[str, float]:
    if abs(sum(share.values()) - 1) > 1e-9 or not set(share) <= set(_OPERATIONS):
        raise ValueError(f"a mix is shares of {_OPERATIONS} that add up to 1: {share}")
    return MappingProxyType({operation: share.get(operation, 0.0) for operation in _OPERATIONS})


MIXES: Mapping[Mix, Mapping[str, float]] = MappingProxyType(
    {
        "load": _mix(insert=1.0),
        "read45-insert55": _mix(read=0.45, insert=0.55),  # the talk: reads among heavy inserts
        "scan95-insert5": _mix(scan=0.95, insert=0.05),  # the talk: short range scans, few inserts
        "a": _mix(read=0.5, update=0.5),
        "b": _mix(read=0.95, update=0.05),
        "c": _mix(read=1.0),
        "d": _mix(read=0.95, insert=0.05),
        "e": _mix(scan=0.95, insert=0.05),
        "f": _mix(read=0.5, readmodifywrite=0.5),
        "variant-load": _mix(insert=1.0),
        "region-scan": _mix(scan=1.0),  # a cohort: the rows of all samples in a region
        "sample-read": _mix(read=1.0),  # one sample at one site
        "cohort-query": _mix(scan=0.2, read=0.8),  # regions, and single genotypes within them
    }
)
WARM_UP: Mapping[str, float] = _mix(read=0.4, update=0.1, insert=0.4, scan=0.1)
"""Exercises every code path of a RegionServer; warms up the servers whatever mixes the study runs."""
WARM_UP_VARIANTS: Mapping[str, float] = _mix(scan=0.5, read=0.5)
"""The same for a variant store: its load has already warmed up the write path."""
DISTRIBUTIONS: Mapping[Mix, str] = MappingProxyType({"d": "latest"})
"""Request distributions that YCSB's core workloads fix; the study sets that of the other mixes."""


def is_load(mix: Mix) -> bool:
    """Whether the mix writes a whole table, and has no duration of its own."""
    return mix in LOADS


def writes(mix: Mix) -> bool:
    """Whether the mix changes the table, so that the next trial must restore it."""
    shares = MIXES[mix]
    return any(shares[operation] > 0 for operation in ("update", "insert", "readmodifywrite"))
