"""`Run`: one execution of a study, in its own folder. Opened, gone on with after a crash, closed."""

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
from cluster.providers.provider import Leases, Preflight, provider_of
from cluster.state import lease, presence
from cluster.state.atomic import write_text
from cluster.state.events import RunEnded, RunOpened
from cluster.state.journal import Journal
from cluster.state.owner import Owner
from cluster.state.run_folders import JOURNAL, run_folders
from cluster.state.run_state import busy, run_state
from workloads.planning.plan import Extension, Plan, extended, make_plan, read_plan, write_plan
from workloads.planning.preflight import preflight
from workloads.planning.resolve import check_guest_hosts, planned_hosts, resolve_hosts
from workloads.record.record import close_unfinished
from workloads.spec.study import Study
from workloads.spec.study_file import StudyFile, read_study

DEFAULT_RUNS = Path("runs")
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
        """What every process and directory of the run carries."""
        return f"{self.study.study}/{self.id}"

    @property
    def records(self) -> Path:
        return self.root / "records"

    def site(self, build: str) -> Site:
        return Site(root=self.root / "builds" / build, tag=f"{self.tag}/{build}")

    @contextmanager
    def step_lock(self) -> Iterator[None]:
        """One step at a time, whoever claims it; the kernel lets go when the holder dies."""
        descriptor = os.open(self.root / "step.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class RunRequest:
    """What is asked of a study's runs: go on with one, start a `fresh` one, or extend a finished one.

    `add_repetitions` builds every topology that many times more; `only` (globs of setting ids) leaves the
    other settings out, of a new run or of the repetitions added to a finished one (one, if not said).
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


def plan_study(
    spec: Path,
    overrides: Mapping[str, object] | None = None,
    runs: Path = DEFAULT_RUNS,
    only: tuple[str, ...] = (),
) -> Plan:
    """What `spec` would run, in what order. Starts nothing, and writes nothing."""
    file = read_study(spec, overrides)
    with file.placing_faults():
        check_runs(runs)
        return make_plan(file.study, planned_hosts(file.study, runs), only)


def check_runs(runs: Path) -> None:
    """InputError unless `runs` is a folder, or one can be made there. Writes nothing."""
    try:
        places = (runs.absolute(), *runs.absolute().parents)
        existing = next(place for place in places if _is_there(place))
        # /proc and its like have no blocks: nobody can make a folder in them
        if existing.is_dir() and os.access(existing, os.X_OK) and os.statvfs(existing).f_blocks:
            return
        what = f"{existing} is not a folder that another can be made in."
    except (OSError, ValueError) as error:
        what = f"it cannot be looked at: {error}."
    raise InputError(what, f"--runs {runs}", "name a folder on a disk.")


def _is_there(place: Path) -> bool:
    try:
        place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def open_run(
    spec: Path,
    runs: Path = DEFAULT_RUNS,
    overrides: Mapping[str, object] | None = None,
    *,
    ask: RunRequest = RESUME,
    owner: Owner | None = None,
) -> Run:
    """Open a run of the study in `spec`: the newest unfinished one if its study is unchanged, else
    a new one, or a finished one extended as `ask` says. Everything that can be wrong with the input
    is found here: InputError, nothing started.

    `owner` is who carries the run out (default: this process). The run is over when its owner is dead.
    """
    file = read_study(spec, overrides)
    runs = runs.absolute()
    owner = owner or Owner.of_process(os.getpid())
    with file.placing_faults():
        check_runs(runs)
        if file.study.provider == "libvirt":
            check_guest_hosts(file.study, runs)  # planning did not: it asks no host

        @cache  # once, however often it is tried: it reads the disks, which others may be measuring
        def new_plan() -> Plan:
            return make_plan(file.study, resolve_hosts(file.study, runs), ask.only)

        while True:
            try:
                return _open(file, runs, ask, owner, new_plan)
            except HostBusyError:
                if file.study.when_busy == "refuse":
                    raise
                time.sleep(QUEUE_LOOK_EVERY_S)


def _open(
    file: StudyFile, runs: Path, ask: RunRequest, owner: Owner, new_plan: Callable[[], Plan]
) -> Run:
    """HostBusyError if another run holds this machine or one of the study's hosts."""
    study, folder = file.study, runs / file.study.study
    earlier, plan = _which(folder, study, ask, new_plan)
    root = earlier.root if earlier else folder / _new_id()
    tag = f"{study.study}/{root.name}"
    with ExitStack() as undo, ExitStack() as opening:
        lease.acquire(tag, root, owner)
        undo.callback(lease.release, tag)
        for topology in plan.topologies.values():
            provider = provider_of(topology.provider)
            if isinstance(provider, Leases):
                provider.check_leases(topology, tag)
        if earlier:
            opening.enter_context(_taken_over(earlier, owner))
        preflight(study, plan, runs)
        for topology in plan.topologies.values():
            provider = provider_of(topology.provider)
            if isinstance(provider, Preflight):
                provider.preflight(topology, tag)
        run = _go_on(earlier, plan) if earlier else _begin(root, file, plan)
        if owner.holds_lock:  # before the journal says that it does
            undo.push(presence.stay(root))
        run.journal.record(
            RunOpened(
                study=study.study,
                run=run.id,
                tag=tag,
                owner=owner.to_json(),
                resumed=earlier is not None,
            )
        )
        undo.pop_all()
    return run


@contextmanager
def _taken_over(run: Run, owner: Owner) -> Iterator[None]:
    """Nobody else opens or reaps the run meanwhile, and nothing that it left is standing.

    HostBusyError unless its last owner is known to be dead, or is `owner` itself.
    """
    with presence.alone(run.root) as locked:
        found = run_state(run.root, lock_free=locked)
        if not locked and found:
            raise busy(run.root, replace(found, state="alive"))
        if found and found.state in ("alive", "unknown") and found.owner != owner:
            raise busy(run.root, found)
        clear(run.root)  # what a killed owner left has the ports that preflight asks for
        yield


def load_run(root: Path) -> Run:
    """A run from its folder. InputError if there is none."""
    if not (root / "plan.json").exists():
        raise InputError(
            "is not the folder of a run (no plan.json).",
            str(root),
            "name runs/<study>/<run-id>; `study list` lists them.",
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
    """Say in the journal how the run ended, and give the host back.

    A run that is not `finished` was stopped, and can be gone on with. If it could not be taken down,
    nobody gets the host before its last process is gone.
    """
    run.journal.record(
        RunEnded(
            outcome=outcome,
            message=message,
            repetitions=run.plan.repetitions,
            finished=finished,
        )
    )
    if finished:
        lease.release(run.tag)
    else:
        lease.abandon(run.tag)


def has_ended(run: Run) -> bool:
    """Whether the run came to its end, with every repetition its plan has now; a later re-opening, or an
    extension of the plan, makes it unended again. One that was stopped has not."""
    ends = run.journal.since_opening(RunEnded)
    return bool(ends and ends[-1].finished and ends[-1].repetitions in (None, run.plan.repetitions))


def _newest(folder: Path, study: Study) -> Run | None:
    """The newest run below `folder`, if it is one of this very study."""
    for root in run_folders(folder.parent, folder.name)[-1:]:
        run = load_run(root)
        if run.study == study:
            return run
    return None


def _which(
    folder: Path, study: Study, ask: RunRequest, new_plan: Callable[[], Plan]
) -> tuple[Run | None, Plan]:
    """The run to go on with (None: a new one) and its plan."""
    newest = None if ask.fresh else _newest(folder, study)
    if newest and has_ended(newest):
        if ask.extension:
            return newest, extended(newest.plan, study, ask.extension)
        newest = None
    if newest is None:
        if ask.add_repetitions:
            raise InputError(
                "there is no finished run of this study, unchanged, to add repetitions to.",
                str(folder),
                "run the study first, without --add-repetitions.",
            )
        return None, new_plan()
    if ask.extension and not _is_doing(newest.plan, ask):
        raise InputError(
            "the newest run of this study is unfinished, and was not asked for this.",
            str(newest.root),
            "let it come to its end first (study run SPEC), or start anew with --fresh.",
        )
    return newest, newest.plan


def _is_doing(plan: Plan, ask: RunRequest) -> bool:
    """Whether the same command, said again, means to go on with this plan."""
    if plan.extensions:
        return plan.extensions[-1] == ask.extension
    return not ask.add_repetitions and plan.only == ask.only


def _go_on(run: Run, plan: Plan) -> Run:
    close_unfinished(run.records, "the run was interrupted before the trial ended")
    if plan != run.plan:
        write_plan(plan, run.root / "plan.json")
    return replace(run, plan=plan)


def _begin(root: Path, file: StudyFile, plan: Plan) -> Run:
    try:
        root.mkdir(parents=True)
    except FileExistsError as error:
        raise HostBusyError(
            "another run of this study began in the same second.", str(root), "try again."
        ) from error
    write_text(root / "study.yaml", file.text)
    write_plan(plan, root / "plan.json")
    return Run(root, file.study, plan, Journal(root / JOURNAL))


def _new_id() -> str:
    """The time, to the second: the host's lease keeps two runs from beginning in the same one."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
