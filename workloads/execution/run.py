"""`Run`: one execution of a study, in its own folder. A run is opened, resumed after a crash, and ended."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from cluster.lifecycle.reap import clear
from cluster.model.cluster import Site
from cluster.model.errors import HostBusyError, InputError
from cluster.providers.provider import Leases, provider_of
from cluster.state import lease, presence
from cluster.state.atomic import write_text
from cluster.state.events import RunEnded, RunOpened
from cluster.state.journal import JOURNAL, Journal, run_folders
from cluster.state.owner import Owner
from cluster.state.run_state import busy, run_state
from workloads.planning.plan import Extension, Plan, extended, make_plan, read_plan, write_plan
from workloads.planning.planned_study import DEFAULT_RUNS, check_runs
from workloads.planning.preflight import Report, preflight
from workloads.planning.resolve import check_guest_hosts, resolve_hosts
from workloads.record.record import close_unfinished
from workloads.spec.study import Study
from workloads.spec.study_file import StudyFile, read_study

QUEUE_LOOK_EVERY_S = 5.0


@dataclass(frozen=True)
class Run:
    """runs/<study>/<run-id>/: study.yaml, plan.json, journal.jsonl, builds/, records/, tables/, report/."""

    root: Path
    study: Study
    plan: Plan
    journal: Journal

    @property
    def id(self) -> str:
        return self.root.name

    @property
    def tag(self) -> str:
        """Tag of every process and directory of the run."""
        return f"{self.study.study}/{self.id}"

    @property
    def records(self) -> Path:
        return self.root / "records"

    def site(self, build: str) -> Site:
        return Site(root=self.root / "builds" / build, tag=f"{self.tag}/{build}")

    @contextmanager
    def step_lock(self) -> Iterator[None]:
        """Serialises steps across processes; the kernel releases the lock when its holder dies."""
        descriptor = os.open(self.root / "step.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class RunRequest:
    """Which run to open: resume one, start a `fresh` one, or extend a finished one.

    `add_repetitions` builds every topology that many more times. `only` (globs of setting ids) selects the
    settings of a new run, or of the repetitions added to a finished one (default: one repetition).
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
"""A check of a new plan before the run begins: raises InputError to reject it."""


def open_run(
    spec: Path,
    runs: Path = DEFAULT_RUNS,
    overrides: Mapping[str, object] | None = None,
    *,
    request: RunRequest = RESUME,
    owner: Owner | None = None,
    check: PlanCheck | None = None,
    report: Report | None = None,
) -> Run:
    """Open a run of the study in `spec`: the newest unfinished run if its study is unchanged, otherwise a
    new run, or a finished one extended by `request`. Finds every fault of the input: InputError,
    nothing started.

    `owner` executes the run (default: this process). The run is over when its owner is dead. `check` may
    reject the plan of a new run. `report` gets the result of each preflight check.
    """
    file = read_study(spec, overrides)
    runs = runs.absolute()
    owner = owner or Owner.of_process(os.getpid())
    with file.placing_faults():
        check_runs(runs)
        if file.study.provider == "libvirt":
            check_guest_hosts(file.study, runs)  # planning contacts no host

        @cache  # once for all attempts: it reads the disks, which another study may be measuring
        def new_plan() -> Plan:
            plan = make_plan(file.study, resolve_hosts(file.study, runs), request.only)
            if check is not None:
                check(file.study, plan)
            return plan

        while True:
            try:
                return _open(file, runs, request, owner, new_plan, report)
            except HostBusyError:
                if file.study.when_busy == "refuse":
                    raise
                time.sleep(QUEUE_LOOK_EVERY_S)


def _open(
    file: StudyFile,
    runs: Path,
    request: RunRequest,
    owner: Owner,
    new_plan: Callable[[], Plan],
    report: Report | None,
) -> Run:
    """HostBusyError if another run uses this machine or one of the study's hosts."""
    study, folder = file.study, runs / file.study.study
    earlier, plan = _run_and_plan(folder, study, request, new_plan)
    root = earlier.root if earlier else folder / _new_id()
    tag = f"{study.study}/{root.name}"
    with ExitStack() as undo, ExitStack() as opening:
        lease.acquire(tag, root, owner)
        undo.callback(lease.release, tag)
        provider = provider_of(study.provider)
        if isinstance(provider, Leases):
            for topology in plan.topologies.values():
                provider.check_leases(topology, tag)
        if earlier:
            opening.enter_context(_taken_over(earlier, owner))
        preflight(study, plan, runs, tag, report)
        if earlier:
            close_unfinished(earlier.records, "the run was interrupted before the trial ended")
            run = replace(earlier, plan=plan)
            if plan != earlier.plan:
                write_plan(plan, root / "plan.json")
        else:
            run = _begin(root, file, plan)
        if owner.holds_lock:  # take the lock before the journal names its holder
            undo.push(presence.stay(root))
        run.journal.record(RunOpened(
            study=study.study, run=run.id, tag=tag, owner=owner.to_json(), resumed=bool(earlier)
        ))  # fmt: skip
        undo.pop_all()
    return run


