"""The rate of a trial, and how much of the requested work its clients did, for each workload."""

from __future__ import annotations

from math import fsum
from typing import Any

from density_study.analysis import tables
from density_study.analysis.validity.rules import GC_BEARABLE
from density_study.jobs.first_look.record_rows import RecordRows, if_all, over
from density_study.jobs.raw.manifest_rows import Row
from density_study.workloads.pipeline.machine.files import CALL
from density_study.workloads.testdfsio.setting import READS
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE
from density_study.workloads.ycsb.output.summary import (
    COUNTS,
    GC_MEASURE,
    GC_TIME,
    RETURN,
    SUCCESSES,
)

MIB = 2.0**20


def ycsb_facts(rows: RecordRows) -> dict[str, Any]:
    """rate (ops/s), failed_operations, work_share, has_target, target_share, and how clients shared it."""
    runs = [_whole_run(rows, client) for client in rows.clients]
    shares = [
        _most(over(run["operations"], run["asked"]), over(run["run_s"], rows.trial["duration_s"]))
        for run in runs
    ]
    failed, done = if_all([run["failed"] for run in runs]), if_all(shares)
    rate = _ycsb_rate(rows, runs)
    # a search rejects probes because they miss their target; which one is the answer is not known yet
    # and a rate that changes with time is judged part by part, in the analysis
    no_fault_of_it = rows.trial["probe"] or rows.trial["fault"] or rows.trial.get("phase")
    target = None if no_fault_of_it else rows.trial["target_ops_s"]
    return {
        "rate": rate,
        "failed_operations": 0 if rows.trial["fault"] else None if failed is None else sum(failed),
        "work_share": None if done is None else min(1.0, *done),
        "has_target": target is not None,
        "target_share": over(rate, target),
        **_collections(runs),
        **_clients_facts(rows),
    }


def _clients_facts(rows: RecordRows) -> dict[str, Any]:
    """started_together, client_late_s, clients_overlap and client_lag, as `jobs.checks.client_facts`."""
    together = [client for client in rows.clients if client["begin_epoch_s"] is not None]
    if not together:
        return {"started_together": False}
    columns = ("client", "kind", "counted", "operations", "begun_s", "length_s")
    spans: dict[str, list[tuple[float, float]]] = {client["client"]: [] for client in together}
    for row in rows.of(tables.YCSB_HISTOGRAMS, *columns):
        if row["kind"] == "closed-loop" and row["counted"] is not None and row["operations"]:
            spans[row["client"]].append((row["begun_s"], row["begun_s"] + row["length_s"]))
    known = if_all(
        [(min(one)[0], max(until for _, until in one)) if one else None for one in spans.values()]
    )
    if known is None:
        return {
            "started_together": True,
            **dict.fromkeys(("client_late_s", "clients_overlap", "client_lag")),
        }
    begun, ended = zip(*known, strict=True)
    has_target = rows.trial["target_ops_s"] is not None
    rates = if_all(
        [
            over(_rate_after_ramp_up(rows, one["client"]), 1 if has_target else one["threads"])
            for one in together
        ]
    )
    return {
        "started_together": True,
        "client_late_s": max(
            abs(first_s - client["begin_epoch_s"])
            for first_s, client in zip(begun, together, strict=True)
        ),
        "clients_overlap": over(max(0.0, min(ended) - max(begun)), max(ended) - min(begun)),
        "client_lag": None if rates is None else over(min(rates), max(rates)),
    }


def _collections(runs: list[Row]) -> dict[str, float | None]:
    """client_gc_share and client_gc_noted, as `jobs.checks.ycsb_facts`."""
    share = _most(*(run["gc_share"] for run in runs))
    noted = share if share is not None and share <= GC_BEARABLE else None
    return {"client_gc_share": share, "client_gc_noted": noted}


def _most(*shares: float | None) -> float | None:
    """A run ends by count or by time: the larger share that is known."""
    return max((share for share in shares if share is not None), default=None)


def _ycsb_rate(rows: RecordRows, runs: list[Row]) -> float | None:
    """With a ramp-up from the intervals after it, else from the counts and the slowest client's run time."""
    if rows.trial["warm_up_s"] > 0:
        rates = [_rate_after_ramp_up(rows, run["client"]) for run in runs]
    else:
        longest_s = max((run["run_s"] or 0.0 for run in runs), default=0.0)
        rates = [over(run["succeeded"], longest_s) for run in runs]
    known = if_all(rates)
    return None if known is None else fsum(known)


