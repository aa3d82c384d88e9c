"""Spark's event log (`spark.eventLog.enabled`), of releases 1 to 4: one JSON event a line.

A Spark stage is a process, a Spark task a task. Memory is what a task has of its executor, by the cores:
heap, overhead, memory off the heap and of Python. Bytes read and written are those of files; what is spilled
or shuffled stays on local disks.
(Spark's documentation, "Monitoring and Instrumentation", "Executor Task Metrics".)
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from density_study.analysis.capacity.traces.amounts import MOST_CPUS, mib, number
from density_study.analysis.capacity.traces.source import Source
from density_study.analysis.capacity.traces.task import Record, Task
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import why_unread

HEAP_MIB, OVERHEAD_MIB, OVERHEAD_SHARE = 1024.0, 384.0, 0.10  # Spark's defaults
OVERHEAD_SHARE_OF_PYTHON = 0.40  # on Kubernetes
MOST_STAGES = 40  # more are merged by name: an algorithm that iterates
BEGUN, ENDED = "SparkListenerApplicationStart", "SparkListenerApplicationEnd"
STARTS = ("SparkListenerLogStart", BEGUN)
ROLLED = re.compile(r"events_(\d{1,9})_([^.]*)")  # from 1; the names of applications have no point


@dataclass
class _Log:
    """What the events up to here say."""

    names: dict[int, str] = field(default_factory=dict)
    submitted_s: dict[tuple[int, int], float] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)
    executor_cores: int = 0
    python: set[int] = field(default_factory=set)
    lacking: dict[str, None] = field(default_factory=dict)  # metrics beside one that is there
    tasks: list[tuple[int, Task]] = field(default_factory=list)
    begun: bool = False
    application: str = ""
    ended: bool = False


def log_of(source: Source) -> Hashable:
    """What the files of one rolling log have in common, by their names."""
    rolled = ROLLED.match(source.path.name)
    return (source.path.parent, rolled[2]) if rolled else source.path


def roll(source: Source) -> tuple[int, bool]:
    """The place of a file in its rolling log."""
    rolled = ROLLED.match(source.path.name)
    return (int(rolled[1]) if rolled else 0, ".compact" in source.path.name)


def read(source: Source, *more: Source) -> Record:
    """A log, or the files of a rolling one. InputError, with the line, if an event cannot be read, and if a
    file is missing."""
    log, sources = _Log(), _in_order((source, *more))
    for source, line, event in _events(sources):
        if _is_second(log, event):
            source.refuse(
                "a second application begins here.", "give each application a file.", line
            )
        try:
            _take(log, event)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            source.refuse(
                f"the event cannot be parsed: {why_unread(error)}.",
                "give the log as Spark wrote it.",
                line,
            )
    merged = len({stage for stage, _ in log.tasks}) > MOST_STAGES
    try:
        memory_mib = _memory_mib(log)
    except ValueError as error:
        source.refuse(f"its memory cannot be read: {error}.", "give the log as Spark wrote it.")
    tasks = tuple(
        replace(task, process=_name(log, stage, merged), requested_mib=memory_mib)
        for stage, task in log.tasks
    )
    unknown = [] if log.ended else ["the application did not end: the log is not of a whole run"]
    if any(".compact" in source.path.name for source in sources):
        unknown.append("Spark compacted the log: jobs that had ended are not in it")
    if log.lacking:
        unknown.append(
            f"the log does not say the {' and '.join(log.lacking)}: without it, tasks count as shorter"
        )
    if log.python:
        unknown.append("Spark does not count the CPU time of its Python workers")
    notes = [
        f"more than {MOST_STAGES} stages: those of the same name are one, side by side"
    ] * merged
    if memory_mib is not None and _heap_property(log) not in log.properties:
        notes.append(
            f"{_heap_property(log)} is not set: Spark's default of {HEAP_MIB:g} MiB counts"
        )
    return Record(tasks, tuple(unknown), tuple(notes))


def _in_order(sources: Sequence[Source]) -> list[Source]:
    """Without those before a compacted one, which has all that is left of them."""
    found = sorted(sources, key=roll)
    compact = [place for place, one in enumerate(found) if roll(one)[1]]
    found = found[compact[-1] :] if compact else found
    rolls = [roll(one)[0] for one in found]
    first = rolls[0] if compact else min(rolls[0], 1)  # 0: the log does not roll
    if rolls != list(range(first, first + len(rolls))):
        found[0].refuse(
            "a file of this rolling log is missing or there twice.", "name its whole folder."
        )
    return found


def _events(sources: Sequence[Source]) -> Iterator[tuple[Source, int, Any]]:
    """A log that is still written may end within a line."""
    for source in sources:
        for line, text in source.lines():
            try:
                event = source.value(text, line)
            except InputError:
                if text.endswith("\n") or line == 1 or source is not sources[-1]:
                    raise
                return
            yield source, line, event


def _is_second(log: _Log, event: object) -> bool:
    kind = event.get("Event") if isinstance(event, dict) else None
    return (log.ended and kind in STARTS) or (log.begun and kind == BEGUN)


def _take(log: _Log, event: Mapping[str, Any]) -> None:
    kind = event["Event"]
    if kind == BEGUN:
        log.begun = True
        if application := event.get("App ID"):  # its next attempt numbers tasks from 0 again
            log.application = f"{application} {event.get('App Attempt ID')}"
    elif kind in ("SparkListenerStageSubmitted", "SparkListenerStageCompleted"):
        info = event["Stage Info"]
        log.names[_whole(info, "Stage ID")] = str(info["Stage Name"])
        if any("Python" in f"{one.get('Name')} {one.get('Scope')}" for one in info["RDD Info"]):
            log.python.add(_whole(info, "Stage ID"))
        if (at := _scaled(info.get("Submission Time"), 1e-3)) is not None:
            log.submitted_s[_whole(info, "Stage ID"), _whole(info, "Stage Attempt ID", 0)] = at
    elif kind == "SparkListenerEnvironmentUpdate":
        log.properties = dict(event.get("Spark Properties") or {})
    elif kind == "SparkListenerExecutorAdded":
        cores = _whole(event["Executor Info"], "Total Cores")
        log.executor_cores = max(log.executor_cores, cores)
    elif kind == "SparkListenerTaskEnd":
        log.tasks.append((_whole(event, "Stage ID"), _task(log, event)))
    elif kind == ENDED:
        log.ended = True


def _task(log: _Log, event: Mapping[str, Any]) -> Task:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    reason = str((event.get("Task End Reason") or {}).get("Reason", "unknown"))
    stage = _whole(event, "Stage ID")
    run_s = _both(log, metrics, "Executor Run Time", "Executor Deserialize Time", 1e-3)
    if run_s is None:  # its executor was lost
        launch_s, end_s = (_scaled(info.get(f"{one} Time"), 1e-3) for one in ("Launch", "Finish"))
        run_s = end_s - launch_s if launch_s and end_s and end_s >= launch_s else None
    read, written = metrics.get("Input Metrics") or {}, metrics.get("Output Metrics") or {}
    finish_s = _scaled(info.get("Finish Time"), 1e-3)
    # since release 2.1, and only of the JVM
    cpu_s = _both(log, metrics, "Executor CPU Time", "Executor Deserialize CPU Time", 1e-9)
    return Task(
        process="",
        tag="",
        outcome="done" if reason == "Success" else "lost",
        status=reason,
        realtime_s=run_s,
        cpu_s=None if stage in log.python else cpu_s,
        cpus=_cpus(log),
        read_mib=_mib(read.get("Bytes Read", 0 if metrics else None)),
        write_mib=_mib(written.get("Bytes Written", 0 if metrics else None)),
        submit_s=log.submitted_s.get((stage, _whole(event, "Stage Attempt ID", 0))),
        end_s=finish_s or None,
        spilled_mib=_mib(metrics.get("Disk Bytes Spilled")),
        gc_s=_scaled(metrics.get("JVM GC Time"), 1e-3),
        id=_id(log, info),
        uses_gpus=bool(number(log.properties.get("spark.task.resource.gpu.amount"))),
    )


def _id(log: _Log, info: Mapping[str, Any]) -> str | None:
    """Spark numbers the tasks of an application, and the attempts of each."""
    if not log.application or "Task ID" not in info:
        return None
    return f"{log.application} {info['Task ID']} {info.get('Attempt')}"


def _both(
    log: _Log, metrics: Mapping[str, Any], first: str, second: str, factor: float
) -> float | None:
    """The sum of two metrics; None without the first."""
    found, more = (_scaled(metrics.get(name), factor) for name in (first, second))
    if found is None:
        return None
    if more is None:
        log.lacking[second] = None
    return found + (more or 0.0)


def _name(log: _Log, stage: int, merged: bool) -> str:
    """Spark names a stage by the call and its place: `count at Main.scala:15`."""
    name = log.names.get(stage, "stage").replace(":", " ")
    return name if merged else f"{name} {stage}"


def _cpus(log: _Log) -> int:
    return int(number(log.properties.get("spark.task.cpus", 1), MOST_CPUS) or 1)


def _memory_mib(log: _Log) -> float | None:
    """For one task: its share of the executor's heap and overhead; in local mode of the driver's."""
    if not log.executor_cores or not log.properties:
        return None
    heap = mib(log.properties.get(_heap_property(log)), "M") or HEAP_MIB
    overhead = mib(log.properties.get(f"{_heap_property(log)}Overhead"), "M")
    if overhead is None:
        overhead = 0.0 if _is_local(log) else max(OVERHEAD_MIB, _overhead_share(log) * heap)
    return (heap + overhead + _beside_heap_mib(log)) * _cpus(log) / log.executor_cores


def _overhead_share(log: _Log) -> float:
    """The overhead as a share of the heap, which holds unless the overhead itself is set."""
    names = (f"{_heap_property(log)}OverheadFactor", "spark.kubernetes.memoryOverheadFactor")
    found = [one for name in names if (one := number(log.properties.get(name))) is not None]
    is_python = bool(log.python) and str(log.properties.get("spark.master")).startswith("k8s")
    return found[0] if found else OVERHEAD_SHARE_OF_PYTHON if is_python else OVERHEAD_SHARE


def _beside_heap_mib(log: _Log) -> float:
    """What an executor requests beside its heap and overhead: memory off the heap, and of Python."""
    properties = log.properties
    off_heap = str(properties.get("spark.memory.offHeap.enabled")).lower() == "true"
    found = mib(properties.get("spark.memory.offHeap.size")) if off_heap else None
    python = None if _is_local(log) else mib(properties.get("spark.executor.pyspark.memory"), "M")
    return (found or 0.0) + (python or 0.0)


def _is_local(log: _Log) -> bool:
    return str(log.properties.get("spark.master", "")).startswith("local")


def _heap_property(log: _Log) -> str:
    return f"spark.{'driver' if _is_local(log) else 'executor'}.memory"


def _whole(values: Mapping[str, Any], key: str, default: int | None = None) -> int:
    """KeyError without the value and a default."""
    text = str(values[key] if default is None else values.get(key, default))
    if not text.isdecimal():
        raise ValueError(f"{key} is {text[:40]!r}, not a whole number")
    return int(text)


def _scaled(value: object, factor: float) -> float | None:
    found = number(value, 1e18)
    return None if found is None else found * factor


def _mib(value: object) -> float | None:
    return _scaled(value, 2.0**-20)
