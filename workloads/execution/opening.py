"""Open a run: a new one, an unfinished one after a crash, a finished one that is extended, or one of which
trials are measured again.

An open run holds this machine and the hosts of its study: one study at a time on each.
"""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from density_study.cluster.lifecycle.reap import clear
from density_study.cluster.model.errors import HostBusyError, InputError, StudyError
from density_study.cluster.providers.provider import provider_of
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state import lease, own_runs, presence
from density_study.cluster.state.atomic import naming, write_text
from density_study.cluster.state.events import RunOpened, TrialsCleared
from density_study.cluster.state.journal import JOURNAL, Journal, run_folders
from density_study.cluster.state.own_runs import MAX_PLAN_BYTES, PLAN, STUDY
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.plain_file import read_plain
from density_study.cluster.state.run_id import next_run_id
from density_study.cluster.state.run_state import busy, run_state
from density_study.workloads.execution.run import ASKED, Run, has_ended, import_of, load_run
from density_study.workloads.planning.plan import (
    ANEW,
    Extension,
    Plan,
    extended,
    make_plan,
    plan_text,
    write_plan,
)
from density_study.workloads.planning.planned_study import DEFAULT_RUNS, new_runs
from density_study.workloads.planning.preflight import Check, Report, preflight
from density_study.workloads.planning.replanned import check_follows
from density_study.workloads.planning.resolve import check_declared_hosts, resolve_hosts
from density_study.workloads.record.record import close_unfinished
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import StudyFile, read_study

log = logging.getLogger(__name__)
QUEUE_LOOK_EVERY_S = 5.0


@dataclass(frozen=True)
class RunRequest:
    """Which run to open: resume one, start a `fresh` one, or extend a finished one.

    `add_repetitions` builds every topology that many more times. `only` (globs of test case ids) selects the
    test cases of a new run, or of the repetitions added to a finished one (default: one repetition).
    """

    fresh: bool = False
    add_repetitions: int = 0
    only: tuple[str, ...] = ()

    @property
    def extension(self) -> Extension | None:
        if self.fresh or not (self.add_repetitions or self.only):
            return None
        return Extension(add_repetitions=self.add_repetitions or 1, only=self.only)


RESUME = RunRequest()
PlanCheck = Callable[[Study, Plan], None]
"""A check of a plan before the run begins: raises InputError to reject it."""


def open_run(
    spec: Path,
    runs: Path = DEFAULT_RUNS,
    overrides: Mapping[str, object] | None = None,
    *,
    request: RunRequest = RESUME,
    owner: Owner | None = None,
    dag_run: str = "",
    check: PlanCheck | None = None,
    fits: PlanCheck | None = None,
    fit: Callable[[], StudyFile] | None = None,
    report: Report | None = None,
    wait: bool = True,
) -> Run:
    """Open a run of the study in `spec`: the newest unfinished run if its study is unchanged, otherwise a
    new run, or a finished one extended by `request`. Finds every fault of the input: InputError,
    nothing started.

    `owner` executes the run (default: this process). The run is over when its owner is dead. `check` may
    reject the plan of a new run, `fits` that of a resumed one too. `fit` makes the study of a new run from
    the requested one. `report` gets the result of each preflight
    check. Without `wait`, HostBusyError also for a study that is to queue for a busy host.
    """
    own_runs.keep_others_out()
    own_runs.require_state_dir()
    runs = runs.absolute()
    file = _study_file(spec, overrides, runs, request)
    if report is not None:
        for warning in file.warnings:
            report(Check("the study file", warning=warning))
    owner = owner or Owner.of_process(os.getpid())
    with file.placing_faults(), naming(runs), new_runs(runs):
        check_declared_hosts(file.study, runs)

        @cache  # once for all attempts: it reads the disks
        def new_plan() -> tuple[StudyFile, Plan]:
            made = fit() if fit else file
            plan = make_plan(made.study, resolve_hosts(made.study, runs), request.only)
            if check is not None:
                check(made.study, plan)
            return made, plan

        while True:
            try:
                run, plan = _run_and_plan(runs, file.study, request)
                if run is not None:
                    check_own(run)
                # Before the plan is made, because another study may be measuring the disks.
                root = run.root if run else runs / file.study.study / next_run_id(runs)
                tag = f"{file.study.study}/{root.name}"
                lease.check_free(tag, owner)
                made, plan = (file, plan) if plan else new_plan()
                study = run.study if run else made.study
                if fits is not None:
                    fits(study, plan)
                held = _held(root, tag, study, plan, run, owner, report)
                with held, nullcontext() if run else _made(root):
                    run = _planned(run, plan) if run else _begin(root, made, plan, file)
                    _journal_opening(run, owner, dag_run)
                    return run
            except HostBusyError:
                if file.study.when_busy == "refuse" or not wait:
                    raise
                time.sleep(QUEUE_LOOK_EVERY_S)


