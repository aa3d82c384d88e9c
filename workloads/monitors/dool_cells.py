"""`HostSample`: a row of dool, dstat or pcp-dstat in fixed units, and the conversion of its cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from density_study.workloads.base.parsing import RejectedError, decimal
from density_study.workloads.monitors.dool_header import Key, Units

_MISSED = re.compile(r"missed ([0-9]{1,6}) ticks")
TOTAL_CPU = ("total cpu usage", "total usage")  # dstat and dool; pcp-dstat
CPU_PARTS = ("usr", "sys", "idl", "wai", "stl", "hiq", "siq")
CPU_SUM_TOLERANCE = 1.0  # points
# Column of each share of HostSample.
CPU = {
    "cpu_user": "usr", "cpu_system": "sys", "cpu_idle": "idl", "cpu_iowait": "wai", "cpu_steal": "stl",
}  # fmt: skip
# Section, column and unit of HostSample's other values.
VALUES: Mapping[str, tuple[Key, str]] = {
    "disk_read_bytes_s": (("dsk/total", "read"), "disk"),
    "disk_write_bytes_s": (("dsk/total", "writ"), "disk"),
    "disk_read_ops_s": (("io/total", "read"), ""),
    "disk_write_ops_s": (("io/total", "writ"), ""),
    "net_receive_bytes_s": (("net/total", "recv"), "net"),
    "net_send_bytes_s": (("net/total", "send"), "net"),
    "memory_used_bytes": (("memory usage", "used"), "memory"),
    "memory_free_bytes": (("memory usage", "free"), "memory"),
    "memory_cached_bytes": (("memory usage", "cach"), "memory"),
    "memory_available_bytes": (("memory usage", "avai"), "memory"),
}


@dataclass(frozen=True)
class HostSample:
    """One row. A value is a mean over the period that ends at the row's time; None if the column is missing.

    epoch_s: None if the file has neither an epoch column nor a time in UTC; `time_text` then is the tool's
    local time. since_boot: the first row after a header is a mean since boot and not a sample.
    CPU is in percent of all cores together;
    `cpu_user` includes interrupts unless `cpu_irq` (dstat 0.7.2: hard + soft) is separate.
    """

    line: int
    epoch_s: float | None
    time_text: str | None
    since_boot: bool
    cpu_user: float | None = None
    cpu_system: float | None = None
    cpu_idle: float | None = None
    cpu_iowait: float | None = None
    cpu_steal: float | None = None
    cpu_irq: float | None = None
    disk_read_bytes_s: float | None = None
    disk_write_bytes_s: float | None = None
    disk_read_ops_s: float | None = None
    disk_write_ops_s: float | None = None
    net_receive_bytes_s: float | None = None
    net_send_bytes_s: float | None = None
    memory_used_bytes: float | None = None
    memory_free_bytes: float | None = None
    memory_buffered_bytes: float | None = None
    memory_cached_bytes: float | None = None
    memory_available_bytes: float | None = None

    @property
    def cpu_used(self) -> float | None:
        """100 - idle - iowait - steal (method 19); None without CPU columns."""
        if self.cpu_idle is None or self.cpu_iowait is None:
            return None
        return 100 - self.cpu_idle - self.cpu_iowait - (self.cpu_steal or 0.0)


def cells_of(text: str) -> list[str]:
    """The cells of a line of CSV. RejectedError for any other line."""
    try:
        return next(csv.reader([text], strict=True))
    except (csv.Error, StopIteration):
        raise RejectedError("not a line of CSV") from None


def without_missed(cells: list[str]) -> list[str]:
    """The cells without dool's final remark about missed ticks."""
    return cells[:-1] if _MISSED.fullmatch(cells[-1]) else cells


def has_no_values(cells: list[str]) -> bool:
    """Whether the row contains only a time, like pcp-dstat's first row."""
    return len(cells) > 1 and not any(cells[1:])


def _number(cells: Mapping[Key, str], section: str, column: str, factor: float = 1) -> float | None:
    """None if the column is missing or its cell is empty (pcp-dstat's first row)."""
    text = cells.get((section, column), "")
    return decimal(text) * factor if text else None


def cpu_section(keys: Collection[Key]) -> str | None:
    """Name of the section for all CPUs together."""
    return next((name for name in TOTAL_CPU if (name, "idl") in keys), None)


def cpu_shares(cells: Mapping[Key, str]) -> dict[str, float | None]:
    """Percent of all CPUs by HostSample's field names; empty if the row has no CPU columns.

    RejectedError if the shares do not add up to 100.
    """
    section = cpu_section(cells)
    if section is None:
        return {}
    parts = {name: _number(cells, section, name) for name in CPU_PARTS if (section, name) in cells}
    known = [value for value in parts.values() if value is not None]
    if not known:
        return {}
    if len(known) != len(parts) or abs(sum(known) - 100) > CPU_SUM_TOLERANCE:
        raise RejectedError(f"CPU shares add up to {sum(known):.3f}, not to 100")
    interrupts = [parts[name] for name in ("hiq", "siq") if name in parts]
    irq = sum(value or 0.0 for value in interrupts) if interrupts else None
    return {"cpu_irq": irq, **{name: parts.get(part) for name, part in CPU.items()}}


def bytes_and_operations(cells: Mapping[Key, str], unit: Units) -> dict[str, float | None]:
    """Disk, network (per second) and memory by HostSample's field names; None for missing columns."""
    found = {
        name: _number(cells, *key, getattr(unit, scale) if scale else 1)
        for name, (key, scale) in VALUES.items()
    }
    buffered = "buff" if ("memory usage", "buff") in cells else "buf"
    found["memory_buffered_bytes"] = _number(cells, "memory usage", buffered, unit.memory)
    return found
