"""Reads Nextflow's trace.txt: the tasks that were completed, and what the trace says of the others.

Tab-separated; durations as `1h 2m 3s` or milliseconds, sizes as `1.2 GB` (of 1024, unlike in points.csv) or
bytes. `-`, an empty cell, and a counter that is zero where it cannot be are unknown, never zero.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from density_study.analysis.capacity.inputs.points import grouped
from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.foreign import foreign

NEEDED = ("name", "status", "realtime", "%cpu")
DONE = ("COMPLETED", "CACHED")  # CACHED: done by an earlier run that was resumed
RUNNING = ("NEW", "SUBMITTED", "RUNNING")
DURATION_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
SIZE_MIB = {"B": 2.0**-20, "KB": 2.0**-10, "MB": 1.0, "GB": 2.0**10, "TB": 2.0**20}
NAME = re.compile(r"(?P<process>[^(]+?)\s*(?:\((?P<tag>.*)\))?")
MOST_CPUS = 10_000  # of a task; more is damage
MOST = 1e12  # s, MiB, or epoch s
UNKNOWN = ("", "-")


@dataclass(frozen=True)
class Task:
    """One line of a trace. process: with its subworkflows, `A:SAMTOOLS:SORT`. None: not in the trace."""

    process: str
    tag: str
    status: str
    realtime_s: float | None
    cpu_cores: float | None
    cpus: int
    rss_mib: float | None
    read_mib: float | None
    write_mib: float | None
    submit_s: float | None
    end_s: float | None


@dataclass(frozen=True)
class Trace:
    """tasks: those completed. left_out: in words, what else there was."""

    tasks: tuple[Task, ...]
    left_out: tuple[str, ...] = ()


def read_trace(path: Path) -> Trace:
    """InputError if the file cannot be read, or is no trace."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the trace cannot be read: {error}.", str(path), "name a trace.txt, in UTF-8."
        ) from error
    return parse_trace(text, str(path))


def parse_trace(text: str, where: str) -> Trace:
    """InputError, with the line, if the text is not a trace."""
    rows = csv.DictReader(StringIO(text.removeprefix("\ufeff")), delimiter="\t")
    try:
        tasks = list(_tasks(rows, text, where))
    except csv.Error as error:
        raise InputError(
            f"the file is not a table: {error}.", where, "give the file as Nextflow wrote it."
        ) from error
    done = [task for task in tasks if task.status in DONE and task.realtime_s is not None]
    if not done:
        raise InputError(
            "no task of the trace was completed.", where, "give a trace of a whole run."
        )
    by_process = grouped(done, lambda task: task.process)
    # Where no task of a process used a core at all, nobody read the counters: a container may lack `ps`.
    blind = {name for name, same in by_process.items() if not any(one.cpu_cores for one in same)}
    seen = tuple(_unread(task) if task.process in blind else task for task in done)
    return Trace(seen, tuple(_left_out(tasks, done)))


def _unread(task: Task) -> Task:
    """Without counters that are zero because nobody read them."""
    read_mib, write_mib = task.read_mib or None, task.write_mib or None
    return replace(task, cpu_cores=None, read_mib=read_mib, write_mib=write_mib)


def _tasks(rows: csv.DictReader[str], text: str, where: str) -> Iterator[Task]:
    names = rows.fieldnames or ()
    # a trace may have the parts of the name in two columns
    needed = [name for name in NEEDED if name != "name" or not {"process", "tag"} <= set(names)]
    if missing := [name for name in needed if name not in names]:
        other = foreign(text.encode("utf-8", "replace"))
        if other is not None and not other.name.startswith("a trace of"):
            raise InputError(
                f"this is {other.name}, not a trace of Nextflow.", where, f"{other.advice}."
            )
        raise InputError(
            f"the field {missing[0]!r} is missing.",
            where,
            "trace with fields name, status, realtime, %cpu, peak_rss, rchar, wchar at least.",
        )
    for row in rows:
        try:
            if None in row or None in row.values():
                raise ValueError(f"it has not the {len(names)} cells of the header")
            yield _task(row)
        except (ValueError, KeyError, OverflowError) as error:
            raise InputError(
                f"the line cannot be parsed: {error}.",
                f"{where}, line {rows.line_num}",
                "give the file as Nextflow wrote it.",
            ) from error


