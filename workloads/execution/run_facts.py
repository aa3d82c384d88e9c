"""`RunFacts`: what the lists of runs show of each one, from only its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state import presence
from density_study.cluster.state.events import StepEnded
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.own_runs import PLAN
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.state.run_state import run_state
from density_study.cluster.state.run_tags import has_tags, tags_of
from density_study.workloads.execution.run import import_of, study_of
from density_study.workloads.planning.plan import read_plan

UNREADABLE = "unreadable"
IMPORTED = "imported"


@dataclass(frozen=True)
class RunFacts:
    """`state`: as `RunState.in_words`; or "imported"; or "unreadable", with the reason in `fault`. `opened_t`
    (epoch seconds) is the last opening, or the import. `trials_done` and `trials` count those with an end
    and those planned; None if they are not known. simulated: it is a rehearsal, and nothing was measured."""

    folder: Path
    study: str
    run: str
    state: str
    opened_t: float | None = None
    trials_done: int | None = None
    trials: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""
    simulated: bool = False

    def age_s(self, now: float) -> float | None:
        """Seconds from the last opening to `now` (epoch seconds)."""
        return None if self.opened_t is None else max(0.0, now - self.opened_t)


def facts_of_runs(runs: Path, wanted: Mapping[str, str] | None = None) -> list[RunFacts]:
    """Every run below `runs` that has the tags `wanted`, oldest first. One that cannot be read is among
    them, unless tags are wanted that it is not known to have."""
    every = (facts_of(folder) for folder in run_folders(runs))
    return [facts for facts in every if has_tags(facts.tags, wanted or {})]


def facts_of(folder: Path) -> RunFacts:
    """The facts of the run in `folder`, also where it cannot be read."""
    tags: Mapping[str, str] = {}
    try:
        tags = tags_of(folder)
        return _readable(folder, tags)
    except Exception as error:  # whatever a damaged folder provokes: the others are still listed
        why = _in_words(error)
        study, run = folder.parent.name, folder.name
        return RunFacts(folder, study, run, UNREADABLE, tags=tags, fault=why)


def _readable(folder: Path, tags: Mapping[str, str]) -> RunFacts:
    if imported := import_of(folder):
        trials = len(imported.trials)
        return RunFacts(
            folder, imported.study, imported.run, IMPORTED, imported.t, trials, trials, tags
        )
    plan, study = read_plan(folder / PLAN), study_of(folder)
    state = run_state(folder, presence.is_free(folder))
    done = {ended.trial for ended in Journal(folder / JOURNAL).events(StepEnded) if ended.trial}
    return RunFacts(
        folder=folder,
        study=study.study,
        run=folder.name,
        state=state.in_words if state else "interrupted",
        opened_t=state.opened_t if state else None,
        trials_done=len(done),
        trials=len(plan.trials),
        tags=tags,
        simulated=is_rehearsal(folder),
    )


def size_bytes(folder: Path) -> int:
    """Bytes that the files below `folder` occupy on disk. Links are not followed."""
    total = 0
    for at, folders, files in os.walk(folder):
        for name in (*folders, *files):
            try:
                total += os.lstat(os.path.join(at, name)).st_blocks * 512  # noqa: PTH118  much faster
            except OSError:
                continue  # a running trial removes files, and not every folder may be entered
    return total


def _in_words(error: Exception) -> str:
    """The fault with the name of the file, in one line without the folder, which the list shows already."""
    if isinstance(error, StudyError):
        return f"{Path(error.where).name}: {error.what}"
    if isinstance(error, OSError) and error.filename:
        return f"{Path(error.filename).name}: {error.strerror}."
    return f"plan.json or the journal is damaged: {why_unread(error)}."
