"""A run against earlier runs, usually of its study. The unit is the build; all earlier builds are one arm.

Any difference between runs is a change, and the tolerance says which changes matter. Rates are one
family and tail latencies another, each adjusted by Holm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field

from density_study.analysis.comparison.causes import (
    candidate_causes,
    declared_differences,
    differing,
)
from density_study.analysis.comparison.change_points import ChangePoint, change_points
from density_study.analysis.findings.arms import Points, latency_arms, main_operation, rate_points
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import FALLS, RISES, Question, Rule
from density_study.analysis.summary.disclosure import unequal_durability
from density_study.analysis.summary.summary import Finding, SettingSummary, Summary
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.values import Frozen

TAIL = 99.0  # the percentile of latencies
FORMAT: Literal[1] = 1
Outcome = Literal["regression", "slower", "faster", "within tolerance", "no claim"]
Key = tuple[str, str]


class Change(Frozen):
    """One number of one setting on one topology, later run over earlier ones.

    regression: significantly slower, by more than the tolerance. slower: significantly, but within the
    tolerance. faster: significantly. within tolerance: the whole interval is. no claim: none of these.
    """

    outcome: Outcome
    finding: Finding


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
        description="settings that are missing or different in some run, and what differs"
    )
    declared_differences: tuple[str, ...] = Field(
        (), description="what the study declared differently, versions and properties among it"
    )
    candidate_causes: tuple[str, ...] = Field(
        description="differences between the runs' disclosures that were not declared"
    )
    change_points: tuple[ChangePoint, ...] = ()

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
        return f"Undecided: worse by more than {self.tolerance:.1%} is neither shown nor excluded."


def compare(
    before: Sequence[Summary],
    after: Summary,
    tolerance: float,
    history: Sequence[Summary] = (),
) -> RunComparison:
    """`after` against `before`, oldest first. InputError if there is none, or if a run of another study has
    no setting in common with it.

    `history`: all earlier runs of the study, which are searched for change points.
    """
    _check(before, after)
    runs = (*before, after)
    sides = [{(e.setting, e.topology): e for e in summary.settings} for summary in runs]
    every = dict.fromkeys(key for side in sides for key in side)
    apart = {key: _incomparable(key, runs, sides) for key in every}
    shared = [key for key in sides[-1] if all(key in side for side in sides) and not apart[key]]
    questions = [
        question
        for key in shared
        for question in _questions([side[key] for side in sides[:-1]], sides[-1][key])
    ]
    found = decide(questions, min(summary.repetitions for summary in runs))
    return RunComparison(
        study=after.study,
        baseline=tuple(_name(summary, after.study) for summary in before),
        run=after.run,
        tolerance=tolerance,
        changes=tuple(Change(outcome=_outcome(one, tolerance), finding=one) for one in found),
        not_compared=tuple(_not_compared(key, apart[key]) for key in every if key not in shared),
        declared_differences=declared_differences(before[-1], after),
        candidate_causes=candidate_causes(before[-1], after),
        change_points=change_points((*history, after)),
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
            raise InputError("a run cannot be compared with itself.", f"run {after.run}",
                             "name another run.")  # fmt: skip
        if summary.study != after.study and not _keys(summary) & _keys(after):
            raise InputError(
                f"runs of two studies, {summary.study!r} and {after.study!r}, have no setting on the same "
                "topology in common.",
                f"run {summary.run}",
                "name runs that measured the same setting.",
            )


def _keys(summary: Summary) -> set[Key]:
    return {(entry.setting, entry.topology) for entry in summary.settings}


def _name(summary: Summary, study: str) -> str:
    return summary.run if summary.study == study else f"{summary.study}/{summary.run}"


def _incomparable(
    key: Key, runs: Sequence[Summary], sides: Sequence[Mapping[Key, SettingSummary]]
) -> tuple[str, ...]:
    """The knobs that differ between runs, and unequal durability of their stores."""
    arms = [run.arms[key[1]] for run in runs if key[1] in run.arms]
    unequal = (why for arm in arms[1:] for why in unequal_durability(arms[0], arm))
    return (*differing(side[key] for side in sides if key in side), *dict.fromkeys(unequal))


def _not_compared(key: Key, why: Sequence[str]) -> str:
    return " on ".join(key) + (f" ({'; '.join(why)})" if why else "")


def _questions(before: Sequence[SettingSummary], after: SettingSummary) -> Iterator[Question]:
    if after.target_ops_s is None:  # a target rate is not a result
        rates = tuple(point for entry in before for point in rate_points(entry))
        yield _question(after, "throughput", FALLS, (rates, rate_points(after)))
    operation = main_operation(after) or ""
    pairs = [latency_arms(entry, after, operation, TAIL) for entry in before]
    known = [pair for pair in pairs if pair is not None]
    if known and len(known) == len(pairs):
        points = tuple(point for pair in known for point in pair[1])
        measure = f"{known[0][0]} {operation} p{TAIL:g}"
        yield _question(after, measure, RISES, (points, known[0][2]))


def _question(
    after: SettingSummary, measure: str, rule: Rule, arms: tuple[Points, Points]
) -> Question:
    family = "rates" if measure == "throughput" else "latencies"
    return Question(
        id=f"{family}-{after.setting}-{after.topology}",
        family=family,
        subject=after.label,
        among=after.topology,
        measure=measure,
        arms="later run over earlier",
        rule=rule,
        first=arms[0],
        later=arms[1],
    )


def _outcome(finding: Finding, tolerance: float) -> Outcome:
    """A lower rate or a higher latency is worse; latencies are inverted so that both read as rates."""
    if finding.effect is None or finding.low is None or finding.high is None:
        return "no claim"
    kept, kept_low, kept_high = finding.effect, finding.low, finding.high
    if finding.family == "latencies":
        kept, kept_low, kept_high = 1 / finding.effect, 1 / finding.high, 1 / finding.low
    if finding.verdict == "reproduced":
        return "regression" if kept <= 1 - tolerance else "slower"
    if finding.verdict == "contradicted":
        return "faster"
    # symmetric in logs: as much faster as slower
    inside = kept_low > 1 - tolerance and kept_high < 1 / (1 - tolerance)
    return "within tolerance" if inside else "no claim"
