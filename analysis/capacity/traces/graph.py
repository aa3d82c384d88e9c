"""Which process of a trace follows which.

Where the record says whose output a task reads, that decides. Otherwise a process follows all that had
ended, for the same sample or shard, before it was submitted: branches that did not overlap in time become a
chain, so a turnaround may be too long for this reason, and never too short. Without times all are a chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from density_study.analysis.capacity.traces.task import Task

Processes = Mapping[str, Sequence[Task]]


def in_order(by_process: Processes) -> list[str]:
    """The processes by their first submission; without times, in the order of the record."""
    return sorted(by_process, key=lambda process: _first_s(by_process[process]))


def predecessors(by_process: Processes, order: Sequence[str]) -> dict[str, list[str]]:
    """Process to those that it directly follows. `order`: every process after those that it may follow."""
    ends = {process: _by_tag(tasks, _end_s, max) for process, tasks in by_process.items()}
    starts = {
        process: _by_tag(tasks, lambda task: task.submit_s, min)
        for process, tasks in by_process.items()
    }
    found: dict[str, list[str]] = {}
    above: dict[str, set[str]] = {}  # process to all that precede it
    for place, process in enumerate(order):
        direct = _before(by_process[process], starts[process], order[:place], ends)
        implied = set().union(*(above[one] for one in direct))
        found[process] = [one for one in direct if one not in implied]
        above[process] = implied | set(direct)
    return found


def _before(
    tasks: Sequence[Task],
    starts: Mapping[str, float],
    earlier: Sequence[str],
    ends: Mapping[str, Mapping[str, float]],
) -> list[str]:
    needed = {name for task in tasks for name in task.needs or ()}
    stated = [one for one in earlier if one in needed]
    if stated:
        return stated
    if not starts:
        return list(earlier[-1:])
    return [one for one in earlier if _precedes(ends[one], starts)]


def _precedes(ends: Mapping[str, float], starts: Mapping[str, float]) -> bool:
    """Whether the tasks of one process ended before those of the other were submitted, tag by tag."""
    if not ends:  # nobody recorded when it ended
        return True
    shared = (ends.keys() & starts.keys()) - {""}
    if shared:
        return all(ends[tag] <= starts[tag] for tag in shared)
    return min(ends.values()) <= min(starts.values())


def _end_s(task: Task) -> float | None:
    if task.end_s is not None:
        return task.end_s
    if task.submit_s is None or task.realtime_s is None:
        return None
    return task.submit_s + task.realtime_s


def _by_tag(
    tasks: Iterable[Task],
    time_s: Callable[[Task], float | None],
    choose: Callable[[float, float], float],
) -> dict[str, float]:
    found: dict[str, float] = {}
    for task in tasks:
        at = time_s(task)
        if at is not None:
            found[task.tag] = choose(found.get(task.tag, at), at)
    return found


def _first_s(tasks: Sequence[Task]) -> float:
    return min((task.submit_s for task in tasks if task.submit_s is not None), default=0.0)
