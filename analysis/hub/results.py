"""What the results hub shows: every run below a folder, with its numbers or the reason why it has none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from pydantic import TypeAdapter

from density_study.analysis.capacity.plan.plan import PAGE
from density_study.analysis.comparison.change_points import ChangePoint, change_points
from density_study.analysis.comparison.compare import Change
from density_study.analysis.comparison.history import (
    COMPARISON,
    SUMMARY,
    read_comparison,
    read_summary,
)
from density_study.analysis.findings.variants import TAIL
from density_study.analysis.hub.files import REPORT
from density_study.analysis.hub.kept import Kept, digest, status
from density_study.analysis.summary.disclosure import DURABILITY
from density_study.analysis.summary.summary import Metric, Summary
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.journal import JOURNAL, run_folders
from density_study.cluster.state.own_runs import PLAN, STUDY
from density_study.cluster.state.plain_file import why_unread
from density_study.workloads.execution.run_facts import IMPORTED, RunFacts, facts_of
from density_study.workloads.study.metrics import main_rates

SETTLED = ("ok", "failed", IMPORTED)
"""States that depend on nothing but files."""
FILES = (JOURNAL, PLAN, STUDY, "report", SUMMARY, COMPARISON, REPORT, f"report/{PAGE}")
"""All that the hub reads or looks for in a run's folder."""
_UNREAD = "comparison.json cannot be read."


@dataclass(frozen=True)
class HubRun:
    """`summary` is None for a run without a readable one; `why` is then the reason. It lacks what the hub
    does not use. `verdicts`: number of trials with each. `compared` is the answer of its comparison with
    earlier runs, "" if there was none; `regressions` are what it found."""

    facts: RunFacts
    summary: Summary | None
    verdicts: Mapping[str, int]
    why: str
    compared: str
    regressions: tuple[Change, ...]
    has_report: bool
    has_plan: bool

    @property
    def is_lasting(self) -> bool:
        """Whether it is the same until one of `FILES` changes. A fault may pass without that."""
        whole = self.summary is not None and self.compared != _UNREAD
        return whole and self.facts.state in SETTLED

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


@dataclass(frozen=True)
class Row:
    """A run in `folder`. `key` changes with what the hub shows of it. `found` is None if the run is kept: it
    is looked up once it is needed."""

    folder: Path
    key: str
    kept: Kept
    found: HubRun | None = None

    @cached_property
    def run(self) -> HubRun:
        if self.found is not None:
            return self.found
        try:
            run = _RUN.validate_json(self.kept.get(self.key) or "")
        except ValueError:  # the file is damaged
            return _read(self.folder, self.key, self.kept)
        return replace(run, facts=replace(run.facts, folder=self.folder))


@dataclass(frozen=True)
class HubStudy:
    """`rows` are in the order of the runs' ids, oldest first."""

    name: str
    rows: tuple[Row, ...]

    @cached_property
    def runs(self) -> tuple[HubRun, ...]:
        return tuple(row.run for row in self.rows)

    @property
    def newest(self) -> HubRun:
        return self.runs[-1]

    @cached_property
    def analysed(self) -> tuple[Summary, ...]:
        return tuple(run.summary for run in self.runs if run.summary is not None)

    @cached_property
    def change_points(self) -> tuple[ChangePoint, ...]:
        return change_points(self.analysed)


_RUN = TypeAdapter(HubRun)


def results(runs: Path, kept: Kept | None = None) -> tuple[HubStudy, ...]:
    """The studies below `runs`, by name. Every run is in one of them. kept: what is known of them already;
    what is found now is added to it."""
    known = kept or Kept()
    every = sorted(run_folders(runs), key=_study_of)
    return tuple(
        HubStudy(name, tuple(_row(folder, known) for folder in same))
        for name, same in groupby(every, key=_study_of)
    )


def _study_of(folder: Path) -> str:
    return folder.parent.name


def _row(folder: Path, kept: Kept) -> Row:
    files = [status(folder / name) for name in FILES]  # before they are read
    key = digest(folder.parent.name, folder.name, files)
    if kept.get(key) is not None:
        return Row(folder, key, kept)
    run = _read(folder, key, kept)
    return Row(folder, key if run.is_lasting else digest(repr(run)), kept, run)


def _read(folder: Path, key: str, kept: Kept) -> HubRun:
    """The run, kept under `key` if it may be."""
    run = _run(folder)
    if run.is_lasting:
        with suppress(ValueError):  # names that no encoding has
            text = _RUN.dump_json(run, exclude_defaults=True).decode()
            if _RUN.validate_json(text) == run:  # not a number that JSON lacks
                kept.put(key, text)
    return run


def _run(folder: Path) -> HubRun:
    facts = facts_of(folder)
    summary, verdicts, why = None, Counter[str](), facts.fault
    try:
        found = read_summary(folder)
        summary = _without_the_rest(found)
        change_points((summary, summary))  # what the hub computes with its numbers
        verdicts = Counter(trial.verdict for trial in found.trials)
    except StudyError as error:
        why = why or error.what
    except Exception as error:  # a run from a stranger; the others are shown all the same
        summary, why = None, why or f"the summary cannot be used: {why_unread(error)}"
    report, plan = (folder / file for file in (REPORT, f"report/{PAGE}"))
    compared = _compared(folder)
    return HubRun(facts, summary, verdicts, why, *compared, report.is_file(), plan.is_file())


def _compared(folder: Path) -> tuple[str, tuple[Change, ...]]:
    try:
        found = read_comparison(folder)
    except StudyError:
        return _UNREAD, ()
    return (found.headline, found.regressions) if found else ("", ())


def _without_the_rest(summary: Summary) -> Summary:
    """The summary with only the fields that trends, change points and open regressions use."""
    defaults = {
        name: field.get_default(call_default_factory=True)
        for name, field in Summary.model_fields.items()
        if not field.is_required() and name != "searches"
    }
    entries = (
        entry.model_copy(update={"metrics": tuple(_used(entry.metrics))})
        for entry in summary.test_cases
    )
    durability = {
        topology: {key: value for key, value in declared.items() if key == DURABILITY}
        for topology, declared in summary.variants.items()
    }
    more = {
        "trials": (),
        "findings": (),
        "builds": (),
        "disclosure": {},
        "test_cases": tuple(entries),
        "warnings": tuple(one for one in summary.warnings if one.code == "emulated-disk"),
        "variants": durability,
    }
    return summary.model_copy(update={**defaults, **more})


def _used(metrics: Sequence[Metric]) -> Iterator[Metric]:
    """All up to the rates, which keep their places in summary.json; tail latencies; one of each operation."""
    rates = [place for place, metric in enumerate(metrics) if metric.name in main_rates()]
    last, operations = max(rates, default=-1), set()
    for place, metric in enumerate(metrics):
        is_latency, is_new = metric.name == "latency", metric.operation not in operations
        if place <= last or (is_latency and (is_new or metric.percentile == TAIL)):
            yield metric
        if is_latency:
            operations.add(metric.operation)
