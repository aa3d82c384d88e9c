"""The path of a run's report, and the link to the newest report of a study."""

from __future__ import annotations

import os
from pathlib import Path

from cluster.state.journal import run_folders


def page_of(run_root: Path) -> Path:
    return run_root / "report" / "index.html"


def point_to_newest(run_root: Path) -> None:
    """Point the link runs/<study>/report to the newest report of the study."""
    study = run_root.absolute().parent
    published = [run for run in run_folders(study.parent, study.name) if page_of(run).exists()]
    taken = (study / "report").is_dir() and not (study / "report").is_symlink()
    if taken or not published:
        return  # the run is not in the folder of a study
    aside = study / f".report.{os.getpid()}"
    aside.unlink(missing_ok=True)
    aside.symlink_to(page_of(published[-1]).parent.relative_to(study), target_is_directory=True)
    aside.rename(study / "report")