@contextmanager
def _taken_over(run: Run, owner: Owner) -> Iterator[None]:
    """Prevents others from opening or reaping the run meanwhile, and removes what its last owner left.

    HostBusyError unless the last owner is known to be dead, or is `owner` itself.
    """
    with presence.alone(run.root) as locked:
        state = run_state(run.root, lock_free=locked)
        if not locked and state:
            raise busy(run.root, replace(state, state="alive"))
        if state and state.state in ("alive", "unknown") and state.owner != owner:
            raise busy(run.root, state)
        clear(run.root)  # daemons of a killed owner hold the ports that preflight needs
        yield


def load_run(root: Path) -> Run:
    """The run in the folder `root`. InputError if there is none."""
    if not (root / "plan.json").exists():
        raise InputError(
            "this is not the folder of a run: it has no plan.json.",
            str(root),
            "name runs/<study>/<run-id>; `study list` lists the runs.",
        )
    return Run(
        root=root.absolute(),
        study=read_study(root / "study.yaml").study,
        plan=read_plan(root / "plan.json"),
        journal=Journal(root / JOURNAL),
    )


def end_run(
    run: Run, outcome: Literal["ok", "failed"], message: str = "", *, finished: bool = True
) -> None:
    """Journal the end of the run, and release the host.

    A run that is not `finished` was stopped, and can be resumed. If its tear-down failed, the host stays
    reserved until the run's last process is gone.
    """
    repetitions = run.plan.repetitions
    run.journal.record(
        RunEnded(outcome=outcome, message=message, repetitions=repetitions, finished=finished)
    )
    if finished:
        lease.release(run.tag)
    else:
        lease.abandon(run.tag)


def has_ended(run: Run) -> bool:
    """Whether the run finished with every repetition of its current plan. Opening the run again or extending
    its plan undoes this. A stopped run has not ended."""
    ends = run.journal.since_opening(RunEnded)
    return bool(ends and ends[-1].finished and ends[-1].repetitions in (None, run.plan.repetitions))


def _run_and_plan(
    folder: Path, study: Study, request: RunRequest, new_plan: Callable[[], Plan]
) -> tuple[Run | None, Plan]:
    """The run to resume or extend (None: a new run), and its plan."""
    roots = [] if request.fresh else run_folders(folder.parent, folder.name)
    newest = load_run(roots[-1]) if roots else None
    if newest and newest.study != study:
        newest = None
    if newest and has_ended(newest):
        if request.extension:
            return newest, extended(newest.plan, study, request.extension)
        newest = None
    if newest is None:
        if request.add_repetitions:
            raise InputError(
                "this study, unchanged, has no finished run to add repetitions to.",
                str(folder),
                "run the study first, without --add-repetitions.",
            )
        return None, new_plan()
    if request.extension and not _matches(newest.plan, request):
        raise InputError(
            "the newest run of this study is unfinished and was started with other options.",
            str(newest.root),
            "finish it first (study run SPEC), or start a new run with --fresh.",
        )
    return newest, newest.plan


def _matches(plan: Plan, request: RunRequest) -> bool:
    """Whether repeating the same command means to resume this plan."""
    if plan.extensions:
        return plan.extensions[-1] == request.extension
    return not request.add_repetitions and plan.only == request.only


def _begin(root: Path, file: StudyFile, plan: Plan) -> Run:
    try:
        root.mkdir(parents=True)
    except FileExistsError as error:
        raise HostBusyError(
            "another run of this study started in the same second.", str(root), "try again."
        ) from error
    write_text(root / "study.yaml", file.text)
    write_plan(plan, root / "plan.json")
    return Run(root, file.study, plan, Journal(root / JOURNAL))


def _new_id() -> str:
    """The time in seconds, which is unique: the host's lease prevents two runs from starting at once."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
