"""The mixes of operations, as YCSB's CoreWorkload takes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workloads.ycsb.setting import LOADS, Mix, YcsbSetting

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
        "variant-load": _mix(insert=1.0),
        "region-scan": _mix(scan=1.0),  # a cohort: all samples' rows of a region
        "sample-read": _mix(read=1.0),  # one sample at one site
        "cohort-query": _mix(scan=0.2, read=0.8),  # regions, and single genotypes looked up in them
    }
)
WARM_UP: Mapping[str, float] = _mix(read=0.4, update=0.1, insert=0.4, scan=0.1)
"""Every path of a RegionServer, whatever the study's mixes: what its daemons are warmed up with."""
WARM_UP_VARIANTS: Mapping[str, float] = _mix(scan=0.5, read=0.5)
"""Of a variant store, whose load has warmed the path of writes already."""
DISTRIBUTIONS: Mapping[Mix, str] = MappingProxyType({"d": "latest"})
"""Where a mix of YCSB's own fixes the request distribution; elsewhere the study does."""


def is_load(mix: Mix) -> bool:
    """Whether it writes a table whole, and has no time of its own."""
    return mix in LOADS


def load_of(setting: YcsbSetting) -> Mix:
    """The mix that writes the setting's table."""
    return "load" if setting.variants is None else "variant-load"


def unnamed_knobs(setting: YcsbSetting) -> dict[str, str | float]:
    """What the setting's id does not tell and its numbers depend on, by its key in a study. Only knobs
    that act on the mix: a load draws no keys, and only scans have a length."""
    variants = setting.variants
    found: dict[str, str | float | None] = {
        "duration": setting.duration_s,
        "warm_up": None if setting.is_load else setting.warm_up_s,
        "warm_up_client": None if setting.is_load else setting.warm_up_client_s,
        "warm_up_daemons": "steady" if setting.until_steady else setting.warm_up_daemons_s,
        "regions_per_server": setting.regions_per_server,
        "seed": None if variants is None else variants.seed,
    }
    if not setting.is_load:
        found["request_distribution"] = DISTRIBUTIONS.get(setting.mix, setting.request_distribution)
        if variants is not None:
            found |= {"regions": variants.regions, "region_sites": variants.region_sites}
        elif MIXES[setting.mix]["scan"] > 0:
            found["max_scan_length"] = setting.max_scan_length
    return {name: value for name, value in found.items() if value is not None}


def writes(mix: Mix) -> bool:
    """Whether the mix changes the table, so that the next run needs it restored."""
    shares = MIXES[mix]
    return any(shares[kind] > 0 for kind in ("update", "insert", "readmodifywrite"))