def _study_file(
    spec: Path, overrides: Mapping[str, object] | None, runs: Path, request: RunRequest
) -> StudyFile:
    """The study in `spec`. What an earlier version accepted is refused only for new runs."""
    try:
        return read_study(spec, overrides)
    except InputError:
        with suppress(StudyError):
            file = read_study(spec, overrides, recorded=True)
            if _run_and_plan(runs, file.study, request)[0] is not None:
                return file
        raise


def reopen_run(run: Run, owner: Owner, dag_run: str, cleared: Sequence[str]) -> None:
    """Open a run that has ended, in order to measure the trials `cleared` again. HostBusyError if another
    run uses this machine or one of the hosts, InputError if this user has not opened it."""
    check_own(run)
    with _held(run.root, run.tag, run.study, run.plan, run, owner, None):
        _journal_opening(run, owner, dag_run)
        clear_trials(run, cleared)


def clear_trials(run: Run, trials: Sequence[str]) -> None:
    """Measure these trials of the open run again."""
    if trials:
        run.journal.record(TrialsCleared(trials=tuple(trials)))


@contextmanager
def _held(
    root: Path,
    tag: str,
    study: Study,
    plan: Plan,
    earlier: Run | None,
    owner: Owner,
    report: Report | None,
) -> Iterator[None]:
    """Take this machine and the study's hosts for the run; gives them back if the caller fails to open it.

    HostBusyError if another run uses one of them.
    """
    with ExitStack() as undo, ExitStack() as opening:
        lease.acquire(tag, root, owner)
        undo.callback(lease.release, tag)
        for topology in plan.topologies.values():
            provider_of(topology).check_leases(topology, tag)
        if earlier:
            opening.enter_context(_taken_over(earlier, owner))
        preflight(study, plan, root.parents[1], tag, report)
        if earlier:
            close_unfinished(earlier.records, "the run was interrupted before the trial ended")
        yield
        undo.pop_all()


def _journal_opening(run: Run, owner: Owner, dag_run: str) -> None:
    resumed = run.journal.last(RunOpened) is not None
    if owner.holds_lock:  # take the lock before the journal names its holder
        lock = presence.stay(run.root)
    try:
        run.journal.record(RunOpened(
            study=run.study.study, run=run.id, tag=run.tag, owner=owner.to_json(),
            resumed=resumed, dag_run=dag_run,
        ))  # fmt: skip
    except BaseException:
        if owner.holds_lock:
            lock.close()
        raise


@contextmanager
def _taken_over(run: Run, owner: Owner) -> Iterator[None]:
    """Prevents others from opening or reaping the run meanwhile, and removes what its last owner left.

    HostBusyError unless the last owner is known to be dead, or is `owner` itself.
    """
    with presence.alone(run.root) as locked:
        state = run_state(run.root, lock_free=locked)
        if not presence.is_writable(run.root):
            raise InputError(
                "the run cannot be resumed: its folder is read-only for this user.",
                str(run.root),
                f"resume it as the user who owns it, or {ANEW}.",
            )
        if not locked and state:
            raise busy(run.root, replace(state, state="alive"))
        if state and state.state in ("alive", "unknown") and state.owner != owner:
            raise busy(run.root, state)
        clear(run.root)  # daemons of a killed owner hold the ports that preflight needs
        yield


