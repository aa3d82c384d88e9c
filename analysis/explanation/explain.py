"""What was slow in each trial, and why: `slow_seconds`, `latency_seconds`, `trial_causes`, `series_means`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from density_study.analysis.explanation.causes import Cause, ranked
from density_study.analysis.explanation.chance import Windows
from density_study.analysis.explanation.course import Course, Place, Spell, Usual
from density_study.analysis.explanation.lasting import (
    Group,
    of_consequence,
    of_level,
    of_peers,
    whole,
)
from density_study.analysis.explanation.moved import no_rule
from density_study.analysis.explanation.read import courses
from density_study.analysis.explanation.rules import Rule
from density_study.analysis.explanation.slow import slow_spells
from density_study.analysis.explanation.spells import causes
from density_study.analysis.explanation.testimony import testimony, with_testimony
from density_study.analysis.explanation.words import named
from density_study.workloads import tables
from density_study.workloads.monitors import DEVICES
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import read_table

COMMON = 0.5
"""Share of a test case's trials above which what lasts does not explain a single trial."""
FEWEST_COMMON = 4
Spells = Sequence[tuple[Spell, tuple[Cause, ...]]]


@dataclass(frozen=True)
class Explained:
    """A trial: its spells, each with its causes, what is usual in its other seconds, and what lasted by its
    peers or by a level. `level`: no healthy cluster has it; `peers`: its equals have not."""

    trial: str
    course: Course
    spells: Spells
    usual: Usual
    level: tuple[Cause, ...]
    peers: tuple[Cause, ...]

    def lasting(
        self, usual: Container[Place] | None, is_of_few: Callable[[Cause], bool]
    ) -> tuple[Cause, ...]:
        """usual: that of a trial that is slow among others, where something stands out in those that are
        not."""
        peers = [cause for cause in self.peers if not is_of_few(cause)]
        late = of_consequence(peers, self.course)
        news = [
            cause for cause in peers
            if cause in late or (usual is not None and cause.places[0] not in usual)
        ]  # fmt: skip
        return ranked((*news, *self.level), self.course.roles)


def explained(run_root: Path) -> dict[Table, pd.DataFrame]:
    """Explains every trial that telemetry devices watched, from the tables that ingest has written: each that
    this program ran with its monitors."""
    trials, monitors = (read_table(run_root, table) for table in (tables.TRIALS, tables.MONITORS))
    watched = set(monitors[monitors["kind"].isin(DEVICES)]["trial"])
    rows: dict[Table, list[dict[str, Any]]] = {
        tables.SLOW_SECONDS: [],
        tables.TRIAL_CAUSES: [],
        tables.SERIES_MEANS: [],
    }
    latency: list[pd.DataFrame] = []
    trials = trials[trials["trial"].isin(watched)]
    for _, group in trials.groupby(["topology", "test_case"], sort=False):
        alike = explain(dict(courses(run_root, group)))
        rows[tables.TRIAL_CAUSES] += of_group(alike)
        for one in alike:
            rows[tables.SLOW_SECONDS] += _slow(one)
            rows[tables.SERIES_MEANS] += _means(one)
            latency.append(_latency(one))
    found = {
        table: pd.DataFrame(of_table, columns=arrow_schema(table).names)
        for table, of_table in rows.items()
    }
    none = pd.DataFrame(columns=arrow_schema(tables.LATENCY_SECONDS).names)
    return {**found, tables.LATENCY_SECONDS: pd.concat(latency) if latency else none}


def explain(trials: Mapping[str, Course]) -> list[Explained]:
    """trials: those of one test case on one topology."""
    found = [(course, slow_spells(course)) for course in trials.values()]
    usual = [course.usual(spells) for course, spells in found]
    windows = Windows([course for course, _ in found], usual)
    return [
        Explained(
            trial,
            course,
            [
                (
                    spell,
                    with_testimony(
                        causes(course, spell, calm, windows, len(spells)), course, spell
                    ),
                )
                for spell in spells
            ],
            calm,
            of_level(course, calm),
            of_peers(course),
        )
        for trial, (course, spells), calm in zip(trials, found, usual, strict=True)
    ]


def of_group(alike: Sequence[Explained]) -> Iterator[dict[str, Any]]:
    """Rows of `trial_causes` of the trials of one test case on one topology."""
    group = Group.of([one.course for one in alike])
    slow = [group.slow(place) is not None for place in range(len(alike))]
    usual = {
        place for one, is_slow in zip(alike, slow, strict=True) if not is_slow
        for cause in one.peers for place in cause.places
    }  # fmt: skip
    lasting = [
        one.lasting(usual if is_slow else None, partial(group.is_of_few, place))
        for place, (one, is_slow) in enumerate(zip(alike, slow, strict=True))
    ]
    counts = Counter(cause.rule.id for of_trial in lasting for cause in of_trial)
    common = {
        rule for rule, count in counts.items()
        if len(alike) >= FEWEST_COMMON and count >= COMMON * len(alike)
    }  # fmt: skip
    for place, one in enumerate(alike):
        depth = group.depth(place) if group.is_known else None
        is_fast = group.is_known and not slow[place]
        yield from _ranked(one, group.of_trial(place), lasting[place], common, is_fast, depth)


