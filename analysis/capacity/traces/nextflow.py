"""Nextflow's trace.txt, of all releases since 0.30, as it is written by default or with `trace.raw`; and the
tasks that Seqera Platform has of a run (`tw runs dump`: workflow-tasks.json), with the fields of a raw trace.

Durations as `1h 2m 3s` or milliseconds, sizes as `1.2 GB` (of 1024) or bytes. `-`, an empty cell, and a
counter that is zero where it cannot be are unknown, never zero. (Nextflow's reference, "Trace file".)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from density_study.analysis.capacity.traces.amounts import (
    MOST_CPUS,
    cpus,
    epoch_s,
    is_local,
    known,
    mib,
    number,
    words_s,
)
from density_study.analysis.capacity.traces.source import Row, Source
from density_study.analysis.capacity.traces.task import NO_GPUS, Outcome, Record, Task
from density_study.cluster.state.plain_file import why_unread

NEEDED = ("name", "status", "realtime")
FIELDS = "name, status, realtime, %cpu, cpus, memory, accelerator, peak_rss, rchar, wchar, submit, duration"
OUTCOMES: dict[str, Outcome] = {
    "COMPLETED": "done",
    "CACHED": "done",  # an earlier run that was resumed did it; the row has its numbers
    "NEW": "running",
    "SUBMITTED": "running",
    "RUNNING": "running",
}
OF_SEQERA = {"pcpu": "%cpu", "peakRss": "peak_rss", "readBytes": "read_bytes", "writeBytes": "write_bytes",
             "nativeId": "native_id"}  # fmt: skip
NAME = re.compile(r"(?P<process>[^(]*[^(\s])\s*(?:\((?P<tag>.*)\))?")


def read(source: Source) -> Record:
    """InputError, with the line, if the file is not a trace."""
    tasks: list[Task] = []
    shows_gpus = False
    for line, row in _rows(source):
        shows_gpus = "accelerator" in row
        if not tasks:
            _check(source, row)
        try:
            tasks.append(_task(row))
        except (ValueError, OverflowError) as error:
            source.refuse(
                f"the line cannot be parsed: {why_unread(error)}.",
                "give the file as Nextflow wrote it.",
                line,
            )
    return Record(tuple(tasks), () if shows_gpus else (NO_GPUS,))


def _rows(source: Source) -> Iterator[tuple[int, Row]]:
    if source.start[:1] not in (b"[", b"{"):
        yield from source.table()
        return
    document = source.document()
    entries = document.get("tasks") if isinstance(document, dict) else document
    tasks = [_of_seqera(entry) for entry in entries] if isinstance(entries, list) else []
    names = dict.fromkeys((name for task in tasks for name in task), "")
    yield from ((place, {**names, **task}) for place, task in enumerate(tasks, start=1))


def _of_seqera(entry: Any) -> Mapping[str, str]:
    """A task by the names of a trace. Seqera's API has it within `task`, and omits what is unknown."""
    task = entry.get("task", entry) if isinstance(entry, dict) else {}
    pairs = task.items() if isinstance(task, dict) else ()
    return {
        OF_SEQERA.get(str(name), str(name)): str(value)
        for name, value in pairs
        if value is not None and not isinstance(value, list | dict)
    }


def _check(source: Source, row: Row) -> None:
    # a trace may have the parts of the name in two columns
    needed = [name for name in NEEDED if name != "name" or "process" not in row]
    missing = [name for name in needed if name not in row]
    if not missing and not {"%cpu", "cpus"} & row.keys():
        missing = ["%cpu"]
    if missing:
        source.refuse(f"the field {missing[0]!r} is missing.", f"trace with the fields {FIELDS}.")


def _task(row: Row) -> Task:
    name = row["name"] if "name" in row else f"{row['process']} ({row.get('tag', '')})"
    match = NAME.fullmatch(name.strip())
    if match is None:
        raise ValueError(f"name {name!r}")
    status = row["status"].upper()
    realtime_s = words_s(row["realtime"])
    cores = _cores(row.get("%cpu"))
    submit_s = epoch_s(row.get("submit"))
    duration_s = words_s(row.get("duration"))
    end_s = epoch_s(row.get("complete"))
    if end_s is None and submit_s is not None and duration_s is not None:
        end_s = submit_s + duration_s
    return Task(
        process=match["process"],
        tag=(match["tag"] or "").removeprefix("-"),
        outcome=OUTCOMES.get(status, "lost"),
        status=status,
        realtime_s=realtime_s,
        cpu_s=None if cores is None or realtime_s is None else cores * realtime_s,
        cpus=cpus(row.get("cpus")),
        # until release 18.10, traces had no peak
        rss_mib=mib(row.get("peak_rss", row.get("rss"))) or None,
        requested_mib=mib(row.get("memory")) or None,
        # read_bytes came from a disk; rchar counts reads from the page cache, too (proc(5))
        read_mib=mib(known(row.get("read_bytes")) or row.get("rchar")),
        write_mib=mib(known(row.get("write_bytes")) or row.get("wchar")),
        submit_s=submit_s,
        submit_is_local=is_local(row.get("submit")),
        start_s=epoch_s(row.get("start")) if known(row.get("complete")) else None,
        end_s=end_s,
        id=f"{run} {name}" if (run := known(row.get("hash"))) else None,
        uses_gpus=bool(number(row.get("accelerator"))),
        native_id=known(row.get("native_id")),
        is_copy=status == "CACHED",
    )


def _cores(text: str | None) -> float | None:
    """Busy cores. 100 % is one."""
    percent = known((text or "").removesuffix("%"))
    found = None if percent is None else number(percent, 100.0 * MOST_CPUS)
    return None if found is None else found / 100
