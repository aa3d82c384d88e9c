"""`Lease`: one study at a time on this host, however many processes it uses.

Airflow runs the tasks of one run in different processes, so a lease belongs to a run (its tag) and
lasts as long as the run's owner is alive; no file descriptor has to stay open. Any other run may take the
lease of a dead owner once no process of that owner's run is left.
"""

from __future__ import annotations

import json
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state import atomic, presence
from density_study.cluster.state.events import RunEnded
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.owner import SILENT_AFTER_S, Owner, State, judge
from density_study.cluster.state.run_state import ONE_STUDY, RunState, busy
from density_study.cluster.state.runtime import runtime_dir
from density_study.cluster.state.tags import tagged

FORMAT = 2


@dataclass(frozen=True)
class Lease:
    """The run that holds this host. `tag` is "<study>/<run>", `root` its folder, `since` epoch seconds.

    The owner's heartbeat is in `root` (see `cluster.state.presence`). `abandoned`: the run has ended, but
    could not be taken down.
    """

    tag: str
    root: Path
    owner: Owner
    since: float
    abandoned: bool = False

    @property
    def state(self) -> State:
        if self.is_over:
            return "dead"
        return judge(self.owner, presence.is_free(self.root), self.silent_s)

    @property
    def is_over(self) -> bool:
        """Abandoned, or the run has ended since. Airflow may have executed its last task on another machine,
        which cannot release the lease on this one."""
        ends = Journal(self.root / JOURNAL).since_opening(RunEnded)
        return self.abandoned or any(ended.t > self.since for ended in ends)

    @property
    def silent_s(self) -> float:
        return presence.silent_s(self.root)

    @property
    def is_silent(self) -> bool:
        """No process is known to work on the run, and its last sign of life is long ago."""
        return presence.is_free(self.root) is not False and self.silent_s >= SILENT_AFTER_S


_ADAPTER = TypeAdapter(Lease)


def acquire(tag: str, root: Path, owner: Owner) -> Lease:
    """Take this host for the run `tag` in `root`, for as long as `owner` lives.

    Repeating it for the same run and owner changes nothing. HostBusyError names the owner if another run,
    or the same run under another owner, holds the host and is not known to be dead.
    """
    with _locked():
        held = holder()
        if held is not None and (held.tag, held.owner, held.is_over) == (tag, owner, False):
            return held
        if held is not None:
            _check_free(held, tag, owner)
        lease = Lease(tag, root.absolute(), owner, time.time())
        _write(lease)
        return lease


def check_free(tag: str, owner: Owner) -> None:
    """HostBusyError, or InputError, if `acquire` would fail now."""
    with _locked():
        if held := holder():
            _check_free(held, tag, owner)


def abandon(tag: str) -> None:
    """If `tag` holds this host, keep it only as long as a process of that run is left on it."""
    with _locked():
        held = holder()
        if held is not None and held.tag == tag:
            _write(replace(held, abandoned=True))


def release(tag: str) -> bool:
    """Release the host if `tag` holds it; returns whether it did. The leases of other runs stay."""
    with _locked():
        held = holder()
        if held is None or held.tag != tag:
            return False
        _path().unlink()
        return True


def holder() -> Lease | None:
    """The lease on this host, whether its owner is alive or not; None if there is no lease."""
    path = _path()
    try:
        entry = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if entry.pop("format") != FORMAT:
        raise StudyError(
            f"the lease has another format; this version reads format {FORMAT}.",
            str(path),
            "end the study of the other program version, then remove the file.",
        )
    return _ADAPTER.validate_python(entry)


def _check_free(held: Lease, tag: str, owner: Owner) -> None:
    state = held.state
    # Under `make airflow` the scheduler owns the runs of all DAGs. A run that has been silent between
    # two tasks for this long was stopped without being ended.
    stopped = held.owner == owner and held.tag != tag and held.is_silent
    if state != "dead" and not stopped:
        raise busy(held.root, RunState(held.tag, held.owner, state, held.since, held.silent_s))
    # The same run may be resumed: it takes down what it left before it builds.
    if held.tag != tag and tagged(held.tag):
        study, _, run = held.tag.partition("/")
        raise InputError(
            f"study {study!r} was killed and left processes running (run {run}).",
            ONE_STUDY,
            "run `study reap`, which removes them.",
        )


def _locked() -> AbstractContextManager[None]:
    return atomic.locked(runtime_dir() / "lease.lock")


def _path() -> Path:
    return runtime_dir() / "lease.json"


def _write(lease: Lease) -> None:
    entry = {"format": FORMAT, **_ADAPTER.dump_python(lease, mode="json")}
    atomic.write_text(_path(), json.dumps(entry) + "\n")
