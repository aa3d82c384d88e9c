"""Delete a run, and what leads to it: the link to its study's newest report, and its row in the hub."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from density_study.analysis.hub.page import rebuild
from density_study.jobs.run_folder import point_to_newest
from density_study.workloads.execution.removal import remove_run


def remove(root: Path) -> None:
    """Delete the run in the folder `root`, whole or not at all: see `remove_run`."""
    remove_run(root)
    point_to_newest(root)
    with suppress(OSError):  # the study has other runs
        root.parent.rmdir()
    rebuild(root.parents[1])
