"""The results of a folder of runs as files to serve: which there are, and which run a DAG run carried out.

Only the hub and what lies in reports is served. Files are opened folder by folder without following links,
so that no path leads out of the runs folder, however it is written. Does not import Airflow.
"""

from __future__ import annotations

import json
import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from density_study.analysis.hub.files import HUB, REPORT
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders

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


@dataclass(frozen=True)
class Served:
    """A file's content. `run` is the folder of the run that it belongs to; None for the hub."""

    content: bytes
    content_type: str
    run: Path | None


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
    return Served(content, content_type, runs / parts[0] / parts[1] if len(parts) > 1 else None)


def _is_name(part: str) -> bool:
    """Whether it is the name of a visible file or folder, and not a path."""
    return bool(part) and not part.startswith(".") and not set(part) & {"/", "\\", "\0"}


def _read(root: Path, parts: list[str]) -> bytes | None:
    """The content of a regular file; None if it is not there, or behind a link."""
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
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None
            with os.fdopen(file, "rb", closefd=False) as stream:
                return stream.read()
        except (OSError, ValueError):  # ValueError: a name that no file system can have
            return None


def run_of_dag_run(runs: Path, dag_id: str, run_id: str) -> Path | None:
    """The newest run below `runs` that this DAG run carried out; None if there is none."""
    name = f"{dag_id}/{run_id}"
    written = json.dumps(name)[1:-1].encode()
    for folder in reversed(run_folders(runs)):
        try:
            # Journals are long, and few of them name the DAG run.
            if written in (folder / JOURNAL).read_bytes() and name in _dag_runs(folder):
                return folder
        except (OSError, StudyError, ValueError, KeyError):
            continue  # an unreadable journal: the hub lists this run with its fault
    return None


def dag_of(run: Path) -> str | None:
    """Id of the DAG that last carried out the run in the folder `run`; None if it was no DAG."""
    try:
        names = _dag_runs(run)
    except (OSError, StudyError, ValueError, KeyError):
        return None
    return names[-1].partition("/")[0] if names else None


def _dag_runs(run: Path) -> list[str]:
    """<DAG id>/<run id> of every DAG run that carried out the run, oldest first."""
    openings = Journal(run / JOURNAL).events(RunOpened)
    return [opened.dag_run for opened in openings if opened.dag_run]
