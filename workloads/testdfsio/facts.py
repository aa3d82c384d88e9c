"""All facts of a TestDFSIO trial.

A job has three rates (method 13): the mean per stream, over the map phase, and over the whole job; a write
has a fourth, to disk.

Records that others made may lack a job's reduce output and history, or a window. Only for these, the tool's
own rounded result replaces what is missing, except the map phase, which it does not contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    MIB_S,
    PERCENT,
    Facts,
    Row,
    Rows,
    has_rates,
    known,
    metric,
    over,
    relative_error,
)
from density_study.workloads.testdfsio.modes import READS, WRITES

AGREEING_MODES = ("random", "backward", "skip")


@dataclass(frozen=True)
class Work:
    """What the job did. task_ms: sum over its streams. reported_*: the tool's own result, of a record of
    others."""

    bytes: float | None = None
    tasks: int | None = None
    task_ms: int | None = None
    reported_job_s: float | None = None
    reported_per_stream: float | None = None


@dataclass(frozen=True)
class Phases:
    """job_s: submission to end. map_phase_s: first start to last end of the successful maps. concurrent_maps:
    maximum number of attempts running at one time."""

    job_s: float | None = None
    map_phase_s: float | None = None
    concurrent_maps: int | None = None


def facts(rows: Rows) -> Facts:
    """throughput_per_stream, throughput_map_phase, throughput_job (MiB/s) and concurrent_maps, None if
    unknown; of writes also rate_to_disk; of reads hdfs_read_* (percent of what DataNodes sent), where
    known."""
    trial, results = rows.trial, rows.of("dfsio_results")
    work = _work(trial, rows.of("dfsio_io"), results)
    phases = _phases(rows)
    mib = None if work.bytes is None else work.bytes / MIB
    # bytes over the sum of task times: the harmonic mean of the streams' rates, weighted by bytes
    by_tasks = over(mib, None if work.task_ms is None else work.task_ms / 1000.0)
    rated = has_rates(trial)
    metrics: list[Row] = []
    if rated:
        per_stream = work.reported_per_stream if by_tasks is None else by_tasks
        job_s = work.reported_job_s if phases.job_s is None else phases.job_s
        metrics = [
            metric("throughput_per_stream", MIB_S, per_stream),
            metric("throughput_map_phase", MIB_S, over(mib, phases.map_phase_s)),
            metric("throughput_job", MIB_S, over(mib, job_s)),
            metric("concurrent_maps", "count", phases.concurrent_maps),
            *_to_disk(trial, mib, phases.map_phase_s),
            *_by_distance(trial),
        ]
    reported = results[0]["throughput_mib_s"] if len(results) == 1 else None
    return Facts(
        metrics,
        {
            "work_share": _work_share(trial, work),
            # a rate that is the reported one cannot contradict it
            "rate_error": relative_error(reported, by_tasks if rated else None),
            # nothing, where HDFS's cache holds all of it
            "must_be_cold": trial["mode"] in READS and trial["distinct_bytes_asked"] != 0,
            "unwritten_share": over(trial["unwritten_bytes"], trial["physical_write_bytes"]),
        },
    )


def _work(trial: Row, parts: Sequence[Row], results: Sequence[Row]) -> Work:
    """By the job's reduce output; of a trial of others without it, by the tool's result."""
    sums = {name: _sum(part[name] for part in parts) for name in ("bytes", "tasks", "task_ms")}
    if not trial["imported"] or len(results) != 1:
        return Work(**sums)
    (result,) = results
    processed_mib = result["processed_mib"]
    reported = None if processed_mib is None else processed_mib * MIB
    return Work(
        bytes=reported if sums["bytes"] is None else sums["bytes"],
        tasks=result["files"] if sums["tasks"] is None else sums["tasks"],
        task_ms=sums["task_ms"],
        reported_job_s=result["test_s"],
        reported_per_stream=result["throughput_mib_s"] if sums["task_ms"] is None else None,
    )


def _sum(values: Iterable[int | None]) -> int | None:
    found = known(values)
    return sum(found) if found else None


def _work_share(trial: Row, work: Work) -> float | None:
    """-skip may stop early, without a message (method 16). The request of others may be unknown."""
    done, asked = over(work.bytes, trial["asked_bytes"]), trial["files"]
    if done is None or asked is None:
        return None
    return min(1.0, done, *known((over(work.tasks, asked),)))


def _phases(rows: Rows) -> Phases:
    """Unknown for a history with problems, because its map phase may be truncated."""
    jobs = rows.of("mapreduce_jobs")
    attempts = rows.of("map_attempts")
    done = [one for one in attempts if one["status"] == "SUCCEEDED"]
    if len(jobs) != 1 or jobs[0]["problems"] or not done:
        return Phases()
    (job,) = jobs
    starts = known(one["start_epoch_s"] for one in done)
    ends = known(one["finish_epoch_s"] for one in done)
    known_job = None not in (job["finish_epoch_s"], job["submit_epoch_s"])
    return Phases(
        job["finish_epoch_s"] - job["submit_epoch_s"] if known_job else None,
        max(ends) - min(starts) if starts and ends else None,
        _concurrency(attempts),
    )


def _concurrency(attempts: Iterable[Row]) -> int | None:
    """Sweep line over starts (+1) and ends (-1). At equal times ends come first, so that a map that starts
    when another ends does not overlap it."""
    changes = []
    for one in attempts:
        if one["finish_epoch_s"] is not None and one["start_epoch_s"] is not None:
            changes += [(one["start_epoch_s"], 1), (one["finish_epoch_s"], -1)]
    running = most = 0
    for _, by in sorted(changes):
        running += by
        most = max(most, running)
    return most if changes else None


def _to_disk(trial: Row, mib: float | None, map_phase_s: float | None) -> Iterator[Row]:
    """The seconds between the last map and the job's end count for nothing: pages were written meanwhile, but
    they are few."""
    if trial["mode"] in WRITES:
        whole = None not in (map_phase_s, trial["write_out_s"])
        seconds = map_phase_s + trial["write_out_s"] if whole else None
        yield metric("rate_to_disk", MIB_S, over(mib, seconds))


def _by_distance(trial: Row) -> Iterator[Row]:
    if trial["mode"] not in READS:
        return
    for where in ("local", "rack", "remote"):
        share = over(trial[f"read_{where}_bytes"], trial["read_sent_bytes"])
        if share is not None:
            percent = 100.0 * trial[f"read_{where}_bytes"] / trial["read_sent_bytes"]
            yield metric(f"hdfs_read_{where}", PERCENT, percent)


def access_spreads(trials: Iterable[Row], rates: dict[str, float | None]) -> dict[str, float]:
    """max / min - 1 over the random, backward and skip reads of one build with otherwise equal test cases
    (method 15), by trial; none with fewer than two of these modes. rates: per stream, by trial."""
    alike: dict[tuple[object, ...], list[tuple[str, str, float]]] = {}
    for trial in trials:
        rate = rates.get(trial["trial"])
        agrees = trial["workload"] == "testdfsio" and trial["mode"] in AGREEING_MODES
        if agrees and trial["state"] == "complete" and rate is not None:
            same = ("build", "files", "file_size_mib", "read_size_bytes", "readers",
                    "storage_policy", "erasure_coding")  # fmt: skip
            key = tuple(trial[name] for name in same)
            alike.setdefault(key, []).append((trial["trial"], trial["mode"], rate))
    return {
        trial: max(rate for *_, rate in group) / min(rate for *_, rate in group) - 1
        for group in alike.values()
        if len({mode for _, mode, _ in group}) > 1
        for trial, _, _ in group
    }
