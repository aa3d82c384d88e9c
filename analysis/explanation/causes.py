"""`Cause`: a rule that holds, with its evidence; and the ranking of those of a spell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from density_study.analysis.explanation.course import IDLE, Array, Series
from density_study.analysis.explanation.rules import Rule, exceeds, rules
from density_study.analysis.explanation.words import compared, several

Kind = Literal["spell", "trials"]
"""What the values of a series are compared with."""


@dataclass(frozen=True)
class Cause:
    """`where`: the place that is furthest beyond the rule's limits. evidence: numbers, for people."""

    rule: Rule
    where: str
    evidence: str

    @property
    def sentence(self) -> str:
        return f"{self.rule.sentence.format(where=self.where)} ({self.evidence})"


def ranked(found: Iterable[Cause]) -> tuple[Cause, ...]:
    """The most specific one first; one per rule; none that another one explains better."""
    first: dict[str, Cause] = {}
    for cause in found:
        first.setdefault(cause.rule.id, cause)
    left = [cause for cause in first.values() if not first.keys() & set(cause.rule.unless)]
    return tuple(sorted(left, key=lambda cause: (cause.rule.kind, cause.rule.place)))


def held(
    series: Series, kind: Kind, value: Array, centre: Array, spread: Array, among: str
) -> Iterator[Cause]:
    """The rules of which a sign shows. value, centre, spread: of each row of the series, NaN where it is not
    known. All rows of all signs are judged at once: a trial of many hosts has thousands."""
    signs = [
        (rule, limit, sign.down, series.rows[sign.series])
        for rule in rules().values()
        for sign in rule.signs
        if (limit := getattr(sign, kind)) is not None and sign.series in series.rows
    ]
    if not signs:
        return
    lengths = [len(rows) for *_, rows in signs]
    at = np.concatenate([rows for *_, rows in signs])
    least, factor, down = (
        np.repeat(values, lengths)
        for values in zip(
            *((one.least, one.factor, down) for _, one, down, _ in signs), strict=True
        )
    )
    shown = exceeds(value[at], centre[at], spread[at], least, factor, down)
    shown &= ~np.concatenate(
        [_idle(series, one.load, rows, value, centre) for _, one, _, rows in signs]
    )
    ends = np.cumsum(lengths)
    of_rule: dict[Rule, list[tuple[str, str]]] = {}
    for sign in np.unique(np.searchsorted(ends, np.flatnonzero(shown), side="right")):
        rule, *_, rows = signs[sign]
        begin = ends[sign] - lengths[sign]
        text = told(series, rows[shown[begin : ends[sign]]], value, centre, among)
        of_rule.setdefault(rule, []).append(text)
    for rule, texts in of_rule.items():
        cause = of_signs(rule, texts)
        if cause:
            yield cause


def _idle(series: Series, load: str, rows: Array, value: Array, centre: Array) -> Array:
    """Of each row whether it has hardly any of its usual load. False where that is not known."""
    at = series.loads(rows, load) if load else np.full(len(rows), -1)
    found: Array = (at >= 0) & (value[at] < IDLE * centre[at])
    return found


def told(series: Series, rows: Array, value: Array, centre: Array, among: str) -> tuple[str, str]:
    """The place furthest away, and the evidence of the first few."""
    order = rows[np.argsort(-np.abs(value[rows] - centre[rows]), kind="stable")]
    texts = [
        compared(series.places[row], float(value[row]), float(centre[row]), among) for row in order
    ]
    return series.places[order[0]].words, several(texts)


def of_signs(rule: Rule, shown: Sequence[tuple[str, str]]) -> Cause | None:
    """The rule's cause from what its signs show; None if none does."""
    if not shown:
        return None
    return Cause(rule, shown[0][0], "; ".join(evidence for _, evidence in shown))
