"""Read well-formed nodecpu files, written by one start of the sampler, with Arrow's CSV reader.

All other files are left to the pure `parse_nodecpu`. The result is the same as that of `parse_nodecpu`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.base.parsing import YEARS_S, decoded
from density_study.workloads.monitors.nodecpu import (
    FORMAT,
    HEADER,
    LATE_S,
    MAX_PROCESSES,
    NODE,
    TITLE,
)
from density_study.workloads.rows.arrays.arrow_tables import Array, coded, coded_schema, table_of
from density_study.workloads.rows.arrays.bulk_csv import Body, Cells, body, cells
from density_study.workloads.rows.monitors.deltas import consecutive, node_neighbours
from density_study.workloads.rows.raw.raw_files import RawFile

SCHEMA = coded_schema(tables.NODE_CPU_SAMPLES)
_TYPES = (pa.float64(), pa.dictionary(pa.int32(), pa.string()), pa.int64(), pa.int64(), pa.int32())
_NUMBERS = {"epoch_s": 0, "user_ticks": 2, "system_ticks": 3, "processes": 4}
_MARKS = 4 + 1  # commas, and a newline
_MAX_TICKS = 10**15  # the sum of two such values is exact as a float


@dataclass(frozen=True)
class _Plain:
    """A file with a title, the header, and rows that look well-formed."""

    file: RawFile
    body: Body
    ticks_per_s: int
    cores: int


def nodecpu_rows(files: Sequence[tuple[RawFile, bytes]]) -> tuple[list[pa.Table], set[RawFile]]:
    """Rows of `node_cpu_samples` with deltas and dictionary-encoded texts, and the files that were read. The
    other files are not well-formed."""
    batch = [plain for file, data in files if (plain := _plain(file, data))]
    found = cells([plain.body for plain in batch], _TYPES) if batch else None
    if found is None:
        return [], set()
    whole = found.wholly(_hold(batch, found)) & _accounted_for(batch, found)
    rows = _table(batch, found)
    done = {plain.file for plain, sound in zip(batch, whole, strict=True) if sound}
    return found.only(rows, whole), done


def _plain(file: RawFile, data: bytes) -> _Plain | None:
    title, header, _ = (*data[:4096].split(b"\n", 2), b"", b"")[:3]
    text, unreadable = decoded(1, title, True)
    about = None if unreadable else TITLE.fullmatch(text.text)
    if about is None or about.group(1) != str(FORMAT) or header != HEADER.encode():
        return None
    begin = len(title) + len(header) + 2
    found = body(data, begin, 3)
    if found is None or _zeros_lead(data, begin) or not data.isascii():
        return None
    return _Plain(file, found, int(about.group(3)), int(about.group(4)))


def _zeros_lead(data: bytes, begin: int) -> bool:
    """Whether an integer has leading zeros: Arrow accepts any number of them, the pure reader only few."""
    raw = np.frombuffer(data, np.uint8)[begin:]
    zeros = (raw[:-2] == ord(",")) & (raw[1:-1] == ord("0"))
    return bool((zeros & (raw[2:] >= ord("0"))).any())


def _accounted_for(batch: Sequence[_Plain], found: Cells) -> Array:
    """For each file, whether all its bytes are accounted for, so that numbers consist of digits and
    points only."""
    names: list[str] = found.columns[1].dictionary.to_pylist()
    codes = found.columns[1].indices.to_numpy()
    named = np.array([NODE.fullmatch(name) is not None for name in names])
    hyphens = np.array([name.count("-") for name in names])
    letters = np.array([sum(letter > "9" for letter in name) for name in names])
    marks = _MARKS * found.counts + found.sums(hyphens[codes])
    complete: Array = found.wholly(named[codes])
    complete &= [plain.body.marks for plain in batch] == marks
    complete &= [plain.body.others for plain in batch] == found.sums(letters[codes])
    return complete


def _hold(batch: Sequence[_Plain], found: Cells) -> Array:
    """Whether the pure reader certainly accepts each row: for each node, time and ticks do not decrease,
    and CPU use does not exceed the capacity."""
    values = {name: found.numbers(place) for name, place in _NUMBERS.items()}
    before, after = consecutive(_owners(found))
    ticks_per_s = found.each([plain.ticks_per_s for plain in batch])
    cores = found.each([plain.cores for plain in batch])
    holds = (values["epoch_s"] >= YEARS_S[0]) & (values["epoch_s"] <= YEARS_S[1])
    holds &= values["processes"] <= MAX_PROCESSES
    holds &= (values["user_ticks"] < _MAX_TICKS) & (values["system_ticks"] < _MAX_TICKS)
    with np.errstate(all="ignore"):  # times without bounds; none of them holds
        step_s, user, system = (
            values[name][after] - values[name][before]
            for name in ("epoch_s", "user_ticks", "system_ticks")
        )
        capacity = (step_s + LATE_S) * cores[after] * ticks_per_s[after]
    holds[after] &= (step_s > 0) & (user >= 0) & (system >= 0) & (user + system <= capacity)
    return holds


def _owners(found: Cells) -> Array:
    """One index per node and file, for each row."""
    names = found.columns[1]
    owners: Array = found.owners() * len(names.dictionary) + names.indices.to_numpy()
    return owners


def _table(batch: Sequence[_Plain], found: Cells) -> pa.Table:
    values = {name: found.numbers(place) for name, place in _NUMBERS.items()}
    names = found.columns[1]
    ticks = values["user_ticks"], values["system_ticks"]
    named = {
        "trial": coded([plain.file.trial for plain in batch], found.counts),
        "host": coded([plain.file.subject for plain in batch], found.counts),
        "line": found.lines([plain.body for plain in batch]),
        "node": names,
        "ticks_per_s": found.each([plain.ticks_per_s for plain in batch]),
        "cores": found.each([plain.cores for plain in batch]),
        **values,
        **node_neighbours(found.owners(), names.indices.to_numpy(), values["epoch_s"], ticks),
    }
    return table_of(named, SCHEMA, found.rows)
