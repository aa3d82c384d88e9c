"""`terasort_jobs`: what the history of a sort says of the job. Standard library only: Spark's executors load
this module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from density_study.workloads.base.reader import ReadFile
from density_study.workloads.tables import TERASORT_JOBS, Table
from density_study.workloads.testdfsio.output.history import Attempt, JobHistory

ROW_BYTES = 100
_COUNTERS = {
    "rows_read": "TaskCounter.MAP_INPUT_RECORDS",
    "rows_written": "TaskCounter.REDUCE_OUTPUT_RECORDS",
    "rows_spilled": "TaskCounter.SPILLED_RECORDS",
    "hdfs_read_bytes": "FileSystemCounter.HDFS_BYTES_READ",
    "cpu_ms": "TaskCounter.CPU_MILLISECONDS",
}


def job_rows(job: JobHistory, _: ReadFile) -> Iterator[tuple[Table, dict[str, Any]]]:
    maps = job.maps
    reduces = [one for one in job.attempts if one.kind == "reduce" and one.status == "SUCCEEDED"]
    times_ms = {
        "submit": job.submit_epoch_ms,
        "finish": job.finish_epoch_ms,
        "first_map": min((one.start_epoch_ms for one in maps), default=None),
        "last_map": _last_end_ms(maps),
        "last_reduce": _last_end_ms(reduces),
    }
    yield (
        TERASORT_JOBS,
        {
            "job": job.job_id,
            "status": job.status,
            "whole": not job.problems,
            **{
                f"{name}_epoch_s": None if time_ms is None else time_ms / 1000
                for name, time_ms in times_ms.items()
            },
            **{column: job.counters.get(name) for column, name in _COUNTERS.items()},
        },
    )


def _last_end_ms(attempts: list[Attempt] | tuple[Attempt, ...]) -> int | None:
    return max((one.finish_epoch_ms for one in attempts if one.finish_epoch_ms), default=None)
