"""The column readers equal the pure parsers: the same rows and quarantine, for every input.

`HYPOTHESIS_PROFILE=deep` runs 100,000 mutated inputs.
"""

from __future__ import annotations

import base64
import os
import random
import re
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.base.parsing import RejectedError
from density_study.workloads.rows.file_tables import by_rows, tables_of
from density_study.workloads.rows.histograms.decoder import Decoder
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.ycsb.output.histogram import decode
from tests.property.mutations import mutate
from tests.property.support.bulk_files import (
    BEGIN_S,
    FACTS,
    NAMES,
    anew,
    bases,
    dool_text,
    hdr_text,
    nodecpu_text,
    rows_of,
)
from tests.property.support.quarters import QUARTERS, quarter_of

MUTATED = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 1_200
OF_TRIALS = ("latency_percentiles", "operation_seconds")
"""Tables with the sums of a trial's interval logs."""


def both(kind: str, data: bytes, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    anew(path, data)
    file = RawFile("t", kind, "h", NAMES[kind], str(path), facts=FACTS)
    return rows_of(tables_of([file])), rows_of(by_rows(file))


def same(kind: str, data: bytes, path: Path) -> None:
    fast, pure = both(kind, data, path)
    assert {name: rows for name, rows in fast.items() if name not in OF_TRIALS} == pure


@pytest.mark.parametrize("number", range(len(bases())))
def test_a_whole_file(number: int, tmp_path: Path) -> None:
    kind, data = bases()[number]
    same(kind, data, tmp_path / "file")


@pytest.mark.thorough
@QUARTERS
def test_every_mutated_file(quarter: int, tmp_path: Path) -> None:
    """Seeded: a failure is reproducible, and shows its number."""
    samples = bases()
    for number in quarter_of(MUTATED, quarter):
        rng = random.Random(number)
        (kind, data), (_, other) = rng.choice(samples), rng.choice(samples)
        damaged = mutate(data, other, rng)
        try:
            same(kind, damaged, tmp_path / "file")
        except BaseException as error:
            error.add_note(f"mutation {number} of a {kind}: {damaged!r:.1500}")
            raise


def test_every_mutated_histogram() -> None:
    """Damage within the compressed part, with a correct length and checksum."""
    base = inflated(hdr_text(1))
    for number in range(MUTATED):
        rng = random.Random(number)
        head, body = base[:40], base[40:]
        if rng.random() < 0.2:
            head = mutate(head, body, rng).ljust(40, b"\0")[:40]
        body = mutate(body, rng.randbytes(40), rng)
        same_counts(packed(head, body))


def test_a_nine_byte_number_is_left_to_the_pure_decoder() -> None:
    """All eight bits of the ninth byte count; the library's C code drops the highest."""
    base = inflated(hdr_text(1))
    for number in (b"\x80\xff" + b"\x80" * 7, b"\x80" * 2 + b"\xb1" + b"\xff" * 3 + b"\x80" * 3):
        same_counts(packed(base[:40], base[40:50] + number + b"\x02"))


def inflated(text: str) -> bytes:
    wire = base64.b64decode(text.splitlines()[-1].rpartition(",")[2])
    return zlib.decompress(wire[8:])


def packed(head: bytes, body: bytes) -> str:
    inner = head[:4] + struct.pack(">I", len(body)) + head[8:] + body
    small = zlib.compress(inner)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(small)) + small).decode()


def same_counts(payload: str) -> None:
    try:
        expected: Any = decode(payload).counts
    except RejectedError as error:
        with pytest.raises(RejectedError, match=f"^{re.escape(str(error))}$"):
            Decoder().decode(payload)
        return
    decoder = Decoder()
    decoded = decoder.decode(payload)
    values, counts = (column.to_pylist() for column in decoder.lists([payload]))
    assert tuple(zip(*values, *counts, strict=True)) == expected
    assert (decoded.total, decoded.max_us) == (decode(payload).total, decode(payload).max_us)


def test_valid_histograms_are_decoded_by_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with a repeated histogram and empty ones."""
    data = (hdr_text(40) + hdr_text(30) + hdr_text(40)).encode()
    same("ycsb-hdr", data, tmp_path / "file")
    monkeypatch.setattr("density_study.workloads.rows.histograms.decoder.decode", None)
    read = tables_of([RawFile("t", "ycsb-hdr", "c", "raw/c-READ.hdr", str(tmp_path / "file"))])
    assert sum(rows.num_rows for _, rows in read) >= 110


def test_a_duplicate_second_is_marked_on_its_later_line(tmp_path: Path) -> None:
    text = dool_text(6)
    _, rows = both("dool", (text + text).encode(), tmp_path / "twice")
    marked = [row["repeated"] for row in rows["host_samples"]]
    assert marked == [False] * 7 + [False] + [True] * 6  # each start begins with one since boot
    lines = [row["line"] for row in rows["host_samples"]]
    assert lines == sorted(lines)


def test_two_gigabyte_lines_and_other_encodings_are_quarantined(tmp_path: Path) -> None:
    long = dool_text(5) + "9" * (2**22 + 1) + "\n" + dool_text(5, BEGIN_S + 60)
    same("dool", long.encode(), tmp_path / "long")
    _, rows = both("dool", long.encode(), tmp_path / "long")
    assert [row["reason"] for row in rows["quarantine"]] == ["longer than 4194304 bytes"]
    assert len(rows["quarantine"][0]["excerpt"]) == 200 and len(rows["host_samples"]) == 12
    for encoding in ("utf-16", "utf-32", "cp500"):
        for kind, text in (
            ("dool", dool_text(5)),
            ("nodecpu", nodecpu_text(3)),
            ("ycsb-hdr", hdr_text(3)),
        ):
            same(kind, text.encode(encoding), tmp_path / "other")
            _, rows = both(kind, text.encode(encoding), tmp_path / "other")
            assert set(rows) == {"quarantine"}
