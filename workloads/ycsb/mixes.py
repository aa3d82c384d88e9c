"""The mixes of operations, as YCSB's CoreWorkload takes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workloads.ycsb.setting import Mix

_KINDS = ("read", "update", "insert", "scan", "readmodifywrite")


def _mix(**share: float) -> Mapping[str, float]:
    if abs(sum(share.values()) - 1) > 1e-9 or not set(share) <= set(_KINDS):
        raise ValueError(f"a mix is shares of {_KINDS} that add to 1: {share}")
    return MappingProxyType({kind: share.get(kind, 0.0) for kind in _KINDS})


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
    }
)
WARM_UP: Mapping[str, float] = _mix(read=0.4, update=0.1, insert=0.4, scan=0.1)
"""Every path of a RegionServer, whatever the study's mixes: what its daemons are warmed up with."""
DISTRIBUTIONS: Mapping[Mix, str] = MappingProxyType({"d": "latest"})
"""Where a mix of YCSB's own fixes the request distribution; elsewhere the study does."""


def writes(mix: Mix) -> bool:
    """Whether the mix changes the table, so that the next run needs it restored."""
    shares = MIXES[mix]
    return any(shares[kind] > 0 for kind in ("update", "insert", "readmodifywrite"))
