"""How often the analysis names what was injected, and how often it names something where nothing was.

Each disturbed trial is explained among the quiet ones of its run alone, as a bad trial among good ones: the
other disturbed ones would be a measure in which everything is usual.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from density_study.analysis.explanation.course import Course
from density_study.analysis.explanation.explain import explain, of_group
from density_study.analysis.explanation.lasting import Group
from density_study.analysis.explanation.read import courses
from density_study.analysis.explanation.slow import slow_spells
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.causes.disturbance import Disturbance
from tests.causes.library import QUIET, disturbed, kind_of, warms_up

FIRST, AMONG, FALSE = 0.80, 0.90, 1 / 20
"""Goals: shares of the disturbed trials whose cause is named first, and among NAMED; false names per quiet
trial."""
NAMED = 3


@dataclass(frozen=True)
class Trial:
    """`kind`: the disturbance, or QUIET. `causes`: ids of what the analysis names, the first one first; None:
    the trial did not complete, or was not disturbed. `slowed`: in some seconds it did less work, or it was
    slower than the quiet ones; else there is nothing to explain. One long operation without that is in quiet
    trials as well."""

    name: str
    kind: str
    causes: tuple[str, ...] | None
    slowed: bool = True


@dataclass(frozen=True)
class Line:
    """A disturbance: of its trials, those whose cause was named first, among the first NAMED, and those whose
    first name is a false friend. `named`: the first names that were given, or "nothing"."""

    kind: str
    trials: int
    first: int
    among: int
    friends: int
    named: tuple[str, ...]


@dataclass(frozen=True)
class Score:
    lines: tuple[Line, ...]
    quiet: int
    false_names: tuple[str, ...]
    incomplete: tuple[str, ...]
    without_effect: tuple[str, ...]

    @property
    def trials(self) -> int:
        return sum(line.trials for line in self.lines)

    @property
    def first(self) -> float:
        """Share of the disturbed trials. ZeroDivisionError without one."""
        return sum(line.first for line in self.lines) / self.trials

    @property
    def among(self) -> float:
        return sum(line.among for line in self.lines) / self.trials

    @property
    def holds(self) -> bool:
        """Whether every goal is met, and every trial completed."""
        return (
            self.first >= FIRST
            and self.among >= AMONG
            and len(self.false_names) <= FALSE * self.quiet
            and not self.incomplete
        )


def trials_of(
    known: Mapping[str, Course], complete: Container[str], begun: Container[str]
) -> Iterator[Trial]:
    """The trials of a run of the library. `begun`: those that were disturbed. What is common to most trials
    is no name for one of them."""
    quiet = {name: one for name, one in known.items() if kind_of(name) == QUIET}
    for name, course in known.items():
        kind = kind_of(name)
        if name not in complete or (kind != QUIET and name not in begun):
            yield Trial(name, kind, None)
            continue
        alike = {**quiet, name: course}
        rows = [row for row in of_group(explain(alike)) if row["trial"] == name]
        causes = [row["cause"] for row in rows if not row["common"]]
        is_slow = Group.of(list(alike.values())).slow(list(alike).index(name))
        lost = any(spell.lost_s > 0 for spell in slow_spells(course))
        yield Trial(name, kind, tuple(causes), bool(lost or is_slow))


def read_trials(run: Path) -> list[Trial]:
    """Trials without a rate by second did not complete. The trial that warms the servers is left out."""
    trials = read_table(run, tables.TRIALS)
    trials = trials[~trials["trial"].map(warms_up)]
    complete = set(trials["trial"][trials["state"] == "complete"])
    found = list(trials_of(dict(courses(run, trials)), complete, disturbed(run)))
    lost = set(trials["trial"]) - {one.name for one in found}
    return [*found, *(Trial(name, kind_of(name), None) for name in sorted(lost))]


def score(trials: Sequence[Trial], known: Mapping[str, Disturbance]) -> Score:
    judged = [(one, one.causes) for one in trials if one.causes is not None]
    done = [(one, causes) for one, causes in judged if one.slowed or causes or one.kind == QUIET]
    quiet = [causes for one, causes in done if one.kind == QUIET]
    kinds = dict.fromkeys(one.kind for one, _ in done if one.kind != QUIET)
    return Score(
        lines=tuple(
            _line(known[kind], [causes for one, causes in done if one.kind == kind])
            for kind in sorted(kinds, key=list(known).index)
        ),
        quiet=len(quiet),
        false_names=tuple(name for causes in quiet for name in causes),
        incomplete=tuple(one.name for one in trials if one.causes is None),
        without_effect=tuple(one.kind for one, causes in judged if (one, causes) not in done),
    )


def _line(known: Disturbance, found: Sequence[tuple[str, ...]]) -> Line:
    return Line(
        kind=known.name,
        trials=len(found),
        first=sum(bool(known.expect & set(causes[:1])) for causes in found),
        among=sum(bool(known.expect & set(causes[:NAMED])) for causes in found),
        friends=sum(bool(known.friends & set(causes[:1])) for causes in found),
        named=tuple(causes[0] if causes else "nothing" for causes in found),
    )
