"""A run's folder: nothing in it may lead out of it; its report; the link to the newest report of a study."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.journal import run_folders
from density_study.workloads.record.record import MAX_MANIFEST_BYTES
from density_study.workloads.tables.storage import is_local

_OURS = ("records", "tables", "report", "journal.jsonl", "plan.json", "study.yaml", "analysis.lock")
_BELOW = ("records/*", "records/*/manifest.json", "tables/*", "report/*")


def require_inside(run_root: Path) -> None:
    """StudyError if a path that the analysis reads or writes is a symbolic link, or if a manifest is not a
    regular file of bounded size. Raw files are checked one by one: a bad one affects only its trial."""
    if not is_local(run_root):
        return
    for path in _paths(run_root):
        if path.is_symlink():
            raise _rejected(path, "this is a symbolic link")
        if path.name == "manifest.json" and path.exists():
            info = path.stat()
            if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_MANIFEST_BYTES:
                raise _rejected(
                    path, f"this is not a regular file of at most {MAX_MANIFEST_BYTES} bytes"
                )


def _paths(run_root: Path) -> Iterator[Path]:
    yield from (run_root / name for name in _OURS)
    for pattern in _BELOW:
        yield from run_root.glob(pattern)


def _rejected(path: Path, why: str) -> StudyError:
    return StudyError(
        f"{why}; the analysis reads and writes only in the run's own folder.",
        str(path),
        "remove it, or replace it with a copy of its target.",
    )


def page_of(run_root: Path) -> Path:
    return run_root / "report" / "index.html"


def point_to_newest(run_root: Path) -> None:
    """Point the link runs/<study>/report to the newest report of the study."""
    study = run_root.absolute().parent
    published = [run for run in run_folders(study.parent, study.name) if page_of(run).exists()]
    link = study / "report"
    if link.is_symlink() and not published:
        link.unlink()  # the last report was removed
    if not published or (link.is_dir() and not link.is_symlink()):
        return  # the run is not in the folder of a study
    aside = study / f".report.{os.getpid()}"
    aside.unlink(missing_ok=True)
    aside.symlink_to(page_of(published[-1]).parent.relative_to(study), target_is_directory=True)
    aside.rename(link)