def _run_and_plan(runs: Path, study: Study, request: RunRequest) -> tuple[Run | None, Plan | None]:
    """The run to resume or extend, and its plan. None: a new run, and a new plan."""
    newest = None if request.fresh else _newest_own(run_folders(runs, study.study))
    if newest and _asked(newest) != study:
        newest = None
    if newest and has_ended(newest):
        if request.extension:
            return newest, extended(newest.plan, newest.study, request.extension)
        newest = None
    if newest is None:
        if request.add_repetitions:
            raise InputError(
                "this study, unchanged, has no finished run to add repetitions to.",
                str(runs / study.study),
                "run the study first, without --add-repetitions.",
            )
        return None, None
    if request.extension and not _matches(newest.plan, request):
        raise InputError(
            "the newest run of this study is unfinished and was started with other options.",
            str(newest.root),
            f"finish it first (`study run SPEC`), or {ANEW}.",
        )
    return newest, newest.plan


def _asked(run: Run) -> Study:
    """The study that the run was opened with, before it was fitted into its budget."""
    path = run.root / ASKED
    return read_study(path, recorded=True).study if path.is_file() else run.study


def _newest_own(roots: Sequence[Path]) -> Run | None:
    """The newest run in these folders that was not imported or rehearsed, and is this user's own. A warning
    names the newest of those that are not."""
    foreign: list[str] = []
    found = None
    for root in reversed(roots):
        if why := own_runs.stranger(root) or own_runs.unregistered(root):
            foreign.append(f"{root} is left alone: {why}")
        elif not import_of(root) and not is_rehearsal(root):
            found = load_run(root)
            break
    if foreign:
        more = f" (and {len(foreign) - 1} more)" if foreign[1:] else ""
        log.warning("%s%s", foreign[0], more)
    return found


def check_own(run: Run) -> None:
    """InputError if this user has not opened the run, if others may have changed it, or if its plan is
    neither what this user wrote nor what its study gives."""
    own_runs.require_own(run.root)
    if not own_runs.has_known_plan(run.root):
        check_follows(run.study, run.plan, run.root)
        # as it is: another version of the program wrote the same plan in other words
        written = read_plain(run.root / PLAN, MAX_PLAN_BYTES).decode()
        own_runs.register(run.root, written)


def _matches(plan: Plan, request: RunRequest) -> bool:
    """Whether repeating the same command means to resume this plan."""
    if plan.extensions:
        return plan.extensions[-1] == request.extension
    return not request.add_repetitions and plan.only == request.only


@contextmanager
def _made(root: Path) -> Iterator[None]:
    """Make the folder of a new run; without a whole opening in it, it is removed again."""
    try:
        own_runs.make_folder(root)
    except FileExistsError as error:
        raise HostBusyError(
            "another run of this study started in the same second.", str(root), "try again."
        ) from error
    try:
        yield
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)
        raise


def _begin(root: Path, file: StudyFile, plan: Plan, asked: StudyFile) -> Run:
    own_runs.register(root, plan_text(plan))
    write_text(root / STUDY, file.text)
    write_plan(plan, root / PLAN)
    if file != asked:
        write_text(root / ASKED, asked.text)
    return Run(root, file.study, plan, Journal(root / JOURNAL))


def _planned(run: Run, plan: Plan) -> Run:
    """The run with this plan, which repetitions may have been added to."""
    if plan != run.plan:
        own_runs.register(run.root, plan_text(plan))
        write_plan(plan, run.root / PLAN)
    return replace(run, plan=plan)
