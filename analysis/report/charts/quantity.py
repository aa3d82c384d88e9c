"""Numbers for people: three significant digits, thousands separators, always with the unit."""

from __future__ import annotations

import re

from density_study.analysis.summary import numbers
from density_study.analysis.summary.summary import Metric
from density_study.workloads.base import quantity as base
from density_study.workloads.study.metrics import metric_kinds

ABSENT = "not computed"
_NBSP = "\N{NO-BREAK SPACE}"
_SIGNS = {
    "percent": "%",
    "count": "maps",  # concurrent_maps is the only count
    "genomes/h": "test genomes/h",  # a thousandth of a human genome, or less
    "genomes/h per USD/h": "test genomes/h per USD/h",
}
_WHERE = {  # the name, if there is one, takes the place of {}
    "cluster": "all nodes together",
    "host": "host {}",
    "host-less-client": "host {} without client and monitors",
    "monitor": "monitors",
}


def quantity(value: float | None, unit: str) -> str:
    """`value` with `unit` as in `Metric.unit`, or "not computed" for None: 7,420 ops/s, 0.84 ms."""
    if value is None:
        return ABSENT
    return f"{numbers.digits(value)}{_NBSP}{sign(unit)}".rstrip(_NBSP)


def sign(unit: str) -> str:
    """The unit as people write it: % for percent."""
    return _SIGNS.get(unit, unit)


def where(scope: str | None) -> str:
    """A metric's scope in words: host here, host h1 without client and monitors, w1."""
    kind, _, name = (scope or "").partition(":")
    return " ".join(_WHERE.get(kind, name or kind).format(name).split())


def words(metric: Metric) -> str:
    """What its declaration calls the metric, and its scope: 'disk read, host h1'."""
    return ", ".join(filter(None, (metric_kinds()[metric.name].words, where(metric.scope))))


def interval(low: float | None, high: float | None, unit: str) -> str:
    """Both ends with the unit once, or "" if there is no interval."""
    if low is None or high is None:
        return ""
    return f"{numbers.digits(low)} to {quantity(high, unit)}"


def ratio(value: float | None) -> str:
    """×1.21, ×12.4, or "not computed" for None."""
    return ABSENT if value is None else numbers.ratio(value)


def duration(seconds: float | None) -> str:
    """Up to a minute in seconds with three digits, then as everywhere: 41.5 s, 7 min 40 s."""
    if seconds is None:
        return ABSENT
    if seconds < 60:
        return quantity(seconds, "s")
    return re.sub(r"(\d) ", rf"\1{_NBSP}", base.duration(seconds))
