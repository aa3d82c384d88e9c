"""`JobHistory`: when a MapReduce job and its attempts ran, by the ApplicationMaster's clock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

TaskKind = Literal["map", "reduce"]


@dataclass(frozen=True)
class Attempt:
    """One attempt of a task. `finish_epoch_ms`, `status` and `host` are None if its end is not recorded.

    status: SUCCEEDED, FAILED or KILLED. host, port: of the NodeManager, as YARN names it; nodes
    that share an address differ by port alone.
    """

    attempt_id: str
    task_id: str
    kind: TaskKind
    start_epoch_ms: int
    finish_epoch_ms: int | None = None
    status: str | None = None
    host: str | None = None
    port: int | None = None

    @property
    def succeeded(self) -> bool:
        return self.status == "SUCCEEDED"


@dataclass(frozen=True)
class JobHistory:
    """One job. `problems` says why the file may not tell all; empty means it is whole and agrees
    with the job's own counts.

    status: SUCCEEDED, FAILED, KILLED, ...; None, like finish, if the job's end is not recorded.
    """

    job_id: str
    name: str
    submit_epoch_ms: int
    launch_epoch_ms: int | None
    finish_epoch_ms: int | None
    status: str | None
    total_maps: int | None
    attempts: tuple[Attempt, ...]
    problems: tuple[str, ...]

    @property
    def maps(self) -> tuple[Attempt, ...]:
        """Map attempts that succeeded."""
        return tuple(a for a in self.attempts if a.kind == "map" and a.succeeded)

    @property
    def unsuccessful_maps(self) -> tuple[Attempt, ...]:
        """Map attempts that failed, were killed, or whose end is not recorded."""
        return tuple(a for a in self.attempts if a.kind == "map" and not a.succeeded)


def map_phase_s(job: JobHistory) -> float | None:
    """First map start to last map end, of maps that succeeded: the map phase without YARN's start-up.

    None if there is no such map or the history has problems: a phase cut short is not a phase.
    """
    spans = _spans(job.maps)
    if not spans or job.problems:
        return None
    return (max(end for _, end in spans) - min(start for start, _ in spans)) / 1000


def job_s(job: JobHistory) -> float | None:
    """Submission to end: the whole job, with YARN's start-up. None if its end is not recorded."""
    if job.finish_epoch_ms is None:
        return None
    return (job.finish_epoch_ms - job.submit_epoch_ms) / 1000


def max_concurrent(attempts: Iterable[Attempt]) -> int:
    """The most attempts that ran at one moment. One that ends as another starts does not overlap it."""
    spans = _spans(attempts)
    events = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    running = most = 0
    for _, change in events:
        running += change
        most = max(most, running)
    return most


def _spans(attempts: Iterable[Attempt]) -> list[tuple[int, int]]:
    return [
        (a.start_epoch_ms, a.finish_epoch_ms) for a in attempts if a.finish_epoch_ms is not None
    ]
