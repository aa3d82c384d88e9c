"""The results of a folder of runs as files to serve: which there are, and which run a DAG run carried out.

Only the hub and what lies in reports is served. Files are opened folder by folder without following links,
so that no path leads out of the runs folder, however it is written. Only its path decides who may
read a file: what a run's folder says of itself may come from a stranger. Does not import Airflow.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from density_study.analysis.hub.files import HUB, REPORT
from density_study.cluster.state.events import RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.plain_file import read_plain
from density_study.dags.stages.task_names import dag_id as dag_id_of
from density_study.workloads.execution.run_facts import facts_of

log = logging.getLogger(__name__)

PREFIX = "density-study"
"""First part of the path of everything that the web UI serves of this project."""
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/vnd.microsoft.icon",
    ".json": "application/json",
    ".otf": "font/otf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}
"""Content type of every kind of file that is served."""


MOST_BYTES = 2**28


@dataclass(frozen=True)
class Served:
    """A file's content. `in_report`: it is of a run's report, and not the hub."""

    content: bytes
    content_type: str
    in_report: bool


def dag_of(path: str) -> str | None:
    """Id of the DAG whose readers may read the file at `path`, whether or not there is one: the DAG of the
    study in whose folder it lies. None: only who may read all DAGs."""
    study, slash, _ = path.partition("/")
    return dag_id_of(study) if slash and _is_name(study) else None


def served(runs: Path, path: str) -> Served | None:
    """The file at `path` below the folder `runs`: the hub, or <study>/<run>/report/...; else None.

    path: decoded once, as web frameworks do.
    """
    parts = path.split("/") if path else [HUB]
    if parts != [HUB] and (len(parts) < 4 or parts[2] != Path(REPORT).parts[0]):
        return None
    content_type = TYPES.get(Path(parts[-1]).suffix)
    if content_type is None or not all(map(_is_name, parts)):
        return None
    content = _read(runs, parts)
    if content is None:
        return None
    return Served(content, content_type, len(parts) > 1)


def _is_name(part: str) -> bool:
    """Whether it is the name of a visible file or folder, and not a path."""
    return bool(part) and not part.startswith(".") and not set(part) & {"/", "\\", "\0"}


def _read(root: Path, parts: list[str]) -> bytes | None:
    """The content of a regular file; None if it is not there, behind a link, or also a file elsewhere."""
    with ExitStack() as opened:

        def descend(name: str | Path, kind: int, at: int | None) -> int:
            descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | kind, dir_fd=at)
            opened.callback(os.close, descriptor)
            return descriptor

        try:
            at = descend(root, os.O_DIRECTORY, None)  # this folder itself may be a link
            for part in parts[:-1]:
                at = descend(part, os.O_DIRECTORY | os.O_NOFOLLOW, at)
            # opening a pipe would block
            file = descend(parts[-1], os.O_NOFOLLOW | os.O_NONBLOCK, at)
            info = os.fstat(file)
            # a second hard link may be anywhere
            if not stat.S_ISREG(info.st_mode) or info.st_nlink != 1 or info.st_size > MOST_BYTES:
                return None
            with os.fdopen(file, "rb", closefd=False) as stream:
                return stream.read(MOST_BYTES)
        except (OSError, ValueError):  # ValueError: a name that no file system can have
            return None


def no_report(run: Path) -> tuple[str, str]:
    """Title and text of the page in place of a report that is not there."""
    facts = facts_of(run)
    so_far = facts.fault or f"{facts.state}, {facts.trials_done} of {facts.trials} trials done."
    so_far = f"Run {facts.run} of study {facts.study}: {so_far}"
    if facts.state in ("running", "unknown"):
        return "No report yet", f"{so_far} The report appears when the analysis has ended."
    there = f"On the machine with its folder, study status {quote(str(run))} names what failed"
    return (
        "No report",
        f"{so_far} {there}, and study report {quote(str(run))} analyses its records.",
    )


def run_of_dag_run(runs: Path, dag_id: str, run_id: str) -> Path | None:
    """The newest run below `runs` that this DAG run carried out; None if there is none.

    Only runs of the DAG's own study are read: the journal of another study may claim anything.
    """
    name = f"{dag_id}/{run_id}"
    written = json.dumps(name)[1:-1].encode()
    for folder in reversed(run_folders(runs)):
        if dag_id_of(folder.parent.name) != dag_id:
            continue
        try:
            # Journals are long, and few of them name the DAG run.
            if written in read_plain(folder / JOURNAL, MOST_BYTES) and name in _dag_runs(folder):
                return folder
        except Exception:  # an unreadable journal, whatever is wrong with it
            log.warning("%s: the journal cannot be read", folder)
    return None


def _dag_runs(run: Path) -> list[str]:
    """<DAG id>/<run id> of every DAG run that carried out the run, oldest first."""
    openings = Journal(run / JOURNAL).events(RunOpened)
    return [opened.dag_run for opened in openings if opened.dag_run]
