"""Faults of a YCSB run, independent of its exit code: the client exits with 0 after many errors (method
9)."""

from __future__ import annotations

from pathlib import Path

from workloads.base.parsing import ParseError
from workloads.ycsb.output.summary import OperationCount, operation_counts, overall, parse_summary
from workloads.ycsb.properties import client_name, loaded_rows, operations_at_most
from workloads.ycsb.setting import YcsbSetting


def faults_of_all(folder: Path, setting: YcsbSetting) -> tuple[str, ...]:
    """The faults of all clients of the trial. With several clients, each fault names its client."""
    if setting.clients == 1:
        return faults_of(folder, client_name(1), setting)
    names = {n: client_name(n) for n in range(1, setting.clients + 1)}
    return tuple(
        f"{name}: {fault}"
        for number, name in names.items()
        for fault in faults_of(folder, name, setting, number)
    )


def faults_of(folder: Path, client: str, setting: YcsbSetting, number: int = 1) -> tuple[str, ...]:
    """Faults as sentences; empty if client `number` completed every requested operation successfully.

    A read that finds no row is a fault, too: the table was fully loaded.
    """
    path = folder / f"{client}.out"
    try:
        rows = parse_summary(path.read_bytes(), path.name).rows
    except ParseError as error:
        return (str(error),)
    if overall(rows) is None:
        return (f"{path.name}: no [OVERALL] lines: the client did not finish",)
    counts = operation_counts(rows)
    faults = [fault for count in counts.values() for fault in _count_faults(count)]
    if not counts:
        faults.append(f"{path.name}: no operation has a Return count")
    faults += (
        _load_faults(counts, loaded_rows(setting, number)[1])
        if setting.is_load
        else _end_faults(counts, setting)
    )
    return tuple(faults)


def _count_faults(count: OperationCount) -> list[str]:
    if not count.failed:
        return []
    returns = ", ".join(f"{name} {n}" for name, n in sorted(count.returns.items()))
    return [f"{count.failed} of {count.ok + count.failed} {count.operation} failed ({returns})"]


def _load_faults(counts: dict[str, OperationCount], asked: int) -> list[str]:
    done = counts["INSERT"].ok if "INSERT" in counts else 0
    return [] if done == asked else [f"{done} rows loaded, {asked} asked"]


def _end_faults(counts: dict[str, OperationCount], setting: YcsbSetting) -> list[str]:
    """A timed run must end by time: one that ran out of operations is shorter than its duration."""
    done = sum(count.ok + count.failed for count in counts.values())
    limit = operations_at_most(setting)
    return [] if done < limit else [f"ran out of operations ({limit}) before its time"]
