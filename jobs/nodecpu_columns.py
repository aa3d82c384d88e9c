"""nodecpu's files by columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from analysis import tables
from analysis.arrow import arrow_schema
from jobs.byte_lines import Array, ByteLines
from jobs.columns import NUMBER, Block, Columns, prefix, read_columns, table_of
from workloads.monitors.nodecpu import (
    LATE_S,
    MOST_PROCESSES,
    YEARS_S,
    NodeCpuReader,
    NodeCpuSample,
    refusal,
)
from workloads.parsing import Line, ParseError

SCHEMA = arrow_schema(tables.NODE_CPU_SAMPLES)
_PLAIN = rf"^{NUMBER},[A-Za-z0-9][A-Za-z0-9._-]*,[0-9]{{1,15}},[0-9]{{1,15}},[0-9]{{1,7}}\r?\n$"
_TYPES = [pa.float64(), pa.string(), pa.int64(), pa.int64(), pa.int64()]


def nodecpu_columns(data: bytes, file: str, trial: str, host: str) -> Columns[NodeCpuSample]:
    """Rows of `node_cpu_samples`. ParseError as `parse_nodecpu`."""
    lines = ByteLines(data)
    if reason := refusal(lines.beginning_with(b"#")):
        raise ParseError(file, 0, reason)

    def to_table(samples: list[NodeCpuSample]) -> pa.Table:
        rows = [
            {name: getattr(s, name) for name in SCHEMA.names if hasattr(s, name)} for s in samples
        ]
        return pa.Table.from_pylist([{**r, "trial": trial, "host": host} for r in rows], SCHEMA)

    return read_columns(lines, file, _NodeCpuColumns(trial, host), to_table)


class _NodeCpuColumns:
    def __init__(self, trial: str, host: str) -> None:
        self._reader = NodeCpuReader()
        self._known = {"trial": trial, "host": host}

    def read(self, line: Line) -> NodeCpuSample | None:
        return self._reader.read(line)

    def pattern(self) -> tuple[str, list[pa.DataType]] | None:
        return (_PLAIN, _TYPES) if self._reader.about else None

    def take(self, block: Block) -> tuple[int, pa.Table]:
        about = self._reader.about
        assert about is not None
        ticks_per_s, cores = int(about.group(3)), int(about.group(4))
        names = block.cells.column("c1").combine_chunks().dictionary_encode()
        cells = {"epoch_s": block.floats(0), "user_ticks": block.floats(2),
                 "system_ticks": block.floats(3), "processes": block.floats(4)}  # fmt: skip
        nodes = names.dictionary.to_pylist()
        codes = names.indices.to_numpy()
        before = self._before(cells, nodes, codes)
        taken = prefix(plausible(cells, before, ticks_per_s, cores))
        self._go_on(block, cells, nodes, codes, taken)
        named = {**self._known, "line": block.lines, "ticks_per_s": ticks_per_s, "cores": cores}
        rows = table_of({**named, **cells}, SCHEMA, len(block))
        place = SCHEMA.get_field_index("node")
        return taken, rows.set_column(place, SCHEMA.field(place), names.cast(pa.string())).slice(
            0, taken
        )

    def _before(self, cells: dict[str, Array], nodes: list[str], codes: Array) -> dict[str, Array]:
        """Each row's predecessor: the node's last row above it; NaN time where there is none."""
        order = np.argsort(codes, kind="stable")
        first = np.concatenate(([True], codes[order][1:] != codes[order][:-1]))
        last = [self._reader.last.get(node) for node in nodes]
        found = {}
        for name in ("epoch_s", "user_ticks", "system_ticks"):
            values = cells[name][order]
            shifted = np.concatenate((values[:1], values[:-1])).astype(values.dtype)
            absent = np.nan if name == "epoch_s" else 0
            known = [getattr(sample, name) if sample else absent for sample in last]
            shifted[first] = np.array(known, values.dtype)[codes[order][first]]
            found[name] = np.empty_like(shifted)
            found[name][order] = shifted
        return found

    def _go_on(
        self,
        block: Block,
        cells: dict[str, Array],
        nodes: list[str],
        codes: Array,
        taken: int,
    ) -> None:
        """Let the reader know each node's last row among those taken."""
        about = self._reader.about
        assert about is not None
        places = {int(code): place for place, code in enumerate(codes[:taken])}
        for code, place in places.items():
            self._reader.last[nodes[code]] = NodeCpuSample(
                line=int(block.lines[place]),
                host=about.group(2),
                epoch_s=float(cells["epoch_s"][place]),
                node=nodes[code],
                user_ticks=int(cells["user_ticks"][place]),
                system_ticks=int(cells["system_ticks"][place]),
                processes=int(cells["processes"][place]),
                ticks_per_s=int(about.group(3)),
                cores=int(about.group(4)),
            )


def plausible(
    cells: dict[str, Array],
    before: dict[str, Array],
    ticks_per_s: int | Array,
    cores: int | Array,
) -> Array:
    """As `parse_nodecpu` asks: time and ticks go on, and no more CPU is used than there is. before:
    the node's row above; its time NaN where there is none."""
    epoch_s, last_s = cells["epoch_s"], before["epoch_s"]
    user = cells["user_ticks"] - before["user_ticks"]
    system = cells["system_ticks"] - before["system_ticks"]
    most_s = (epoch_s - last_s + LATE_S) * cores
    goes_on = (epoch_s > last_s) & (user >= 0) & (system >= 0)
    goes_on &= user + system <= most_s * ticks_per_s
    within = (epoch_s >= YEARS_S[0]) & (epoch_s <= YEARS_S[1])
    sound: Array = within & (np.isnan(last_s) | goes_on)
    return sound & (cells["processes"] <= MOST_PROCESSES)
