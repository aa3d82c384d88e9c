"""`Task`: one attempt of one task, as any workflow system recorded it; and `Trace`: all of a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from density_study.analysis.capacity.inputs.point import grouped
from density_study.cluster.model.plain import counted

Outcome = Literal["done", "lost", "reused", "running"]
NO_GPUS = (
    "the record does not say which tasks used GPUs, which no plan counts: write an accelerator into such "
    "stages of the profile"
)


CLOCK_S = 900.0
"""Times of one task differ by less than this, and clocks are turned by more."""


@dataclass(frozen=True)
class Task:
    """One attempt. None: not recorded; it is never zero.

    process: with its sub-workflows, `A:SAMTOOLS:SORT`. tag: the sample or shard. outcome: `lost` is an
    attempt that failed or was aborted, killed or preempted; `reused` a result of another run, whose work is
    not in the record. status: the source's own word. cpu_s: core-seconds that were busy. cpus, requested_mib:
    reserved. needs: processes whose output it reads; None if the source does not say. id: of only this
    attempt, where the record has one. submit_is_local: `submit_s` is in a zone that the source does not say.
    native_id: the executor's own number of the attempt. is_copy: the row is a copy of that of an earlier run,
    which did the work.
    """

    process: str
    tag: str
    outcome: Outcome
    status: str
    realtime_s: float | None = None
    cpu_s: float | None = None
    cpus: int | None = None
    rss_mib: float | None = None
    requested_mib: float | None = None
    read_mib: float | None = None
    write_mib: float | None = None
    submit_s: float | None = None
    start_s: float | None = None
    end_s: float | None = None
    needs: tuple[str, ...] | None = None
    input_mib: float | None = None
    spilled_mib: float | None = None
    gc_s: float | None = None
    id: str | None = None
    uses_gpus: bool = False
    submit_is_local: bool = False
    native_id: str | None = None
    is_copy: bool = False


@dataclass(frozen=True)
class Record:
    """What one file says. unknown: in words, what it does not say. notes: what else it says."""

    tasks: tuple[Task, ...]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace(Record):
    """All files of a run. kind: their format, in words."""

    kind: str = "a trace"


def linked(
    tasks: Sequence[Task],
    records: Sequence[Mapping[str, Any]],
    names: Callable[[object], Iterable[Hashable]],
) -> Iterator[Task]:
    """Yields each task with the processes that made its inputs. records: one per task, with `inputs` and
    `outputs`; names: yields the files or data sets in such a value."""
    made = {
        one: task.process
        for task, record in zip(tasks, records, strict=True)
        for one in names(record.get("outputs"))
    }
    for task, record in zip(tasks, records, strict=True):
        makers = dict.fromkeys(made[one] for one in names(record.get("inputs")) if one in made)
        yield replace(task, needs=tuple(one for one in makers if one != task.process) or None)


def trace_of(kind: str, records: Sequence[Record]) -> Trace:
    """Counters that nobody read become unknown, and an attempt that is in several rows is one."""
    rows = [task for record in records for task in record.tasks]
    tasks = _seen(_once(rows))
    unknown = dict.fromkeys(line for record in records for line in record.unknown)
    notes = dict.fromkeys(line for record in records for line in record.notes)
    if again := len(rows) - len(tasks):
        notes[f"{counted(again, 'row')} left out: another row has the same attempt"] = None
    return Trace(
        tuple(tasks),
        (*unknown, *_perhaps_twice(tasks), *_clocks(tasks), *_unfinished(tasks), *_on_gpus(tasks)),
        tuple(notes),
        kind,
    )


def _once(rows: Sequence[Task]) -> list[Task]:
    """A run that was resumed has the tasks of the first one, and two exports may overlap."""
    found: dict[Hashable, Task] = {}
    for place, task in enumerate(rows):
        key = (*_attempt(task), task.outcome == "lost") if task.id else place
        if key not in found or _says(task) > _says(found[key]):
            found[key] = task
    ended = {_attempt(task) for task in found.values() if task.id and task.outcome != "running"}
    return _without_copies([
        task
        for task in found.values()
        if task.outcome != "running" or not task.id or _attempt(task) not in ended
    ])  # fmt: skip


def _without_copies(tasks: Sequence[Task]) -> list[Task]:
    """Without rows that have the attempt of a row whose time of submission is of another form."""
    left_out: set[int] = set()
    for same in grouped([task for task in tasks if task.id], lambda task: task.id).values():
        if len({_form(task) for task in same}) > 1:
            left_out |= set(map(id, _copies(same)))
    return [task for task in tasks if id(task) not in left_out]


def _copies(same: Sequence[Task]) -> Iterator[Task]:
    """Of rows with one id: those that have the executor's number of another row, and copies of rows that
    are none."""
    first: dict[Hashable, Task] = {}
    left: list[Task] = []
    for task in sorted(same, key=_says, reverse=True):
        number = task.native_id and (task.native_id, task.outcome)
        if number and _form(first.setdefault(number, task)) != _form(task):
            yield task
        else:
            left.append(task)
    kinds = grouped(
        [one for one in left if one.is_copy], lambda one: (_form(one), one.native_id is None)
    )
    for (form, has_no_number), copies in kinds.items():
        done = (one for one in left if one.outcome == "done" and not one.is_copy)
        originals = sum(_form(one) != form and (has_no_number or not one.native_id) for one in done)
        yield from copies[:originals]


def _form(task: Task) -> bool | None:
    """Times of submission of one form can be compared."""
    return None if task.submit_s is None else task.submit_is_local


def _attempt(task: Task) -> tuple[Hashable, ...]:
    """Ids that were made anonymous may all be equal; formats write parts of a second differently."""
    submit_s = None if task.submit_s is None else math.floor(task.submit_s)
    return task.id, submit_s, task.submit_is_local


def _says(task: Task) -> tuple[bool, ...]:
    return task.outcome != "running", task.realtime_s is not None, task.cpu_s is not None


def _perhaps_twice(tasks: Sequence[Task]) -> Iterator[str]:
    """For equal ids, times of submission that cannot be compared: of two zones, or missing in one file."""
    forms: dict[Hashable, set[bool | None]] = {}
    for task in tasks:
        if task.id and task.outcome != "running":
            forms.setdefault((task.id, task.outcome == "lost"), set()).add(_form(task))
    if count := sum(len(one) - 1 for one in forms.values()):
        yield (
            f"{counted(count, 'row')} may have an attempt that another row has, and count twice: one gives "
            "the time of submission, and the other in another form (trace.raw) or not at all"
        )


def _clocks(tasks: Sequence[Task]) -> Iterator[str]:
    """Where clocks are turned back, an hour of local times occurs twice."""
    if any(task.submit_is_local and _ends_early(task) for task in tasks):
        yield (
            "the times have no zone, and clocks were turned back between them: stages may follow others "
            "than these"
        )


def _ends_early(task: Task) -> bool:
    if task.end_s is None or task.start_s is None or task.realtime_s is None:
        return False
    return task.end_s - task.start_s < task.realtime_s - CLOCK_S


def _seen(tasks: list[Task]) -> list[Task]:
    """Where no task of a process used a core at all, nobody read the counters: a container may lack `ps`."""
    by_process = grouped(tasks, lambda task: task.process)
    blind = {name for name, same in by_process.items() if not any(one.cpu_s for one in same)}
    return [_unread(task) if task.process in blind else task for task in tasks]


def _unread(task: Task) -> Task:
    read_mib, write_mib = task.read_mib or None, task.write_mib or None
    return replace(task, cpu_s=None, read_mib=read_mib, write_mib=write_mib)


def _unfinished(tasks: Sequence[Task]) -> Iterator[str]:
    running = [task for task in tasks if task.outcome == "running"]
    if running:
        yield (
            f"{counted(len(running), 'task')} had not ended ({statuses(running)}): the trace is not "
            "of a whole run"
        )
    worked = {task.process for task in tasks if task.outcome != "running"}
    for process in dict.fromkeys(task.process for task in running):
        if process not in worked:
            yield f"process {process}: none of its tasks was completed, so it is not a stage"


def _on_gpus(tasks: Iterable[Task]) -> Iterator[str]:
    if count := sum(task.uses_gpus for task in tasks):
        yield (
            f"{counted(count, 'task')} used GPUs, which no plan counts: write an accelerator into these "
            "stages of the profile"
        )


def core_s(task: Task) -> float | None:
    """Busy core-seconds; of a task without a CPU counter those that it reserved."""
    if task.cpu_s is not None:
        return task.cpu_s
    if task.cpus is None or task.realtime_s is None:
        return None
    return task.cpus * task.realtime_s


def statuses(tasks: Iterable[Task]) -> str:
    counts = Counter(task.status for task in tasks)
    return ", ".join(f"{count} {status}" for status, count in counts.items())
