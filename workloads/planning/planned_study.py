"""`plan_study`: the plan of a study file, without starting or writing anything."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.lifecycle.variant_checks import check_built_versions, check_properties
from density_study.cluster.model.errors import InputError
from density_study.cluster.render.names import check_path
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state.plain_file import why_unread
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import assumed_hosts, planned_hosts
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import StudyFile, read_study

DEFAULT_RUNS = Path("runs")


@dataclass(frozen=True)
class PlannedStudy:
    """A study file and its plan."""

    file: StudyFile
    plan: Plan

    @property
    def study(self) -> Study:
        return self.file.study


def plan_study(
    spec: Path,
    overrides: Mapping[str, object] | None = None,
    runs: Path = DEFAULT_RUNS,
    only: tuple[str, ...] = (),
) -> PlannedStudy:
    """The study in `spec`, and the plan of a new run. Starts nothing, and writes nothing."""
    file = read_study(spec, overrides)
    with file.placing_faults():
        check_new_runs(runs)
        plan = make_plan(file.study, planned_hosts(file.study, runs), only)
        check_built_versions(topology.variant.versions for topology in plan.built)
        for topology in plan.built:
            check_properties(topology)
        return PlannedStudy(file, plan)


def outlined_study(spec: Path) -> PlannedStudy:
    """The study in `spec` with a plan of the shape that a run on real hosts has: its builds and trials, in
    their order. Depends only on the file."""
    file = read_study(spec)
    with file.placing_faults():
        return PlannedStudy(file, make_plan(file.study, assumed_hosts(file.study)))


def check_runs(runs: Path) -> None:
    """InputError unless `runs` is a folder or can be created as one. Writes nothing."""
    try:
        paths = (runs.absolute(), *runs.absolute().parents)
        existing = next(path for path in paths if _exists(path))
        # /proc and similar file systems have no blocks: nobody can create a folder in them
        if existing.is_dir() and os.access(existing, os.X_OK) and os.statvfs(existing).f_blocks:
            return
        what = f"no folder can be created in {existing}."
    except (OSError, ValueError) as error:
        what = f"the path cannot be examined: {why_unread(error)}."
    raise InputError(what, f"--runs {runs}", "name a folder on a disk.")


def check_new_runs(runs: Path) -> None:
    """InputError unless daemons take the paths of a run in `runs`. Writes nothing.

    Whoever only reads runs may keep them anywhere: then `check_runs` is enough.
    """
    check_runs(runs)
    check_path(runs.absolute(), f"--runs {runs}")
    check_path(cache_root(), "the cache, DENSITY_STUDY_CACHE")


@contextmanager
def new_runs(runs: Path) -> Iterator[None]:
    """The folder `runs` exists within the context; what is empty of it afterwards and was not there before is
    removed. InputError as for `check_new_runs`, and if this user cannot write there."""
    check_new_runs(runs)
    _check_writable(runs)
    made = [path for path in (runs, *runs.parents) if not path.exists()]
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except PermissionError as error:
        raise InputError(
            f"the folder cannot be created: {error.strerror}.",
            f"--runs {runs}",
            "name a folder with write permission.",
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):
            for path in made:
                path.rmdir()


def _check_writable(runs: Path) -> None:
    existing = next(path for path in (runs.absolute(), *runs.absolute().parents) if path.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(
            f"nothing can be written in {existing}.",
            f"--runs {runs}",
            "name a folder with write permission.",
        )
    mode = existing.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise InputError(
            f"every user can replace what is in {existing} (mode {stat.S_IMODE(mode):04o}), also what a run "
            "starts from there.",
            f"--runs {runs}",
            f"run chmod o-w {existing}, or chmod +t {existing}.",
        )


def _exists(path: Path) -> bool:
    """Whether the path exists. A dangling link also exists."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
