"""`Load`: operations per second of one measured mix, with the latencies to keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.unit import parse_unit
from density_study.cluster.model.errors import InputError

_RATE = re.compile(r"(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3}){2,})\s*([kM]?)\s*((?:ops|operations)?/\w+)")
_LIMIT = re.compile(r"([a-z]+(?:-[a-z]+)*)_p(\d{1,2}(?:\.\d+)?)=(\d+(?:\.\d+)?)\s*([a-z]+)")
_TIMES = {"": 1.0, "k": 1e3, "M": 1e6}
MIN_DRAWS = 100  # of which a q95 leaves out five


@dataclass(frozen=True)
class Limit:
    """`percentile` percent of the operations of a kind (READ) take at most `limit_s`."""

    operation: str
    percentile: float
    limit_s: float

    @property
    def quantity(self) -> str:
        return f"{self.operation} p{self.percentile:g}"

    def __str__(self) -> str:
        return f"{self.quantity} <= {1e3 * self.limit_s:g} ms"


@dataclass(frozen=True)
class Load:
    """group: the measured mix. split: whether several clusters may share the load. data_gib: that of the
    table, before replication; None: the table is not counted."""

    ops_s: float
    group: str
    limits: tuple[Limit, ...] = ()
    split: bool = False
    data_gib: float | None = None
    replication: int = 3
    draws: int = 1000
    seed: int = 20130226

    @property
    def slos(self) -> tuple[str, ...]:
        return tuple(map(str, self.limits))

    @property
    def stored_gib(self) -> float:
        return (self.data_gib or 0.0) * self.replication

    def __str__(self) -> str:
        return f"{self.ops_s:,.0f} operations/s of {self.group}"


def load(
    ops: str,
    mix: str,
    slos: Sequence[str],
    model: Model,
    *,
    split: bool = False,
    data_gib: float | None = None,
    draws: int = 1000,
    seed: int = 20130226,
) -> Load:
    """InputError for a rate, mix, limit or size that cannot be used."""
    if draws < MIN_DRAWS:
        raise InputError(f"{draws} draws are too few.", "--draws", f"give at least {MIN_DRAWS}.")
    if data_gib is not None and not 0 < data_gib < float("inf"):
        raise InputError(f"a table of {data_gib:g} GiB.", "--data-gib", "give a positive number.")
    limits = tuple(map(_limit, slos))
    if len({one.quantity for one in limits}) < len(limits):
        raise InputError("two limits concern the same quantity.", "--slo", "give each once.")
    return Load(_ops_s(ops), _group(mix, model), limits, split, data_gib, draws=draws, seed=seed)


def _ops_s(text: str) -> float:
    match = _RATE.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError("a rate is a number with its unit of time")
        number, times, unit = match.groups()
        per_s = parse_unit(unit if unit[0] != "/" else f"ops{unit}").factor
        rate = float(number.replace(",", "")) * _TIMES[times] * per_s
        if not 0 < rate < float("inf"):
            raise ValueError("the rate must be positive")
    except ValueError as error:
        remedy = "write 1000000/s, 1,000,000/s, 250k/s or 1M/s."
        raise InputError(f"{text!r}: {error}.", "--ops", remedy) from error
    return rate


def _limit(text: str) -> Limit:
    match = _LIMIT.fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError("the form must be read_p99=10ms")
        unit = parse_unit(match[4])
        limit_s = float(match[3]) * unit.factor
        if unit.kind != "time" or not limit_s > 0 or not float(match[2]) > 0:
            raise ValueError("the time and the percentile must be positive")
    except ValueError as error:
        remedy = "with --ops, write read_p99=10ms, update_p95=20ms or scan_p99=100ms."
        raise InputError(f"{text!r}: {error}.", "--slo", remedy) from error
    return Limit(match[1].upper(), float(match[2]), limit_s)


def _group(mix: str, model: Model) -> str:
    """The measured group: by its name, or the only one of YCSB's mix."""
    rates = sorted({point.group for point in model.points if point.quantity == "rate"})
    if mix in rates:
        return mix
    found = [group for group in rates if group.startswith((f"ycsb-{mix}-", f"ycsb-{mix} "))]
    if len(found) == 1:
        return found[0]
    known = ", ".join(found or rates) or "none"
    what = "is measured in several ways" if found else "was not measured"
    raise InputError(
        f"mix {mix!r} {what}.", "--mix", f"name one group with a rate in full: {known}."
    )
