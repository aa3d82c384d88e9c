"""A run against earlier runs, usually of its study. The unit is the run
(analysis/comparison/between_runs.py).

A regression is worse than nothing changed explains, over all numbers together, and worse than the
tolerance. What was acknowledged is not a regression again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, log
from statistics import median
from typing import Literal

from pydantic import Field

from density_study.analysis.comparison.acknowledged import NOTHING, Acknowledged
from density_study.analysis.comparison.between_runs import Judged, judge, night_effect
from density_study.analysis.comparison.causes import candidate_causes, declared_differences
from density_study.analysis.comparison.change_points import ChangePoint, change_points
from density_study.analysis.comparison.machines import machine_speeds
from density_study.analysis.comparison.numbers import Key, Number, incomparable, name_of, numbers
from density_study.analysis.summary.summary import Finding, Summary
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.values import Frozen

FORMAT: Literal[1] = 1
TEST = "prediction interval of run means"
Outcome = Literal[
    "regression", "slower", "faster", "within tolerance", "acknowledged", "inconclusive"
]


class Change(Frozen):
    """One number of one test case on one topology, newest run or runs over the baseline.

    regression: slower, by more than the tolerance. slower: than chance between runs explains, but perhaps
    within the tolerance. faster: than chance explains. within tolerance: the whole interval is.
    acknowledged: the run at which an acknowledged level began. inconclusive: none of these.
    """

    outcome: Outcome
    finding: Finding
    together: int = Field(1, description="newest runs whose mean is compared")
    p_within_tolerance: float | None = Field(
        None,
        description="p of: the change is within the tolerance; a regression needs at most 0.05",
    )
    computing: float | None = Field(
        None,
        description="speed of the machines themselves, by the canary's computation around the same trials: "
        "newest run over the baseline; null: not measured in all of them",
    )
    memory: float | None = Field(None, description="the same, by the canary's copies in memory")
    waking: float | None = Field(None, description="the same, by its wake-ups on other cores")
    touching: float | None = Field(None, description="the same, by its first touch of memory")
    names: float | None = Field(
        None, description="the smallest change for the worse that would be called a regression"
    )


class NightEffect(Frozen):
    """How much runs differ though nothing changed, beyond what their builds explain: standard deviation of
    the logarithms of run means, the median over the numbers of a family."""

    family: str
    spread: float
    runs: int = Field(description="earlier runs that tell it")


class RunComparison(Frozen):
    """What comparison.json holds."""

    format: Literal[1] = FORMAT
    study: str
    baseline: tuple[str, ...] = Field(
        description="ids of the earlier runs, oldest first; of another study: <study>/<id>"
    )
    run: str
    tolerance: float
    changes: tuple[Change, ...]
    not_compared: tuple[str, ...] = Field(
        description="test cases that are missing or different in some run, and what differs"
    )
    declared_differences: tuple[str, ...] = Field(
        (), description="what the study declared differently, versions and properties among it"
    )
    candidate_causes: tuple[str, ...] = Field(
        description="differences between the runs' disclosures that were not declared"
    )
    change_points: tuple[ChangePoint, ...] = ()
    night_effects: tuple[NightEffect, ...] = Field(
        (), description="empty while it is unknown: with fewer than two earlier runs"
    )

    @property
    def regressions(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.outcome == "regression")

    @property
    def headline(self) -> str:
        """Did the cluster get slower? One sentence."""
        if self.regressions:
            return (
                f"Slower: {len(self.regressions)} of {len(self.changes)} numbers are worse by more than "
                f"{self.tolerance:.1%}."
            )
        if self.changes and all(c.outcome in ("within tolerance", "faster") for c in self.changes):
            return f"Not slower: every number is within {self.tolerance:.1%} or better."
        if self.changes and not self.night_effects:
            return (
                "Undecided: how much runs differ by the night is unknown with one earlier run, so "
                "no difference between two runs is called a regression. Repeat the study."
            )
        if not self.changes:
            return "Undecided: nothing was compared. No valid number of these runs is of the same test case."
        return f"Undecided: worse by more than {self.tolerance:.1%} is neither shown nor excluded."


def compare(
    before: Sequence[Summary],
    after: Summary,
    tolerance: float,
    history: Sequence[Summary] = (),
    acknowledged: Acknowledged = NOTHING,
) -> RunComparison:
    """`after` against `before`, oldest first. InputError if there is none, or if a run of another study has
    no test case in common with it.

    `history`: all earlier runs of the study. They tell how much runs differ, and are searched for change
    points.
    """
    _check(before, after)
    runs = (*before, after)
    sides = [{(e.test_case, e.topology): e for e in summary.test_cases} for summary in runs]
    alike = {
        key: [
            side[key]
            for run, side in zip(before, sides, strict=False)
            if key in side and not incomparable(key, (run, after), (side, sides[-1]))
        ]
        for key in sides[-1]
    }
    shared = [key for key, entries in alike.items() if entries]
    earlier = [run for run in history if (run.study, run.run) != (after.study, after.run)]
    known = {(run.study, run.run) for run in earlier}
    earlier = sorted([*earlier, *(r for r in before if (r.study, r.run) not in known)], key=_when)
    every_number = [one for key in shared for one in numbers(key, earlier, after, acknowledged)]
    names = [name_of(summary, after.study) for summary in before]
    rolling = [name_of(run, after.study) for run in earlier[-len(before) :]] == names
    judged = judge({one.id: one.course for one in every_number}, names, rolling, tolerance)
    return RunComparison(
        study=after.study,
        baseline=tuple(name_of(summary, after.study) for summary in before),
        run=after.run,
        tolerance=tolerance,
        changes=tuple(
            _change(one, judged[one.id], tolerance).model_copy(
                update=machine_speeds(alike[one.key], one.entry)
            )
            for one in every_number
        ),
        not_compared=tuple(
            _not_compared(key, incomparable(key, runs, sides))
            for key in dict.fromkeys(key for side in sides for key in side)
            if key not in shared
        ),
        declared_differences=declared_differences(before[-1], after),
        candidate_causes=candidate_causes(before[-1], after),
        change_points=change_points((*history, after)),
        night_effects=tuple(_night_effects(every_number)),
    )


def _check(before: Sequence[Summary], after: Summary) -> None:
    if not before:
        raise InputError(
            "there is no earlier run to compare with.",
            f"study {after.study}",
            "run the study again later, or name a run.",
        )
    for summary in before:
        if (summary.study, summary.run) == (after.study, after.run):
            raise InputError(
                "a run cannot be compared with itself.",
                f"run {after.run}",
                "name two different runs; `study list` shows them.",
            )
        if summary.study != after.study and not _keys(summary) & _keys(after):
            raise InputError(
                f"runs of two studies, {summary.study!r} and {after.study!r}, have no test case on the same "
                "topology in common.",
                f"run {summary.run}",
                "name runs that measured the same test case.",
            )


def _keys(summary: Summary) -> set[Key]:
    return {(entry.test_case, entry.topology) for entry in summary.test_cases}


def _not_compared(key: Key, why: Sequence[str]) -> str:
    return " on ".join(key) + (f" ({'; '.join(why)})" if why else "")


def _night_effects(every: Sequence[Number]) -> Iterator[NightEffect]:
    for family in dict.fromkeys(one.family for one in every):
        mine = [one for one in every if one.family == family]
        spreads = list(night_effect([number.course for number in mine]))
        if spreads:
            runs = max(len(one.course.runs) - 1 for one in mine)
            yield NightEffect(family=family, spread=median(spreads), runs=runs)


def _when(run: Summary) -> tuple[str, str]:
    return run.run, run.study


def _change(number: Number, judged: Judged | None, tolerance: float) -> Change:
    outcome = _outcome(number, judged, tolerance)
    finding = Finding(
        id=number.id,
        statement=f"{number.entry.label}, {number.entry.topology}: {number.measure}, later over earlier",
        verdict="inconclusive",
        why=_why(number, judged),
        hindrance="none",
        effect=_effect(number, judged),
        n=(len(judged.base), judged.together) if judged else (len(number.course.runs) - 1, 1),
        subject=number.entry.label,
        measure=number.measure,
        variants="later run over earlier",
        among=number.entry.topology,
        family=number.family,
        unit="run",
    )
    if judged is None:
        return Change(outcome=outcome, finding=finding)
    ends = sorted(_turned(number, end) for end in (judged.low, judged.high))
    worse = outcome in ("regression", "slower")
    return Change(
        outcome=outcome,
        finding=finding.model_copy(
            update={
                "verdict": "confirmed" if worse else "refuted" if outcome == "faster" else "inconclusive",
                "low": ends[0], "high": ends[1], "p": judged.same_raw, "p_adjusted": judged.same,
                "test": TEST,
            }
        ),
        together=judged.together,
        p_within_tolerance=judged.within,
        names=judged.names if number.family == "rates" else 1 / (1 - judged.names) - 1,
    )  # fmt: skip


def _turned(number: Number, logarithm: float) -> float:
    return exp(-logarithm if number.family == "latencies" else logarithm)


def _effect(number: Number, judged: Judged | None) -> float | None:
    levels = number.course.levels
    if judged is not None:
        return _turned(number, judged.change)
    return _turned(number, levels[-1] - levels[-2]) if len(levels) > 1 else None


def _why(number: Number, judged: Judged | None) -> str:
    if judged is not None:
        over = f"the mean of the last {judged.together} runs" if judged.together > 1 else "the run"
        alike = f", {judged.memory:.0%} of the way to the last of them" if judged.memory else ""
        return f"{over} over the mean of {len(judged.base)} earlier{alike}"
    if number.course.start == len(number.course.runs) - 1 and number.acknowledged:
        return f"this level was acknowledged in run {number.acknowledged}"
    if len(number.course.runs) == 1:
        return "no earlier run has a value"
    return "the night effect is unknown with one earlier run: two nights may differ by this much"


def _outcome(number: Number, judged: Judged | None, tolerance: float) -> Outcome:
    """Levels are turned so that a lower one is worse."""
    if number.acknowledged and number.acknowledged == number.course.runs[-1]:
        return "acknowledged"
    if judged is None:
        return "inconclusive"
    if judged.is_regression:
        return "regression"
    if judged.is_slower:
        return "slower"
    if judged.is_faster:
        return "faster"
    # symmetric in logs: as much faster as slower
    allowed = -log(1 - tolerance)
    inside = judged.low > -allowed and judged.high < allowed
    return "within tolerance" if inside else "inconclusive"
