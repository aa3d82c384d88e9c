"""`Cause`: a rule that holds, with its evidence; and the ranking of those of a spell."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from density_study.analysis.explanation.course import IDLE, Array, Place, Series, touch
from density_study.analysis.explanation.rules import Rule, margins, rules
from density_study.analysis.explanation.words import compared, several

LEAST_TAKEN = 0.25
"""The share of a host's cores that must have been taken, over the share of the work that was lost: a host
that lacks a twentieth of its cores does most of its work, and some of it waits."""
Kind = Literal["spell", "trials"]
"""What the values of a series are compared with."""
Shown = tuple[Sequence[Place], str]
"""Where a sign shows, the furthest place first, and the evidence."""


@dataclass(frozen=True)
class Cause:
    """`places`: where its signs show; the first one is furthest beyond the rule's limits. evidence: numbers,
    for people."""

    rule: Rule
    places: tuple[Place, ...]
    evidence: str

    @property
    def where(self) -> str:
        return self.places[0].words

    @property
    def sentence(self) -> str:
        return f"{self.rule.sentence.format(where=self.where)} ({self.evidence})"


def ranked(found: Iterable[Cause], nodes: Container[str]) -> tuple[Cause, ...]:
    """The most specific one first; one per rule; none that another one explains better. nodes: names."""
    first: dict[str, Cause] = {}
    for cause in found:
        first.setdefault(cause.rule.id, cause)
    left = [cause for cause in first.values() if not _excused(cause, first, nodes)]
    return tuple(sorted(left, key=lambda cause: (cause.rule.kind, cause.rule.place)))


def _excused(cause: Cause, found: Mapping[str, Cause], nodes: Container[str]) -> bool:
    if found.keys() & set(cause.rule.unless_anywhere):
        return True
    better = [found[rule] for rule in cause.rule.unless if rule in found]
    return any(touch(cause.places[0], place, nodes) for one in better for place in one.places)


@dataclass(frozen=True)
class Judged:
    """One sign's rows of a series, and how far each value lies beyond: a row per row, a column per value."""

    rule: Rule
    rows: Array
    margins: Array


def judged(
    series: Series, kind: Kind, value: Array, centre: Array, spread: Array
) -> Iterator[Judged]:
    """Yield every sign that was sampled, with how far it lies beyond its limit.

    value (rows, columns): what was measured, a column per spell, window or trial. centre, spread (rows,): the
    usual value of each row of `series`, and its deviation. NaN: not known.
    """
    for rule in rules().values():
        for sign in rule.signs:
            limit = getattr(sign, kind)
            if limit is None or sign.series not in series.rows:
                continue
            rows = series.rows[sign.series]
            usual, deviation = centre[rows, None], spread[rows, None]
            down = np.array(sign.down)
            found = margins(value[rows], usual, deviation, limit.least, limit.factor, down)
            no_news = idle(series, limit.load, rows, value, centre) | (value[rows] < limit.floor)
            yield Judged(rule, rows, np.where(no_news, 0.0, found))


def strongest(signs: Iterable[Judged], columns: int) -> Mapping[Rule, Array]:
    """The largest margin of each rule over all its signs and places, (columns,)."""
    found: dict[Rule, Array] = {}
    for one in signs:
        most = one.margins.max(axis=0)
        found[one.rule] = np.maximum(found.get(one.rule, np.zeros(columns)), most)
    return found


def held(
    series: Series,
    signs: Iterable[Judged],
    coincidence: Container[Rule],
    value: Array,
    centre: Array,
    among: str,
    lost: float,
) -> Iterator[Cause]:
    """The rules of which a sign shows in the only column, without those that hold by coincidence. lost: share
    of the usual work that was not done."""
    of_rule: dict[Rule, list[Shown]] = {}
    for one in signs:
        beyond = one.margins[:, 0] > 1
        if one.rule.takes_cores:
            beyond &= value[one.rows] - centre[one.rows] >= 100 * LEAST_TAKEN * lost
        shown = one.rows[beyond]
        if len(shown) and one.rule not in coincidence:
            of_rule.setdefault(one.rule, []).append(told(series, shown, value, centre, among))
    for rule, texts in of_rule.items():
        if cause := of_signs(rule, texts):
            yield cause


def idle(series: Series, load: str, rows: Array, value: Array, centre: Array) -> Array:
    """A mask like `value`: whether the row then had hardly any of its usual load. False where the load is not
    known. `load`: name of the series that is the load of `rows`, or ""."""
    at = series.loads(rows, load) if load else np.full(len(rows), -1)
    found: Array = (at >= 0)[:, None] & (value[at] < IDLE * centre[at, None])
    return found


def told(series: Series, rows: Array, value: Array, centre: Array, among: str) -> Shown:
    """value, centre: those of each row of the series."""
    order = rows[np.argsort(-np.abs(value[rows] - centre[rows]), kind="stable")]
    places = [series.places[row] for row in order]
    texts = [
        compared(place, float(value[row]), float(centre[row]), among)
        for place, row in zip(places, order, strict=True)
    ]
    return places, several(texts)


def of_signs(rule: Rule, shown: Sequence[Shown]) -> Cause | None:
    """The rule's cause from what its signs show; None if none does."""
    if not shown:
        return None
    places = tuple(place for where, _ in shown for place in where)
    return Cause(rule, places, "; ".join(evidence for _, evidence in shown))
