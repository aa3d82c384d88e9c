"""How often the analysis names what was injected, and how often it names something where nothing was."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.causes.disturbance import Disturbance
from tests.causes.library import QUIET, disturbed, kind_of

FIRST, AMONG, FALSE = 0.80, 0.90, 1 / 20
"""Goals: shares of the disturbed trials whose cause is named first, and among NAMED; false names per quiet
trial."""
NAMED = 3


@dataclass(frozen=True)
class Trial:
    """`kind`: the disturbance, or QUIET. `causes`: ids of what the analysis names, the first one first; None:
    the trial did not complete, or was not disturbed."""

    name: str
    kind: str
    causes: tuple[str, ...] | None


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


def trials_of(summary: Mapping[str, Any], begun: Container[str]) -> Iterator[Trial]:
    """The trials of a run of the library, from its summary.json. `begun`: those that were disturbed. What is
    common to most trials is no name for one of them."""
    causes: dict[str, list[tuple[int, str]]] = {}
    for one in summary["causes"]:
        if not one["common"]:
            causes.setdefault(one["trial"], []).append((one["rank"], one["cause"]))
    for trial in summary["trials"]:
        name = trial["trial"]
        ids = tuple(cause for _, cause in sorted(causes.get(name, [])))
        kind = kind_of(name)
        judged = trial["state"] == "complete" and (kind == QUIET or name in begun)
        yield Trial(name, kind, ids if judged else None)


def read_trials(run: Path) -> list[Trial]:
    summary = json.loads((run / "report" / "summary.json").read_text("utf-8"))
    return list(trials_of(summary, disturbed(run)))


def score(trials: Sequence[Trial], known: Mapping[str, Disturbance]) -> Score:
    done = [(one, one.causes) for one in trials if one.causes is not None]
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
