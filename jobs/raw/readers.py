"""Read a raw file into rows of tables with the pure parsers. Runs on Spark's executors.

A reader takes the bytes of a file and yields (table, row). Large files are read by columns instead
(`jobs.ingest.file_tables`); tests compare the results with these readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from analysis import tables
from analysis.tables import Table
from jobs.raw.raw_files import RawFile, UnreadableError, content
from workloads.base.parsing import Parsed, ParseError
from workloads.monitors.dool import parse_dool
from workloads.monitors.dool_cells import HostSample
from workloads.monitors.nodecpu import NodeCpuSample, parse_nodecpu
from workloads.testdfsio.output.history import JobHistory, parse_history
from workloads.testdfsio.output.io_parts import IoTotals, parse_io_part
from workloads.testdfsio.output.results import DfsioResult, parse_results
from workloads.ycsb.output.interval_log import IntervalRow, parse_hdr
from workloads.ycsb.output.status import StatusRow, parse_status
from workloads.ycsb.output.summary import SummaryRow, parse_summary

Rows = Iterator[tuple[Table, dict[str, Any]]]


def read(file: RawFile) -> Rows:
    """Every row of `file`, and a row of `quarantine` for each malformed line. A missing or rejected file is
    quarantined as line 0."""
    try:
        parsed, rows = READERS[file.kind](bytes_of(file), file)
    except (UnreadableError, ParseError) as error:
        yield tables.QUARANTINE, rejected_file_row(file, error)
        return
    for table, row in rows:
        yield table, {"trial": file.trial, **row}
    for bad in parsed.quarantined:
        yield tables.QUARANTINE, quarantined(file, bad.line, bad.reason, bad.text)


def bytes_of(file: RawFile) -> bytes:
    """The content of the file. UnreadableError for a missing or rejected file."""
    if file.fault:
        raise UnreadableError(file.fault)
    if file.kind not in READERS:
        raise UnreadableError(f"no reader for files of kind {file.kind!r}")
    return content(file)


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


def _dool(data: bytes, file: RawFile) -> tuple[Parsed[HostSample], Rows]:
    parsed = parse_dool(data, file.file)
    return parsed, (
        (tables.HOST_SAMPLES, _declared(tables.HOST_SAMPLES, row, host=file.subject))
        for row in parsed.rows
    )


def _nodecpu(data: bytes, file: RawFile) -> tuple[Parsed[NodeCpuSample], Rows]:
    parsed = parse_nodecpu(data, file.file)
    return parsed, (
        (tables.NODE_CPU_SAMPLES, _declared(tables.NODE_CPU_SAMPLES, row, host=file.subject))
        for row in parsed.rows
    )


def _declared(table: Table, row: Any, **known: str) -> dict[str, Any]:
    """The fields of a parsed row that the table declares under the same name."""
    fields = {name: getattr(row, name) for name in table.column_names if hasattr(row, name)}
    return {**fields, **known}


def _results(data: bytes, file: RawFile) -> tuple[Parsed[DfsioResult], Rows]:
    parsed = parse_results(data, file.file)
    return parsed, (
        (
            tables.DFSIO_RESULTS,
            {
                "line": row.line,
                "mode": row.mode,
                "files": row.files,
                "processed_mib": row.total_mib,
                "throughput_mib_s": row.throughput_mib_s,
                "average_rate_mib_s": row.average_io_rate_mib_s,
                "rate_deviation_mib_s": row.io_rate_stddev,
                "test_s": row.exec_time_s,
            },
        )
        for row in parsed.rows
    )


def _io(data: bytes, file: RawFile) -> tuple[Parsed[IoTotals], Rows]:
    parsed = parse_io_part(data, file.file)
    return parsed, (
        (
            tables.DFSIO_IO,
            {
                "file": file.file,
                "tasks": row.tasks,
                "bytes": row.size_bytes,
                "task_ms": row.time_ms,
                "rate_sum": row.rate,
                "rate_square_sum": row.sqrate,
            },
        )
        for row in parsed.rows
    )


def _history(data: bytes, file: RawFile) -> tuple[Parsed[JobHistory], Rows]:
    parsed = parse_history(data, file.file)
    return parsed, (row for job in parsed.rows for row in _job(job))


def _job(job: JobHistory) -> Rows:
    yield (
        tables.MAPREDUCE_JOBS,
        {
            "job": job.job_id,
            "status": job.status,
            "submit_epoch_s": _seconds(job.submit_epoch_ms),
            "launch_epoch_s": _seconds(job.launch_epoch_ms),
            "finish_epoch_s": _seconds(job.finish_epoch_ms),
            "maps": job.total_maps,
            "problems": list(job.problems),
        },
    )
    for attempt in job.attempts:
        if attempt.kind == "map":
            yield (
                tables.MAP_ATTEMPTS,
                {
                    "job": job.job_id,
                    "attempt": attempt.attempt_id,
                    "status": attempt.status,
                    "node": attempt.host,
                    "start_epoch_s": _seconds(attempt.start_epoch_ms),
                    "finish_epoch_s": _seconds(attempt.finish_epoch_ms),
                },
            )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _summary(data: bytes, file: RawFile) -> tuple[Parsed[SummaryRow], Rows]:
    parsed = parse_summary(data, file.file)
    return parsed, (
        (
            tables.YCSB_SUMMARY,
            {
                **_declared(tables.YCSB_SUMMARY, row, client=file.subject),
                "operation": row.measurement.operation,
                "intended": row.measurement.intended,
                "outcome": row.measurement.outcome,
            },
        )
        for row in parsed.rows
    )


def _status(data: bytes, file: RawFile) -> tuple[Parsed[StatusRow], Rows]:
    parsed = parse_status(data, file.file)
    return parsed, (
        (
            tables.YCSB_STATUS,
            {
                "client": file.subject,
                "line": row.line,
                "elapsed_s": float(row.elapsed_s),
                "operations": row.operations,
                "current_ops_s": row.current_ops_s,
            },
        )
        for row in parsed.rows
    )


def _hdr(data: bytes, file: RawFile) -> tuple[Parsed[IntervalRow], Rows]:
    parsed = parse_hdr(data, file.file)
    return parsed, ((tables.YCSB_HISTOGRAMS, _with_counts(row, file)) for row in parsed.rows)


def _with_counts(row: IntervalRow, file: RawFile) -> dict[str, Any]:
    counts = row.histogram().counts
    return {
        **interval(row, file),
        "value_us": [value_us for value_us, _ in counts],
        "counts": [count for _, count in counts],
    }


def interval(row: IntervalRow, file: RawFile) -> dict[str, Any]:
    """The row of an interval, without its histogram."""
    return {
        "client": file.subject,
        "file": file.file,
        "line": row.line,
        "operation": row.measurement.operation,
        "outcome": row.measurement.outcome,
        "kind": "intended" if row.intended else "closed-loop",
        "start_epoch_s": row.start_epoch_s,
        "length_s": row.length_s,
        "operations": row.operations,
    }


Reader = Callable[[bytes, RawFile], tuple[Parsed[Any], Rows]]
READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "dool": _dool,
        "nodecpu": _nodecpu,
        "dfsio-results": _results,
        "dfsio-io": _io,
        "dfsio-history": _history,
        "ycsb-summary": _summary,
        "ycsb-status": _status,
        "ycsb-hdr": _hdr,
    }
)
