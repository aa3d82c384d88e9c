"""What is wrong with a YCSB run, whatever its exit code: many client errors end with 0 (method 9)."""

from __future__ import annotations

from pathlib import Path

from workloads.parsing import ParseError
from workloads.ycsb.properties import operations_at_most
from workloads.ycsb.setting import YcsbSetting
from workloads.ycsb.summary import OperationCount, operation_counts, overall, parse_summary


def faults_of(folder: Path, client: str, setting: YcsbSetting) -> tuple[str, ...]:
    """Faults in plain words; none if every operation asked was done and returned well.

    A row not found on a read is a fault too: the table was loaded whole.
    """
    path = folder / f"{client}.out"
    try:
        rows = parse_summary(path.read_bytes(), path.name).rows
    except ParseError as error:
        return (str(error),)
    if overall(rows) is None:
        return (f"{path.name}: no [OVERALL] lines: the client did not come to its end",)
    counts = operation_counts(rows)
    faults = [fault for count in counts.values() for fault in _count_faults(count)]
    if not counts:
        faults.append(f"{path.name}: no operation has a Return count")
    faults += (
        _load_faults(counts, setting) if setting.mix == "load" else _end_faults(counts, setting)
    )
    return tuple(faults)


def _count_faults(count: OperationCount) -> list[str]:
    if not count.failed:
        return []
    returns = ", ".join(f"{name} {n}" for name, n in sorted(count.returns.items()))
    return [f"{count.failed} of {count.ok + count.failed} {count.operation} failed ({returns})"]


def _load_faults(counts: dict[str, OperationCount], setting: YcsbSetting) -> list[str]:
    done = counts["INSERT"].ok if "INSERT" in counts else 0
    return [] if done == setting.records else [f"{done} rows loaded, {setting.records} asked"]


def _end_faults(counts: dict[str, OperationCount], setting: YcsbSetting) -> list[str]:
    """A timed run must end by time: one that ran out of operations measured less than it says."""
    done = sum(count.ok + count.failed for count in counts.values())
    most = operations_at_most(setting)
    return [] if done < most else [f"ran out of operations ({most}) before its time"]
