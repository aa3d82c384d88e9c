"""All facts of a TeraSort trial, from the history of its job."""

from __future__ import annotations

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    MIB_S,
    Facts,
    Row,
    Rows,
    has_rates,
    metric,
    over,
    relative_error,
)
from density_study.workloads.terasort.tables import ROW_BYTES


def facts(rows: Rows) -> Facts:
    """throughput_sort, sort_time, both phases, sort_cpu and sort_spills, None if unknown. The rate's bytes
    are those of its rows; HDFS counted bytes itself, which is the check."""
    trial, jobs = rows.trial, rows.of("terasort_jobs")
    job: Row = jobs[0] if len(jobs) == 1 and jobs[0]["whole"] else {}
    asked_bytes, read = trial["asked_bytes"], job.get("rows_read")
    mib = None if asked_bytes is None else asked_bytes / MIB
    metrics: list[Row] = []
    if has_rates(trial):
        length_s = _between(job, "submit", "finish")
        cpu_s = None if job.get("cpu_ms") is None else job["cpu_ms"] / 1000
        metrics = [
            metric("throughput_sort", MIB_S, over(mib, length_s)),
            metric("sort_time", "s", length_s),
            metric("sort_map_phase", "s", _between(job, "first_map", "last_map")),
            metric("sort_reduce_phase", "s", _between(job, "last_map", "last_reduce")),
            metric("sort_cpu", "s/GiB", over(cpu_s, None if mib is None else mib / 1024)),
            metric("sort_spills", "count", over(job.get("rows_spilled"), read)),
        ]
    asked = None if asked_bytes is None else asked_bytes / ROW_BYTES
    share = over(job.get("rows_written"), asked)
    by_rows = None if read is None else read * ROW_BYTES
    return Facts(
        metrics,
        {
            "work_share": None if share is None else min(1.0, share),
            "rate_error": relative_error(job.get("hdfs_read_bytes"), by_rows),
            "must_be_cold": True,
        },
    )


def _between(job: Row, start: str, end: str) -> float | None:
    start_s, end_s = job.get(f"{start}_epoch_s"), job.get(f"{end}_epoch_s")
    return None if start_s is None or end_s is None else end_s - start_s
