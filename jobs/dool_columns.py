"""dool's files by columns, as our monitors write them (-T --time, in UTC); others line by line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from jobs.byte_lines import Array, ByteLines
from jobs.columns import NUMBER, Block, Columns, prefix, read_columns, table_of
from jobs.dool_times import TEXT_LENGTH, agree, texts_of
from workloads.monitors.dool import DAY_S, LEAST_STEP_S, NO_BANNER, DoolReader, Layout
from workloads.monitors.dool_cells import CPU_PARTS, CPU_SUM_TOLERANCE, cpu_section
from workloads.monitors.dool_header import YEARS_S, Key, Units, read_banner
from workloads.monitors.host_sample import HostSample
from workloads.parsing import Line, ParseError

SCHEMA = arrow_schema(tables.HOST_SAMPLES)
EPOCH, TIME = ("epoch", "epoch"), ("system", "time")
_TEXT = r"[A-Z][a-z]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
_CPU = {"cpu_user": "usr", "cpu_system": "sys", "cpu_idle": "idl", "cpu_iowait": "wai",
        "cpu_steal": "stl"}  # fmt: skip
_COLUMNS: dict[str, tuple[Key, str]] = {
    "disk_read_bytes_s": (("dsk/total", "read"), "disk"),
    "disk_write_bytes_s": (("dsk/total", "writ"), "disk"),
    "disk_read_ops_s": (("io/total", "read"), ""),
    "disk_write_ops_s": (("io/total", "writ"), ""),
    "net_receive_bytes_s": (("net/total", "recv"), "net"),
    "net_send_bytes_s": (("net/total", "send"), "net"),
    "memory_used_bytes": (("memory usage", "used"), "memory"),
    "memory_cached_bytes": (("memory usage", "cach"), "memory"),
    "memory_available_bytes": (("memory usage", "avai"), "memory"),
}


def dool_columns(data: bytes, file: str, trial: str, host: str) -> Columns[HostSample]:
    """Rows of `host_samples`. ParseError as `parse_dool`."""
    lines = ByteLines(data)
    if not any(read_banner(text) for text in lines.beginning_with(b'"')):
        raise ParseError(file, 0, NO_BANNER)

    def to_table(samples: list[HostSample]) -> pa.Table:
        rows = [
            {name: getattr(s, name) for name in SCHEMA.names if hasattr(s, name)} for s in samples
        ]
        return pa.Table.from_pylist([{**r, "trial": trial, "host": host} for r in rows], SCHEMA)

    return read_columns(lines, file, _DoolColumns(trial, host), to_table)


class _DoolColumns:
    def __init__(self, trial: str, host: str) -> None:
        self._reader = DoolReader()
        self._known = {"trial": trial, "host": host, "since_boot": False}

    def read(self, line: Line) -> HostSample | None:
        return self._reader.read(line)

    def pattern(self) -> tuple[str, list[pa.DataType]] | None:
        layout = self._reader.layout()
        if layout is None or not is_ours(layout):
            return None
        cells = [_TEXT if key == TIME else NUMBER for key in layout.keys]
        return f"^{','.join(cells)}\r?\n$", types_of(layout)

    def take(self, block: Block) -> tuple[int, pa.Table]:
        layout = self._reader.layout()
        assert layout is not None
        cells = {key: block.floats(n) for n, key in enumerate(layout.keys) if key != TIME}
        taken = prefix(_times_hold(layout, block, cells[EPOCH]) & shares_hold(cells, len(block)))
        if taken:
            self._reader.go_on_from(float(cells[EPOCH][taken - 1]))
        named = {**self._known, "line": block.lines, **named_columns(layout.units, cells)}
        return taken, table_of(named, SCHEMA, len(block)).slice(0, taken)


def types_of(layout: Layout) -> list[pa.DataType]:
    return [pa.binary(TEXT_LENGTH) if key == TIME else pa.float64() for key in layout.keys]


def is_ours(layout: Layout) -> bool:
    start = layout.start
    return (
        layout.last_s is not None
        and {EPOCH, TIME} <= set(layout.keys)
        and start is not None
        and start.epoch_s is not None
    )


def _times_hold(layout: Layout, block: Block, epoch_s: Array) -> Array:
    """Each row comes after the one before, and its two times agree, as `DoolReader` asks."""
    assert layout.start is not None
    before = np.concatenate((np.array([layout.last_s], float), epoch_s[:-1]))
    texts = texts_of(block.cells.column(f"c{layout.keys.index(TIME)}").combine_chunks())
    agreed: Array = agree(texts, epoch_s, [layout.start], np.zeros(1, int))
    return agreed & follows(epoch_s, before)


def follows(epoch_s: Array, before_s: Array) -> Array:
    """Which times may stand in the row below the time `before_s`."""
    within = (epoch_s >= YEARS_S[0]) & (epoch_s <= YEARS_S[1])
    steps: Array = ~(epoch_s < before_s + LEAST_STEP_S) & ~(epoch_s > before_s + DAY_S)
    return within & steps


def shares_hold(cells: dict[Key, Array], rows: int) -> Array:
    section = cpu_section(cells)
    if section is None:
        return np.ones(rows, bool)
    parts = [cells[section, name] for name in CPU_PARTS if (section, name) in cells]
    holds: Array = np.abs(_added(parts) - 100) <= CPU_SUM_TOLERANCE
    return holds


def _added(parts: list[Array]) -> Array:
    """From left to right, as Python's sum: another order differs in the last bit."""
    total = np.zeros(len(parts[0]))
    for part in parts:
        total = total + part
    return total


def named_columns(units: Units, cells: dict[Key, Array]) -> dict[str, Any]:
    """The table's columns."""
    factors = {"disk": units.disk, "net": units.net, "memory": units.memory, "": 1.0}
    named: dict[str, Any] = {
        name: cells[key] if factors[unit] == 1 else cells[key] * factors[unit]
        for name, (key, unit) in _COLUMNS.items()
        if key in cells
    }
    section = cpu_section(cells)
    if section is not None:
        shares = {name: (section, part) for name, part in _CPU.items()}
        named |= {name: cells[key] for name, key in shares.items() if key in cells}
        irq = [cells[section, name] for name in ("hiq", "siq") if (section, name) in cells]
        named |= {"cpu_irq": _added(irq)} if irq else {}
    return {"epoch_s": cells[EPOCH], **named}
