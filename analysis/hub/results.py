"""What the results hub shows: every run below a folder, with its numbers or the reason why it has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from density_study.analysis.capacity.plan.plan import PAGE
from density_study.analysis.comparison.change_points import ChangePoint, change_points
from density_study.analysis.comparison.compare import Change
from density_study.analysis.comparison.history import read_comparison, read_summary
from density_study.analysis.hub.files import REPORT
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import StudyError
from density_study.workloads.execution.run_facts import RunFacts, facts_of_runs


@dataclass(frozen=True)
class HubRun:
    """`summary` is None for a run without a readable one; `why` is then the reason. `compared` is the answer
    of its comparison with earlier runs, "" if there was none; `regressions` are what it found."""

    facts: RunFacts
    summary: Summary | None
    why: str
    compared: str
    regressions: tuple[Change, ...]
    has_report: bool
    has_plan: bool = False

    @property
    def link(self) -> str:
        """Path of the report, relative to the folder of all runs."""
        return self._link(REPORT)

    @property
    def plan_link(self) -> str:
        """Path of the capacity plan beside the report."""
        return self._link(f"report/{PAGE}")

    def _link(self, file: str) -> str:
        folder = self.facts.folder
        return quote(f"{folder.parent.name}/{folder.name}/{file}", errors="surrogateescape")

    @property
    def verdicts(self) -> Mapping[str, int]:
        """Number of trials with each verdict."""
        return Counter(trial.verdict for trial in self.summary.trials) if self.summary else {}


@dataclass(frozen=True)
class HubStudy:
    """`runs` are in the order of their ids, oldest first."""

    name: str
    runs: tuple[HubRun, ...]

    @property
    def newest(self) -> HubRun:
        return self.runs[-1]

    @cached_property
    def analysed(self) -> tuple[Summary, ...]:
        return tuple(run.summary for run in self.runs if run.summary is not None)

    @cached_property
    def change_points(self) -> tuple[ChangePoint, ...]:
        return change_points(self.analysed)


def results(runs: Path) -> tuple[HubStudy, ...]:
    """The studies below `runs`, by name. Every run is in one of them."""
    every = sorted(map(_run, facts_of_runs(runs)), key=lambda run: run.facts.folder.parent.name)
    grouped = groupby(every, key=lambda run: run.facts.folder.parent.name)
    return tuple(HubStudy(name, tuple(same)) for name, same in grouped)


def _run(facts: RunFacts) -> HubRun:
    summary, why = None, facts.fault
    try:
        summary = read_summary(facts.folder)
        change_points((summary, summary))  # what the hub computes with its numbers
    except StudyError as error:
        why = why or error.what
    except Exception as error:  # a run from a stranger; the others are shown all the same
        summary, why = None, why or f"the summary cannot be used: {type(error).__name__}: {error}"
    report, plan = (facts.folder / file for file in (REPORT, f"report/{PAGE}"))
    compared = _compared(facts.folder)
    return HubRun(facts, summary, why, *compared, report.is_file(), plan.is_file())


def _compared(folder: Path) -> tuple[str, tuple[Change, ...]]:
    try:
        found = read_comparison(folder)
    except StudyError:
        return "comparison.json cannot be read.", ()
    return (found.headline, found.regressions) if found else ("", ())
