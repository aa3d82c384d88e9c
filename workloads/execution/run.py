"""`Run`: one execution of a study, in its own folder. A run is opened, resumed after a crash, and ended."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.state import lease
from density_study.cluster.state.events import (
    NoiseMeasured,
    QuestionsLeft,
    RepetitionsEnded,
    RunEnded,
    RunImported,
    RunOpened,
    SearchEnded,
)
from density_study.cluster.state.journal import JOURNAL, Journal, events_among, run_folders
from density_study.cluster.state.own_runs import PLAN, STUDY
from density_study.cluster.state.plain_file import NotPlainError, open_plain, read_plain
from density_study.workloads.base.yaml_text import MAX_BYTES as MAX_STUDY_BYTES
from density_study.workloads.planning.plan import Plan, read_plan
from density_study.workloads.study.shipped import name_of, shipped_studies
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study

ASKED = "asked.yaml"
"""The study as a person wrote it, in the folder of a run whose study was fitted into a budget."""


@dataclass(frozen=True)
class Run:
    """runs/<study>/<run-id>/: study.yaml, plan.json, journal.jsonl, builds/, records/, tables/, report/."""

    root: Path
    study: Study
    plan: Plan
    journal: Journal

    @property
    def id(self) -> str:
        return self.root.name

    @property
    def tag(self) -> str:
        """Tag of every process and directory of the run."""
        return f"{self.study.study}/{self.id}"

    @property
    def records(self) -> Path:
        return self.root / "records"

    def site(self, build: str) -> Site:
        return Site(root=self.root / "builds" / build, tag=f"{self.tag}/{build}")

    @contextmanager
    def step_lock(self) -> Iterator[None]:
        """Serialises steps across processes; the kernel releases the lock when its holder dies."""
        descriptor = open_plain(self.root / "step.lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def import_of(root: Path) -> RunImported | None:
    """What was imported as the run in `root`; None for a run of this program's own."""
    return Journal(root / JOURNAL).last(RunImported)


def study_of(root: Path) -> Study:
    """The study of the run in `root`. StudyError, or OSError, if it cannot be read."""
    path = root / STUDY
    text = read_plain(path, MAX_STUDY_BYTES).decode("utf-8", "replace")
    return parse_study(text, str(path), recorded=True).study


def spec_of(root: Path) -> str:
    """What `study run` takes to resume or extend the run in `root`: the name of the shipped study that it is,
    else the run's own copy of its study."""
    copy = next(
        path for path in (root / ASKED, root / STUDY) if path.exists() or path.name == STUDY
    )
    with suppress(OSError, NotPlainError):
        text = read_plain(copy, MAX_STUDY_BYTES)
        for path in shipped_studies().values():
            if path.read_bytes() == text:
                return name_of(path)
    return str(copy)


def load_run(root: Path) -> Run:
    """The run in the folder `root`. InputError if there is none, or if its records were imported."""
    if not (root / PLAN).exists():
        if import_of(root):
            raise InputError(
                "this run was imported: it has no plan and no steps.",
                str(root),
                "`study list` shows it, and `study report` analyses it.",
            )
        raise InputError(
            "this is not the folder of a run: it has no plan.json.",
            str(root),
            "name runs/<study>/<run-id>; `study list` lists the runs.",
        )
    return Run(
        root=root.absolute(),
        study=study_of(root),
        plan=read_plan(root / PLAN),
        journal=Journal(root / JOURNAL),
    )


def spared_trials(journal: Journal) -> frozenset[str]:
    """Trials that a run did not need: probes of searches, and repetitions after its answer was precise
    enough, or its questions were answered, or that its noise does not ask for. They do not run, and leave no
    record."""
    ends: tuple[SearchEnded | RepetitionsEnded | QuestionsLeft | NoiseMeasured, ...] = (
        *journal.events(SearchEnded),
        *journal.events(RepetitionsEnded),
        *journal.events(QuestionsLeft),
        *journal.events(NoiseMeasured),
    )
    return frozenset(chain.from_iterable(ended.spared for ended in ends))


def as_replanned(plan: Plan, journal: Journal) -> Plan:
    """The plan with the repetitions that the run chose by the noise of its first ones."""
    measured = journal.last(NoiseMeasured)
    return plan.replanned(measured.last) if measured else plan


def end_run(
    run: Run, outcome: Literal["ok", "failed"], message: str = "", *, finished: bool = True
) -> None:
    """Journal the end of the run, and release the host.

    A run that is not `finished` was stopped, and can be resumed. If its tear-down failed, the host stays
    reserved until the run's last process is gone.
    """
    repetitions = run.plan.repetitions
    run.journal.record(
        RunEnded(outcome=outcome, message=message, repetitions=repetitions, finished=finished)
    )
    if finished:
        lease.release(run.tag)
    else:
        lease.abandon(run.tag)


def has_ended(run: Run) -> bool:
    """Whether the run finished with every repetition of its current plan. Opening the run again or extending
    its plan undoes this. A stopped run has not ended."""
    ends = run.journal.since_opening(RunEnded)
    return bool(ends and ends[-1].finished and ends[-1].repetitions in (None, run.plan.repetitions))


def run_of(dag_run: str, runs: Path, study: str) -> Run | None:
    """The newest run that `dag_run` opened or resumed; None if there is none."""
    for root in reversed(run_folders(runs, study)):
        openings = events_among(root, RunOpened)
        if any(opened.dag_run == dag_run for opened in openings):
            return load_run(root)
    return None
