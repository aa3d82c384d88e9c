"""`remove_run`: delete a run's folder, whole or not at all, once nothing of its clusters is left."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from density_study.cluster.lifecycle.reap import not_proved_gone
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state import own_runs, presence
from density_study.cluster.state.run_state import busy, how_to_reap, run_state
from density_study.cluster.state.scratch import REMOVED, scratch


def remove_run(root: Path) -> None:
    """Remove the run in the folder `root`. InputError, and nothing is changed, if this user has not opened
    it, if it is or may be running, if something of its clusters is left, or if this user cannot delete all
    of its files."""
    if root.is_symlink():
        raise InputError("this is a link.", str(root), f"name its target: {root.resolve()}.")
    root = root.absolute()
    _check_own(root)
    _check_permission(root)
    with presence.alone(root) as locked:
        _check_over(root, locked)
        # on the same file system, so that the move is atomic
        with scratch(root.parent, REMOVED) as aside:
            key = own_runs.key_of(root)
            root.rename(aside / root.name)  # from here on, the run is gone for everybody
            own_runs.forget(key)
            try:
                shutil.rmtree(aside / root.name)
            except OSError as error:
                raise StudyError(
                    f"the run was removed from its study, but not all of its files: {error}.",
                    str(aside),
                    "delete this folder.",
                ) from error


def _check_own(root: Path) -> None:
    if why := own_runs.stranger(root) or own_runs.unregistered(root):
        raise InputError(
            f"the run is left alone: {why}.",
            str(root),
            f"if it is a copy of somebody's run, delete the folder yourself: rm -r {root}.",
        )


def _check_permission(root: Path) -> None:
    folders = [root.parent, root]
    for at, names, _ in os.walk(root):
        folders += [path for name in names if not (path := Path(at, name)).is_symlink()]
    for folder in folders:
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise InputError(
                "you may not delete files in this folder.",
                str(folder),
                "remove the run as the user who owns it.",
            )


def _check_over(root: Path, locked: bool) -> None:
    try:
        found = run_state(root, lock_free=locked)
    except StudyError as error:
        raise InputError(
            f"the journal cannot be read, so it is not known whether the run's clusters are gone: {error}",
            str(root),
            "check that nothing of it is left on its hosts, then delete the folder.",
        ) from error
    if found is None:
        return  # it was never opened, so nothing was built
    if found.state in ("alive", "unknown"):
        raise busy(root, found)
    if not locked:
        raise InputError(
            "a process is still working on this run.", str(root), "wait until it ends, or stop it."
        )
    try:
        left = not_proved_gone(root)
    except StudyError as error:
        raise InputError(
            f"it cannot be verified that the run's clusters are gone: {error.what}",
            error.where,
            f"make the host reachable, run `{how_to_reap(root)}`, then try again.",
        ) from error
    if left:
        raise InputError(
            f"not everything that this run built is gone: {', '.join(left)}.",
            str(root),
            f"run `{how_to_reap(root)}`, then try again.",
        )
