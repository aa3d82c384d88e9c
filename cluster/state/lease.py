"""`Lease`: one study at a time on this host, however many processes it uses.

Airflow runs the tasks of one run in different processes, so a lease belongs to a run (its tag) and
lasts as long as the run's owner is alive; no file descriptor has to stay open. Any other run may take the
lease of a dead owner once no process of that owner's run is left.
"""

from __future__ import annotations

import errno
import json
import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state import atomic, presence
from density_study.cluster.state.events import Event, RunEnded, RunOpened
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.owner import SILENT_AFTER_S, Owner, State, judge
from density_study.cluster.state.plain_file import read_plain, why_unread
from density_study.cluster.state.run_state import ONE_STUDY, RunState, busy, how_to_reap
from density_study.cluster.state.runtime import LEASE, LEASE_LOCK, runtime_dir
from density_study.cluster.state.tags import tagged

FORMAT = 2
_MAX_BYTES = 2**16
_MAX_PID = 2**22  # of Linux
log = logging.getLogger(__name__)
E = TypeVar("E", bound=Event)


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
        ends = self._since_opening(RunEnded)
        return self.abandoned or any(ended.t > self.since for ended in ends)

    @property
    def is_lost(self) -> bool:
        """No journal shows that the run was opened: its folder is gone, or damaged."""
        return not self._since_opening(RunOpened)

    def _since_opening(self, kind: type[E]) -> list[E]:
        try:
            return Journal(self.root / JOURNAL).since_opening(kind)
        except (StudyError, OSError):  # damaged: it does not show anything
            return []

    @property
    def silent_s(self) -> float | None:
        return presence.silent_s(self.root)

    @property
    def is_silent(self) -> bool:
        """No process is known to work on the run, and it has no recent sign of life."""
        if presence.is_free(self.root) is False:
            return False
        return self.silent_s is None or self.silent_s >= SILENT_AFTER_S

    def as_run_state(self) -> RunState:
        """For a run whose journal does not say it."""
        return RunState(self.tag, self.owner, self.state, self.since, self.silent_s)


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
            if held.is_lost and held.tag != tag:
                log.warning(
                    "the lease of run %s is released: %s has no journal of it, and its owner %s has ended",
                    held.tag, held.root, held.owner.name,
                )  # fmt: skip
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
    try:
        text = read_plain(_path(), _MAX_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(LEASE, f"it cannot be read: {error.strerror}") from error
    try:
        entry = json.loads(text)
        if isinstance(entry, dict) and entry.pop("format", FORMAT) != FORMAT:
            raise _unusable(LEASE, f"it has another format; this version reads format {FORMAT}")
        found = _ADAPTER.validate_python(entry)
    except (ValueError, RecursionError) as error:
        raise _unusable(LEASE, f"it is damaged: {why_unread(error)}") from error
    if found.owner.pid is not None and not 0 < found.owner.pid <= _MAX_PID:
        raise _unusable(LEASE, f"it is damaged: {str(found.owner.pid)[:20]} is not a process")
    return found


def _unusable(name: str, what: str) -> StudyError:
    path = runtime_dir() / name
    remove = "rm -r" if path.is_dir() and not path.is_symlink() else "rm"
    return StudyError(
        f"the lease of this machine cannot be used: {what}.",
        str(path),
        f"make sure that no study runs on this machine (`study list`), then run `{remove} {path}`.",
    )


def _check_free(held: Lease, tag: str, owner: Owner) -> None:
    state = held.state
    # Under `make airflow` the scheduler owns the runs of all DAGs. A run that has been silent between
    # two tasks for this long was stopped without being ended.
    stopped = held.owner == owner and held.tag != tag and held.is_silent
    if state != "dead" and not stopped:
        raise busy(held.root, held.as_run_state())
    # The same run may be resumed: it takes down what it left before it builds.
    if held.tag != tag and tagged(held.tag):
        study, _, run = held.tag.partition("/")
        raise InputError(
            f"study {study!r} was killed and left processes running (run {run}).",
            ONE_STUDY,
            f"run `{how_to_reap(held.root)}`, which removes them.",
        )


@contextmanager
def _locked() -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(atomic.locked(runtime_dir() / LEASE_LOCK))
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EISDIR, errno.EINVAL):
                raise
            raise _unusable(LEASE_LOCK, f"it cannot be locked: {error.strerror}") from error
        yield


def _path() -> Path:
    return runtime_dir() / LEASE


def _write(lease: Lease) -> None:
    entry = {"format": FORMAT, **_ADAPTER.dump_python(lease, mode="json")}
    atomic.write_text(_path(), json.dumps(entry) + "\n")