def _ranked(
    one: Explained,
    unlike: tuple[Cause, ...],
    lasting: tuple[Cause, ...],
    common: set[str],
    is_fast: bool,
    depth: float | None,
) -> Iterator[dict[str, Any]]:
    """By the ranking at the head of rules.toml. What most trials of the test case have comes last.
    is_fast: the trial is as fast as the others, so that what lasts cost it nothing that they did not pay.
    depth: of the trial; None: unknown, then every slow second counts alike."""
    whole_s = len(one.course.rate)
    named: dict[str, tuple[tuple[bool, bool], float, dict[str, Any]]] = {}
    lasts = ranked((*unlike, *lasting), one.course.roles)
    of_unlike = {cause.rule.id for cause in unlike}
    for cause in with_testimony(lasts, one.course, None):
        is_common = cause.rule.id in common - of_unlike
        score = whole_s * cause.rule.weight * (1.0 if depth is None else depth)
        row = _row(one.trial, cause, None, whole_s)
        named[cause.rule.id] = ((is_common, is_fast), score, row)
    for rule, found in _by_rule(one.spells).items():
        seconds = sum(spell.length_s for spell, _ in found)
        spell, cause = max(found, key=lambda both: both[0].last - both[0].first)
        lost = sum(
            one_spell.length_s * (1.0 if depth is None else one_spell.depth)
            for one_spell, _ in found
        )
        entry = ((False, False), lost * rule.weight, _row(one.trial, cause, spell, seconds))
        if rule.id not in named or any(named[rule.id][0]):
            named[rule.id] = entry
    order = sorted(named.values(), key=lambda entry: (entry[0], -entry[1]))
    for rank, ((is_common, _), score, row) in enumerate(order, start=1):
        yield {**row, "rank": rank, "common": is_common, "score": score}


def _by_rule(spells: Spells) -> dict[Rule, list[tuple[Spell, Cause]]]:
    found: dict[Rule, list[tuple[Spell, Cause]]] = {}
    for spell, of_spell in spells:
        for cause in of_spell:
            found.setdefault(cause.rule, []).append((spell, cause))
    return dict(sorted(found.items(), key=lambda one: one[0].place))


def _row(trial: str, cause: Cause, spell: Spell | None, seconds: int) -> dict[str, Any]:
    when = "all of the trial" if spell is None else spell.words
    return {
        "trial": trial,
        "cause": cause.rule.id,
        "lasting": spell is None,
        "where": cause.where,
        "first": spell.first if spell else None,
        "last": spell.last if spell else None,
        "seconds": seconds,
        "sentence": f"{when}: {cause.sentence}.",
        "remedy": cause.rule.remedy,
    }


def _slow(one: Explained) -> Iterator[dict[str, Any]]:
    for spell, found in one.spells:
        yield {
            "trial": one.trial,
            "first": spell.first,
            "last": spell.last,
            "lost_s": spell.lost_s,
            "worst_ms": spell.worst_ms,
            "what": spell.what,
            "cause": found[0].rule.id if found else None,
            "also": [cause.rule.id for cause in found[1:]],
            "sentence": sentence(one.course, spell, one.usual, found),
        }


def sentence(course: Course, spell: Spell, usual: Usual, found: Sequence[Cause]) -> str:
    """The spell, its causes and the evidence, for people; without a cause, what moved most."""
    if not found:
        seen = testimony(course, spell)
        no_cause = no_rule(course, spell, usual.seconds)
        return f"{spell.words}: {spell.what}. {no_cause}.{f' Seen: {seen}.' if seen else ''}"
    return f"{spell.words}: {spell.what}. With it: {'; '.join(one.sentence for one in found)}."


def _latency(one: Explained) -> pd.DataFrame:
    """Rows of `latency_seconds`."""
    values = {"trial": one.trial, "second": one.course.seconds, "worst_ms": one.course.worst_ms}
    return pd.DataFrame(values).dropna()


def _means(one: Explained) -> Iterator[dict[str, Any]]:
    series, _ = whole(one.course)
    value = series.values[:, 0]
    for name, rows in series.rows.items():
        known = rows[np.isfinite(value[rows])]
        if len(known):
            most = known[np.argmax(value[known])]
            yield {
                "trial": one.trial,
                "name": name,
                "unit": named().get(name, ("", ""))[1],
                "mean": float(value[known].mean()),
                "most": float(value[most]),
                "where": series.places[most].words,
            }
