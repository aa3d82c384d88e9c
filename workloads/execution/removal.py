"""`remove_run`: delete a run's folder, whole or not at all, once nothing of its clusters is left."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from shlex import quote

from density_study.cluster.lifecycle.reap import not_proved_gone
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state import own_runs, presence
from density_study.cluster.state.run_state import busy, run_state

REMOVED = ".removed"
"""Folder of a study that holds runs while they are deleted. Nothing lists what is in it."""


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
        aside, key = _free_place(root), own_runs.key_of(root)
        root.rename(aside)  # from here on, the run is gone for everybody
        own_runs.forget(key)
    try:
        shutil.rmtree(aside)
    except OSError as error:
        raise StudyError(
            f"the run was removed from its study, but not all of its files: {error}.",
            str(aside),
            "delete this folder.",
        ) from error
    with suppress(OSError):  # another run is being removed
        aside.parent.rmdir()


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
            "make the host reachable, run study reap, then try again.",
        ) from error
    if left:
        raise InputError(
            f"not everything that this run built is gone: {', '.join(left)}.",
            str(root),
            f"run study reap --runs {quote(str(root.parents[1]))}, then try again.",
        )


def _free_place(root: Path) -> Path:
    """Where the folder goes before it is deleted: on the same file system, so that the move is atomic."""
    aside = root.parent / REMOVED / root.name
    aside.parent.mkdir(mode=0o700, exist_ok=True)
    if why := own_runs.stranger(aside.parent):
        raise InputError(
            f"runs cannot be deleted through it: {why}.", str(aside.parent), "move it away."
        )
    if aside.is_symlink():
        aside.unlink()
    elif aside.exists():
        shutil.rmtree(aside)  # left by a removal that was killed
    return aside