def _rate_after_ramp_up(rows: RecordRows, client: str) -> float | None:
    columns = ("client", "kind", "measured", "counted", "begun_s", "length_s")
    intervals = [
        row
        for row in rows.of(tables.YCSB_HISTOGRAMS, *columns)
        if row["client"] == client and row["measured"] and row["kind"] == "closed-loop"
    ]
    if not intervals:
        return None
    end_s = max(row["begun_s"] + row["length_s"] for row in intervals)
    seconds = end_s - min(row["begun_s"] for row in intervals)
    return over(sum(row["counted"] for row in intervals), seconds)


def _whole_run(rows: RecordRows, client: Row) -> Row:
    """client, asked, run_s, operations, succeeded, failed, by its summary; None if that does not tell."""
    summary = [row for row in rows.of(tables.YCSB_SUMMARY) if row["client"] == client["client"]]
    run_ms = next((row["value"] for row in summary if row["measure"] == "RunTime"), None)
    returns = [
        (row["measure"].removeprefix(RETURN), row["value"])
        for row in summary
        if row["measure"].startswith(RETURN) and row["operation"] not in NOT_OF_USERS
    ]
    gc_ms = next((row["value"] for row in summary
                  if (row["operation"], row["measure"]) == (GC_TIME, GC_MEASURE)), None)  # fmt: skip
    # YCSB counts from the start of the JVM
    client_ms = (
        None if run_ms is None else run_ms + 1000.0 * (rows.trial["warm_up_client_s"] or 0.0)
    )
    run = {
        "client": client["client"],
        "gc_share": over(gc_ms, client_ms),
        "asked": client["operations_asked"],
        "run_s": over(run_ms, 1000.0),
        **dict.fromkeys(("operations", "succeeded", "failed")),
    }
    if not returns:
        return run
    # YCSB counts a read-modify-write three times: itself, its read and its update.
    twice = fsum(
        row["value"]
        for row in summary
        if row["operation"] == READ_MODIFY_WRITE and row["measure"] in COUNTS
    )
    returned = fsum(value for _, value in returns)
    good = fsum(value for status, value in returns if status in SUCCESSES)
    return run | {
        "operations": returned - twice,
        "succeeded": good - twice,
        "failed": returned - good,
    }


def dfsio_facts(rows: RecordRows) -> dict[str, Any]:
    """rate (MiB/s over the map phase), work_share, must_be_cold, cold_share, unwritten_share."""
    trial, parts = rows.trial, list(rows.of(tables.DFSIO_IO))
    moved, tasks = (sum(part[name] for part in parts) for name in ("bytes", "tasks"))
    done = if_all([over(tasks, trial["files"]), over(moved, trial["asked_bytes"])])
    return {
        "rate": over(moved / MIB, _map_phase_s(rows)) if parts else None,
        "work_share": min(1.0, *done) if parts and done else None,
        "must_be_cold": trial["mode"] in READS and trial["distinct_bytes_asked"] != 0,
        "cold_share": over(_physical_read_bytes(rows), trial["distinct_bytes_asked"]),
        "unwritten_share": over(trial["unwritten_bytes"], trial["physical_write_bytes"]),
    }


def pipeline_facts(rows: RecordRows) -> dict[str, Any]:
    """rate (genomes/h), work_share."""
    stages = list(rows.of(tables.PIPELINE_STAGES))
    done = sum(row["stage"] == CALL and row["exit_code"] == 0 for row in stages)
    return {
        "rate": over(3600.0 * done, rows.window_s) if stages else None,
        "work_share": over(done, rows.trial["genomes"]) if stages else None,
    }


def _map_phase_s(rows: RecordRows) -> float | None:
    """From the first start to the last end of the successful maps; None for a faulty job history."""
    jobs = list(rows.of(tables.MAPREDUCE_JOBS))
    maps = [row for row in rows.of(tables.MAP_ATTEMPTS) if row["status"] == "SUCCEEDED"]
    if len(jobs) != 1 or jobs[0]["problems"] or not maps:
        return None
    begin_s: float = min(row["start_epoch_s"] for row in maps)
    end_s: float = max(row["finish_epoch_s"] for row in maps)
    return end_s - begin_s


def _physical_read_bytes(rows: RecordRows) -> float | None:
    """The record's count, else dool's rate of all hosts times the window. Of a given cluster, dool watches
    the client's disks alone."""
    counted: int | None = rows.trial["physical_read_bytes"]
    if counted is not None or rows.trial["given"]:
        return counted
    rates = if_all([host["disk_read_bytes_s"] for host in rows.hosts])
    return None if rates is None or rows.window_s is None else fsum(rates) * rows.window_s