def _task(row: Mapping[str, Any]) -> Task:
    name = row["name"] if "name" in row else f"{row['process']} ({row['tag']})"
    match = NAME.fullmatch(name.strip())
    if match is None:
        raise ValueError(f"name {name!r}")
    cores = _percent(row["%cpu"])
    given = row.get("cpus") or "-"
    cpus = max(1, math.ceil((cores or 1.0) - 0.1)) if given in UNKNOWN else int(given)
    if not 1 <= cpus <= MOST_CPUS:
        raise ValueError(f"{cpus} CPUs")
    submit_s = _epoch_s(row.get("submit"))
    duration = row.get("duration") or "-"
    end_s = None if submit_s is None or duration == "-" else submit_s + _duration_s(duration)
    return Task(
        process=match["process"],
        tag=(match["tag"] or "").removeprefix("-"),
        status=row["status"].strip(),
        realtime_s=None if row["realtime"].strip() in UNKNOWN else _duration_s(row["realtime"]),
        cpu_cores=cores,
        cpus=cpus,
        # until release 18.10, traces had no peak
        rss_mib=_mib(row.get("peak_rss", row.get("rss"))) or None,
        # read_bytes came from a disk; rchar counts reads from the page cache, too (proc(5))
        read_mib=_mib(row.get("read_bytes") or row.get("rchar")),
        write_mib=_mib(row.get("write_bytes") or row.get("wchar")),
        submit_s=submit_s,
        end_s=end_s,
    )


def _left_out(tasks: Iterable[Task], done: Iterable[Task]) -> Iterator[str]:
    """What of the trace is in no number, in words."""
    tasks = list(tasks)
    kept = {id(task) for task in done}
    others = [task for task in tasks if id(task) not in kept]
    unfinished = [task for task in others if task.status in RUNNING]
    if unfinished:
        yield (
            f"{_numbered(len(unfinished), 'task')} had not ended ({_statuses(unfinished)}): the trace is not "
            "of a whole run"
        )
    lost = [task for task in others if task.status not in (*RUNNING, *DONE)]
    if lost:
        work = [(task.realtime_s or 0.0) * (task.cpu_cores or 0.0) / 3600 for task in lost]
        yield (
            f"{_numbered(len(lost), 'task')} did not succeed ({_statuses(lost)}), and {sum(work):.4g} "
            "core-hours of work were lost; they are in no number"
        )
    without = [task for task in others if task.status in DONE]
    if without:
        yield f"{_numbered(len(without), 'completed task')} without a realtime: in no number"
    finished = {task.process for task in done}
    for process in dict.fromkeys(task.process for task in others):
        if process not in finished:
            yield f"process {process}: none of its tasks was completed, so it is no stage"


def _numbered(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _statuses(tasks: Iterable[Task]) -> str:
    counts = Counter(task.status for task in tasks)
    return ", ".join(f"{count} {status}" for status, count in counts.items())


def _percent(text: str) -> float | None:
    """Busy cores. 100 % is one."""
    if text.strip() in UNKNOWN:
        return None
    cores = float(text.strip().removesuffix("%")) / 100
    if not 0 <= cores <= MOST_CPUS:
        raise ValueError(f"%cpu {text!r}")
    return cores


def _duration_s(text: str) -> float:
    if re.fullmatch(r"\d+", text.strip()):
        return _bounded(float(text) / 1e3, text)
    parts = re.findall(r"([0-9.]+)\s*(ms|[dhms])", text)
    if not parts or re.sub(r"[0-9.]+\s*(ms|[dhms])|\s", "", text):
        raise ValueError(f"duration {text!r}")
    return _bounded(sum(float(value) * DURATION_S[unit] for value, unit in parts), text)


def _mib(text: str | None) -> float | None:
    if text is None or text.strip() in ("", "-"):
        return None
    match = re.fullmatch(r"([0-9.]+)\s*([KMGT]?B)?", text.strip())
    if match is None:
        raise ValueError(f"size {text!r}")
    return _bounded(float(match[1]) * SIZE_MIB[match[2] or "B"], text)


def _bounded(value: float, text: str) -> float:
    """`value` in s or MiB; ValueError for more than any task can take."""
    if not value <= MOST:
        raise ValueError(f"number too large: {text[:40]!r}")
    return value


def _epoch_s(text: str | None) -> float | None:
    if text is None or text.strip() in ("", "-"):
        return None
    if text.strip().isdigit():
        return _bounded(float(text) / 1e3, text)
    return datetime.fromisoformat(text.strip()).timestamp()
