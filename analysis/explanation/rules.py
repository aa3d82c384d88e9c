"""The rules that name causes, as data: `rules.toml` holds them, with their ranking."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from density_study.analysis.explanation.course import Array, Mask

SPREADS = 5.0
"""Robust standard deviations that a value must lie beyond the median."""
CLASS_WEIGHT = 0.25
"""Weight of a second of class 2 relative to one of class 1, and so on."""


@dataclass(frozen=True)
class Limit:
    """How far a value must lie beyond the median of what it is compared with: `least`, in the series' unit,
    and `factor` times. floor: a smaller value does not count, however unusual. load: the series that the
    value follows; if hardly anything is left of it, the value is not judged."""

    least: float
    factor: float = 1.0
    floor: float = 0.0
    load: str = ""


def margins(
    value: Array,
    centre: Array,
    spread: Array,
    least: Array | float,
    factor: Array | float,
    down: Mask,
) -> Array:
    """How far each value lies beyond, over how far it must at least: above 1 it is beyond. 0 where one of
    them is not known."""
    times = np.where(down, centre - centre / factor, centre * factor - centre)
    needed = np.maximum.reduce([times, np.broadcast_to(least, times.shape), SPREADS * spread])
    away = np.where(down, centre - value, value - centre)
    found: Array = np.nan_to_num(away / needed)
    return found


@dataclass(frozen=True)
class Sign:
    """A series that a cause moves. `down`: it falls. At least one of the comparisons is set; `level` is in
    the series' unit, of the mean over the trial. `stalls`: it counts only if work stops in the seconds beyond
    it."""

    series: str
    down: bool = False
    spell: Limit | None = None
    peers: Limit | None = None
    trials: Limit | None = None
    level: float | None = None
    stalls: bool = False


@dataclass(frozen=True)
class Rule:
    """`id`: kebab case, as in summary.json. `place`: in the file. `event`: kind of event of a daemon that is
    the cause, instead of signs. sentence: with {where}. friends: what looks alike and is another cause.
    unless: rules that explain the same better, where they hold at the same place; unless_anywhere: at any.
    takes_cores: its signs are shares of a host's cores, in percent, which the study did not get."""

    id: str
    place: int
    title: str
    kind: int
    sentence: str
    remedy: str
    friends: str
    event: str = ""
    signs: tuple[Sign, ...] = ()
    unless: tuple[str, ...] = ()
    unless_anywhere: tuple[str, ...] = ()
    takes_cores: bool = False

    @property
    def weight(self) -> float:
        """Weight of each second that the cause affects."""
        return float(CLASS_WEIGHT ** (self.kind - 1))


@cache
def rules() -> Mapping[str, Rule]:
    """Every rule by its id, in the order of the file."""
    declared = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    return {one["id"]: _rule(place, one) for place, one in enumerate(declared["rules"])}


def _rule(place: int, declared: Mapping[str, Any]) -> Rule:
    known: dict[str, Any] = {
        key: tuple(value) if key.startswith("unless") else value
        for key, value in declared.items()
        if key not in ("class", "signs")
    }
    signs = tuple(map(_sign, declared.get("signs", ())))
    return Rule(place=place, kind=declared["class"], signs=signs, **known)


def _sign(declared: Mapping[str, Any]) -> Sign:
    limits = {
        name: Limit(**declared[name]) for name in ("spell", "peers", "trials") if name in declared
    }
    return Sign(**{**declared, **limits})
