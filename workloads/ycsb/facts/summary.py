"""What YCSB's summaries show: operations, failures, run time, and garbage collection (method 9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from density_study.workloads.base.rows import (
    Row,
    Rows,
    if_all,
    known,
    largest,
    over,
    relative_error,
)
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE
from density_study.workloads.ycsb.output.summary import (
    COUNTS,
    GC_MEASURE,
    RETURN,
    SUCCESSES,
    stood_still,
)


@dataclass(frozen=True)
class WholeRun:
    """One client's whole run, ramp-up included. operations: those of users. failed: Return other than OK.
    None: its summary does not have them."""

    run_s: float | None = None
    overall_ops_s: float | None = None
    operations: float | None = None
    succeeded: float | None = None
    failed: float | None = None
    gc_s: float | None = None


def whole_runs(rows: Rows) -> Mapping[str, WholeRun]:
    """The whole run of each client, in the order of the trial's clients."""
    printed: dict[str, list[Row]] = defaultdict(list)
    for row in rows.of("ycsb_summary"):
        printed[row["client"]].append(row)
    return {one["client"]: _whole_run(printed[one["client"]]) for one in rows.of("clients")}


def _whole_run(summary: Sequence[Row]) -> WholeRun:
    run_ms = _printed(summary, "OVERALL", "RunTime")
    gc_ms = stood_still(
        {
            row["operation"]: row["value"]
            for row in summary
            if row["measure"] == GC_MEASURE and row["value"] is not None
        }
    )
    returns = [
        (row["measure"].removeprefix(RETURN), row["value"])
        for row in summary
        if row["measure"].startswith(RETURN) and row["operation"] not in NOT_OF_USERS
    ]
    run = {
        "run_s": None if run_ms is None else run_ms / 1000.0,
        "overall_ops_s": _printed(summary, "OVERALL", "Throughput"),
        "gc_s": None if gc_ms is None else gc_ms / 1000.0,
    }
    counts = if_all(value for _, value in returns)
    if counts is None:
        return WholeRun(**run)
    # YCSB counts a read-modify-write three times: itself, its read and its update.
    twice = fsum(
        row["value"]
        for row in summary
        if row["operation"] == READ_MODIFY_WRITE and row["measure"] in COUNTS and row["value"]
    )
    returned = fsum(counts)
    good = fsum(value for status, value in returns if status in SUCCESSES)
    return WholeRun(
        **run, operations=returned - twice, succeeded=good - twice, failed=returned - good
    )


def _printed(summary: Sequence[Row], operation: str, measure: str) -> float | None:
    values = [
        row["value"]
        for row in summary
        if (row["operation"], row["measure"]) == (operation, measure)
    ]
    return max(known(values), default=None)


def work_checks(rows: Rows, runs: Mapping[str, WholeRun]) -> Row:
    """failed_operations, work_share, rate_error and client_gc_share, over all clients; None if a client
    reported nothing."""
    trial, asked = (
        rows.trial,
        {one["client"]: one["operations_asked"] for one in rows.of("clients")},
    )
    warm_up_s, rested_s = (trial[name] or 0.0 for name in ("warm_up_client_s", "rested_s"))
    shares, errors, collecting = [], [], []
    for client, run in runs.items():
        own_s = None if run.run_s is None else run.run_s - rested_s
        # a run ends by count or by time
        ways = known((over(run.operations, asked[client]), over(own_s, trial["duration_s"])))
        shares.append(max(ways, default=None))
        whole = None not in (run.overall_ops_s, run.run_s)
        done = run.overall_ops_s * run.run_s if whole else None  # type: ignore[operator]
        errors.append(relative_error(done, run.operations))
        # YCSB counts from the start of the JVM
        collecting.append(over(run.gc_s, None if own_s is None else own_s + warm_up_s))
    failed, done_shares = if_all(run.failed for run in runs.values()), if_all(shares)
    return {
        "failed_operations": None if failed is None else int(sum(failed)),
        "work_share": None if done_shares is None else min(1.0, *done_shares),
        "rate_error": largest(errors),
        "client_gc_share": max(known(collecting), default=None),
    }
