"""Read a raw file into rows of tables with the pure parsers. Runs on Spark's executors.

A reader takes the bytes of a file and yields (table, row). Large files are read by columns instead
(`workloads.rows.file_tables`); tests compare the results with these readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from density_study.workloads import tables
from density_study.workloads.base.parsing import Parsed, ParseError
from density_study.workloads.base.reader import Reader
from density_study.workloads.monitors.daemons.events import EventRow
from density_study.workloads.monitors.daemons.flight import parse_jfr
from density_study.workloads.monitors.daemons.gc import parse_gc
from density_study.workloads.monitors.daemons.slow_log import parse_slow_log
from density_study.workloads.monitors.daemons.stalls import parse_stalls
from density_study.workloads.monitors.devices import devices, parse_device
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.monitors.nodecpu import parse_nodecpu
from density_study.workloads.monitors.sar import parse_sar
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from density_study.workloads.rows.raw.raw_files import RawFile, UnreadableError, content
from density_study.workloads.tables import Table
from density_study.workloads.testdfsio.output.history import JobHistory, parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.testdfsio.output.results import parse_results
from density_study.workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from density_study.workloads.ycsb.output.schedule import ScheduleRow, parse_schedule
from density_study.workloads.ycsb.output.status import parse_status
from density_study.workloads.ycsb.output.summary import SummaryRow, parse_summary

Rows = Iterator[tuple[Table, dict[str, Any]]]
RowsOf = Callable[[Any, RawFile], Rows]


def read(file: RawFile) -> Rows:
    """Every row of `file`, and a row of `quarantine` for each malformed line. A missing or rejected file is
    quarantined as line 0."""
    try:
        data = bytes_of(file)
        parse, rows_of = reader_of(file.kind)
        if file.facts.time_zone:
            parsed = LOCAL_TIMES[file.kind](data, file.file, file.facts.time_zone)
        else:
            parsed = parse(data, file.file)
    except (UnreadableError, ParseError) as error:
        yield tables.QUARANTINE, rejected_file_row(file, error)
        return
    for row in parsed.rows:
        for table, columns in rows_of(row, file):
            yield table, {"trial": file.trial, **columns}
    for bad in parsed.quarantined:
        yield tables.QUARANTINE, quarantined(file, bad.line, bad.reason, bad.text)


def bytes_of(file: RawFile) -> bytes:
    """The content of the file. UnreadableError for a missing or rejected file."""
    if file.fault:
        raise UnreadableError(file.fault)
    reader_of(file.kind)
    return content(file)


def reader_of(kind: str) -> Reader:
    """The reader of a kind of files. UnreadableError if neither this project nor a workload of another
    package has one."""
    if kind in READERS:
        return READERS[kind]
    from density_study.workloads.study.registry import kinds  # as in `every_table`

    for workload in kinds().values():
        if kind in workload.readers:
            return workload.readers[kind]
    raise UnreadableError(f"no reader for files of kind {kind!r}")


def rejected_file_row(file: RawFile, error: UnreadableError | ParseError) -> dict[str, Any]:
    """The quarantine row of a rejected file: line 0, or the line with the fault."""
    if isinstance(error, ParseError):
        return quarantined(file, error.line, error.reason, "")
    return quarantined(file, 0, str(error), "")


def quarantined(file: RawFile, line: int, reason: str, excerpt: str) -> dict[str, Any]:
    """A row of `quarantine`."""
    return {
        "trial": file.trial,
        "kind": file.kind,
        "file": file.file,
        "line": line,
        "reason": reason,
        "excerpt": excerpt,
    }


def _row(table: Table, parsed: Any, renamed: Mapping[str, str], **known: Any) -> dict[str, Any]:
    """Columns of `table` from the fields of a parsed row, by the same name, or as in `renamed`."""
    names = {column: renamed.get(column, column) for column in table.column_names}
    fields = {
        column: getattr(parsed, name) for column, name in names.items() if hasattr(parsed, name)
    }
    return {**fields, **known}


def _one_table(table: Table, subject: str, **renamed: str) -> RowsOf:
    """Rows of one table. subject: the column with the host, client or file that the rows belong to."""

    def rows(parsed: Any, file: RawFile) -> Rows:
        belongs_to = file.file if subject == "file" else file.subject
        yield table, _row(table, parsed, renamed, **{subject: belongs_to} if subject else {})

    return rows


def _event(row: EventRow, file: RawFile) -> Rows:
    """A round is a sample without values; an event is a row of its own, if the trial has a window."""
    about = {"host": file.subject, "device": file.kind, "source": row.source, "line": row.line}
    if row.event is None:
        yield (tables.DEVICE_SAMPLES, {**about, "epoch_s": row.epoch_s, "names": [], "values": []})
    elif file.facts.window is not None:
        begun_s, ended_s = file.facts.window
        if row.event.duration_ms is None:
            since_s, until_s = begun_s, ended_s
        else:
            ended = np.array([row.event.end_epoch_s])
            (since_s,), (until_s,) = file.facts.events_s(ended, row.event.duration_ms / 1000)
        if file.facts.turns and until_s <= since_s:
            return
        times = {"start_s": float(since_s - begun_s), "end_s": float(until_s - begun_s)}
        what = {"kind": row.event.kind, "what": row.event.what}
        yield tables.DEVICE_EVENTS, {**about, **times, **what}


def _job(job: JobHistory, _: RawFile) -> Rows:
    columns = {"job": "job_id", "maps": "total_maps"}
    times = _seconds(job, "submit", "launch", "finish")
    problems = list(job.problems)
    yield (
        tables.MAPREDUCE_JOBS,
        _row(tables.MAPREDUCE_JOBS, job, columns, **times, problems=problems),
    )
    columns = {"attempt": "attempt_id", "node": "host"}
    for attempt in job.attempts:
        if attempt.kind == "map":
            times = _seconds(attempt, "start", "finish")
            row = _row(tables.MAP_ATTEMPTS, attempt, columns, **times, job=job.job_id)
            yield tables.MAP_ATTEMPTS, row


def _seconds(parsed: Any, *events: str) -> dict[str, float | None]:
    """Times of events in seconds, from fields in milliseconds."""
    times = {event: getattr(parsed, f"{event}_epoch_ms") for event in events}
    return {
        f"{event}_epoch_s": None if time_ms is None else time_ms / 1000
        for event, time_ms in times.items()
    }


def _summary(row: SummaryRow, file: RawFile) -> Rows:
    named = row.measurement
    known = {"operation": named.operation, "intended": named.intended, "outcome": named.outcome}
    yield (tables.YCSB_SUMMARY, _row(tables.YCSB_SUMMARY, row, {}, client=file.subject, **known))


def _interval(row: IntervalRow, file: RawFile) -> Rows:
    counts = row.histogram().counts
    lists = {"value_us": [value for value, _ in counts], "counts": [count for _, count in counts]}
    yield tables.YCSB_HISTOGRAMS, {**interval(row, file), **lists}


def _asked(row: ScheduleRow, file: RawFile) -> Rows:
    begun_s = file.facts.moment_s(row.epoch_s)
    known = {"client": file.subject, "second": row.line - 2, "begun_s": begun_s}
    yield tables.YCSB_SCHEDULE, _row(tables.YCSB_SCHEDULE, row, {}, **known)


def interval(row: IntervalRow, file: RawFile) -> dict[str, Any]:
    """The row of an interval, without its histogram."""
    return _row(
        tables.YCSB_HISTOGRAMS,
        row,
        {},
        client=file.subject,
        file=file.file,
        operation=row.measurement.operation,
        outcome=row.measurement.outcome,
        kind="intended" if row.intended else "closed-loop",
    )


# Parsers of monitors whose files may have local times; the third argument is their time zone.
LOCAL_TIMES: Mapping[str, Callable[[bytes, str, str], Parsed[Any]]] = MappingProxyType(
    {"dool": parse_dool, "sar": parse_sar}
)
# For each kind of file: its parser, and the rows of tables that a parsed row makes.
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "dool": Reader(parse_dool, _one_table(tables.HOST_SAMPLES, "host")),
        "sar": Reader(parse_sar, _one_table(tables.HOST_SAMPLES, "host")),
        "nodecpu": Reader(parse_nodecpu, _one_table(tables.NODE_CPU_SAMPLES, "host")),
        **{
            name: Reader(parse_device, _one_table(tables.DEVICE_SAMPLES, "host"))
            for name in devices()
        },
        "gc": Reader(parse_gc, _event),
        "stalls": Reader(parse_stalls, _event),
        "slowlog": Reader(parse_slow_log, _event),
        "jfr": Reader(parse_jfr, _event),
        "profile": Reader(parse_device, _one_table(tables.DEVICE_SAMPLES, "host")),
        "dfsio-results": Reader(
            parse_results,
            _one_table(
                tables.DFSIO_RESULTS,
                "",
                processed_mib="total_mib",
                average_rate_mib_s="average_io_rate_mib_s",
                rate_deviation_mib_s="io_rate_stddev",
                test_s="exec_time_s",
            ),
        ),
        "dfsio-io": Reader(
            parse_io_part,
            _one_table(
                tables.DFSIO_IO,
                "file",
                bytes="size_bytes",
                task_ms="time_ms",
                rate_sum="rate",
                rate_square_sum="sqrate",
            ),
        ),
        "dfsio-history": Reader(parse_history, _job),
        "ycsb-summary": Reader(parse_summary, _summary),
        "ycsb-status": Reader(parse_status, _one_table(tables.YCSB_STATUS, "client")),
        "ycsb-hdr": Reader(parse_hdr, _interval),
        "ycsb-schedule": Reader(parse_schedule, _asked),
        "pipeline-stages": Reader(parse_stages, _one_table(tables.PIPELINE_STAGES, "client")),
        "pipeline-answers": Reader(parse_answers, _one_table(tables.PIPELINE_ANSWERS, "client")),
    }
)
