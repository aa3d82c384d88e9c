"""Faults of a YCSB run, independent of its exit code: the client exits with 0 after many errors (method
9)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.ycsb.output.summary import (
    OperationCount,
    operation_counts,
    overall,
    parse_summary,
)
from density_study.workloads.ycsb.properties import client_name, loaded_rows, operations_at_most
from density_study.workloads.ycsb.test_case import YcsbTestCase

_LOST = re.compile(r"^hbase-client: (\d+) x INSERT (\S.*)$", re.MULTILINE)


def faults_of_all(folder: Path, test_case: YcsbTestCase) -> tuple[str, ...]:
    """The faults of all clients of the trial. With several clients, each fault names its client."""
    if test_case.clients == 1:
        return faults_of(folder, client_name(1), test_case)
    return tuple(
        f"{client_name(number)}: {fault}"
        for number in range(1, test_case.clients + 1)
        for fault in faults_of(folder, client_name(number), test_case, number)
    )


def faults_of(
    folder: Path, client: str, test_case: YcsbTestCase, number: int = 1
) -> tuple[str, ...]:
    """Faults as sentences; empty if client `number` completed every requested operation successfully.

    A read that finds no row is also a fault: the table was fully loaded.
    """
    path = folder / f"{client}.out"
    try:
        rows = parse_summary(path.read_bytes(), path.name).rows
    except ParseError as error:
        return (str(error),)
    if overall(rows) is None:
        return (f"{path.name}: no [OVERALL] lines: the client did not finish",)
    counts, at_most = operation_counts(rows), operations_at_most(test_case)
    faults = [_failures(count) for count in counts.values() if count.failed]
    if test_case.fault is not None:
        faults = []  # what it looks for: a result, not a fault of the trial
    if not counts:
        faults.append(f"{path.name}: no operation has a Return count")
    if test_case.is_load:
        requested = loaded_rows(test_case, number)[1]
        loaded = counts["INSERT"].ok if "INSERT" in counts else 0
        if loaded != requested:
            faults.append(f"{loaded} rows loaded, {requested} requested")
    # A timed run must end by time: one that ran out of operations is shorter than its duration.
    elif sum(count.ok + count.failed for count in counts.values()) >= at_most:
        faults.append(f"ran out of operations ({at_most}) before its time")
    return tuple(faults)


def unsent(errors: Path) -> Iterator[str]:
    """For a load in batches, from the client's error output: what failed after its last row was counted."""
    text = errors.read_text(encoding="utf-8", errors="replace")
    yield from (
        f"{found[1]} batches of rows were lost ({found[2]})" for found in _LOST.finditer(text)
    )


def _failures(count: OperationCount) -> str:
    returns = ", ".join(f"{name} {n}" for name, n in sorted(count.returns.items()))
    return f"{count.failed} of {count.ok + count.failed} {count.operation} failed ({returns})"
