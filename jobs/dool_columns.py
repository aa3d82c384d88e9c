"""dool's files by columns, as our monitors write them (-T --time, in UTC); others line by line."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from jobs.byte_lines import Array, ByteLines
from jobs.columns import NUMBER, Block, Columns, prefix, read_columns, table_of
from workloads.monitors.dool import DAY_S, LEAST_STEP_S, NO_BANNER, DoolReader, Layout
from workloads.monitors.dool_cells import CPU_PARTS, CPU_SUM_TOLERANCE, cpu_section
from workloads.monitors.dool_header import YEARS_S, Key, read_banner
from workloads.monitors.host_sample import HostSample
from workloads.parsing import Line, ParseError

SCHEMA = arrow_schema(tables.HOST_SAMPLES)
_EPOCH, _TIME = ("epoch", "epoch"), ("system", "time")
_MONTHS = b"JanFebMarAprMayJunJulAugSepOctNovDec"
_TEXT = r"[A-Z][a-z]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
_TEXT_LENGTH = 15
_DIGITS = {"day": (4, 5), "hour": (7, 8), "minute": (10, 11), "second": (13, 14)}
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
        if layout is None or not _is_ours(layout):
            return None
        cells = [_TEXT if key == _TIME else NUMBER for key in layout.keys]
        types = [pa.binary() if key == _TIME else pa.float64() for key in layout.keys]
        return f"^{','.join(cells)}\r?\n$", types

    def take(self, block: Block) -> tuple[int, pa.Table]:
        layout = self._reader.layout()
        assert layout is not None
        cells = {
            key: block.floats(n) for n, key in enumerate(layout.keys) if key != _TIME
        }  # fmt: skip
        taken = prefix(_times_hold(layout, block, cells[_EPOCH]) & _shares_hold(cells, len(block)))
        if taken:
            self._reader.go_on_from(float(cells[_EPOCH][taken - 1]))
        named = {**self._known, "line": block.lines, **_named(layout, cells)}
        return taken, table_of(named, SCHEMA, len(block)).slice(0, taken)


def _is_ours(layout: Layout) -> bool:
    start = layout.start
    return (
        layout.last_s is not None
        and {_EPOCH, _TIME} <= set(layout.keys)
        and start is not None
        and start.epoch_s is not None
    )


def _times_hold(layout: Layout, block: Block, epoch_s: Array) -> Array:
    """Each row comes after the one before, and its two times agree, as `DoolReader` asks."""
    before = np.concatenate((np.array([layout.last_s], float), epoch_s[:-1]))
    within = (epoch_s >= YEARS_S[0]) & (epoch_s <= YEARS_S[1])
    follows = ~(epoch_s < before + LEAST_STEP_S) & ~(epoch_s > before + DAY_S)
    text_s = _of_texts(layout, block, epoch_s)
    apart = epoch_s - text_s
    holds: Array = within & follows & (apart >= -0.001) & (apart < 1.001)
    return holds


def _of_texts(layout: Layout, block: Block, epoch_s: Array) -> Array:
    """The times' texts in epoch seconds, taken to be of the epoch's own day; NaN where the text says
    another day, or the day may be of another year than the start's."""
    texts = block.cells.column(f"c{layout.keys.index(_TIME)}").combine_chunks()
    # all texts are as long as the pattern, and lie behind each other
    begin = int(np.frombuffer(texts.buffers()[1], np.int32)[texts.offset])
    raw = np.frombuffer(texts.buffers()[2], np.uint8)[begin : begin + len(texts) * _TEXT_LENGTH]
    raw = raw.reshape(-1, _TEXT_LENGTH)
    part = {
        name: (raw[:, tens] - 48) * 10.0 + (raw[:, ones] - 48)
        for name, (tens, ones) in _DIGITS.items()
    }
    clock = part["hour"] * 3600 + part["minute"] * 60 + part["second"]
    sound = (part["hour"] < 24) & (part["minute"] < 60) & (part["second"] < 60)
    days = np.floor(np.where(np.isfinite(epoch_s), epoch_s, 0) / DAY_S)
    for day in np.unique(days):
        of_day = days == day
        sound[of_day] &= _says(layout, day, raw[of_day], part["day"][of_day])
    text_s = days * DAY_S + clock
    assert layout.start is not None and layout.start.epoch_s is not None
    return np.where(sound & (text_s >= layout.start.epoch_s - DAY_S), text_s, np.nan)


def _says(layout: Layout, day: float, raw: Array, day_of_month: Array) -> Array:
    """Which texts name that day of the start's year."""
    assert layout.start is not None
    try:
        date = datetime.fromtimestamp(day * DAY_S, UTC)
    except (ValueError, OverflowError, OSError):
        return np.zeros(len(raw), bool)
    month = np.frombuffer(_MONTHS[3 * date.month - 3 : 3 * date.month], np.uint8)
    of_year = str(date.year) == layout.start.date_text.split()[2]
    named: Array = of_year & (raw[:, :3] == month).all(axis=1) & (day_of_month == date.day)
    return named


def _shares_hold(cells: dict[Key, Array], rows: int) -> Array:
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


def _named(layout: Layout, cells: dict[Key, Array]) -> dict[str, Any]:
    """The table's columns."""
    factors = {"disk": layout.units.disk, "net": layout.units.net, "memory": layout.units.memory}
    named: dict[str, Any] = {
        name: cells[key] * factors.get(unit, 1.0)
        for name, (key, unit) in _COLUMNS.items()
        if key in cells
    }
    section = cpu_section(cells)
    if section is not None:
        shares = {name: (section, part) for name, part in _CPU.items()}
        named |= {name: cells[key] for name, key in shares.items() if key in cells}
        irq = [cells[section, name] for name in ("hiq", "siq") if (section, name) in cells]
        named |= {"cpu_irq": _added(irq)} if irq else {}
    return {"epoch_s": cells[_EPOCH], **named}
