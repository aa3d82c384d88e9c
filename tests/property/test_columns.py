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
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.base.parsing import RejectedError
from density_study.workloads.rows.file_tables import by_rows, tables_of
from density_study.workloads.rows.histograms.decoder import Decoder
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.ycsb.output.histogram import decode
from tests.property.mutations import SAMPLES, mutate
from tests.support.records import texts

MUTATED = 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 1_200
PATTERNS = {
    "dool": ("d*.csv", "pcp-dstat.csv"),
    "nodecpu": ("nodecpu-*.csv",),
    "ycsb-hdr": ("ycsb-*.hdr",),
}
NAMES = {
    "dool": "monitor/h.dool.csv",
    "nodecpu": "monitor/h.nodecpu.csv",
    "ycsb-hdr": "raw/c-READ.hdr",
}
OF_TRIALS = ("latency_percentiles", "operation_seconds")
"""Tables with the sums of a trial's interval logs."""
BEGIN_S = 1_795_200_000.0
FACTS = TrialFacts((BEGIN_S, BEGIN_S + 20.0), 0.25, 1.0, 3.0, {"w1": "node:w1"})


def dool_text(seconds: int, begin_s: float = BEGIN_S) -> str:
    rng = random.Random(seconds)
    rows = []
    for second in range(seconds):
        user, system, iowait = (round(rng.uniform(0, 30), 3) for _ in range(3))
        idle = round(100 - user - system - iowait, 3)
        moved = float(rng.randint(0, 2**40))
        rows.append(
            (begin_s + second + rng.random() / 2, (user, system, idle, iowait, 0.0, moved, 1.0))
        )
    return texts.dool(rows)


def nodecpu_text(seconds: int) -> str:
    rng = random.Random(seconds)
    spent = {name: [0, 0] for name in ("m1", "w1", "w2", "monitor")}
    rounds = []
    for second in range(seconds):
        for ticks in spent.values():
            ticks[0] += rng.randint(0, 60)
            ticks[1] += rng.randint(0, 9)
        rounds.append((BEGIN_S + second, {name: (t[0], t[1]) for name, t in spent.items()}))
    return texts.nodecpu(rounds)


def hdr_text(seconds: int) -> str:
    rng = random.Random(seconds)
    intervals = [
        (1.0, [round(rng.lognormvariate(6.5, 1.2)) for _ in range(rng.randint(0, 80))])
        for _ in range(seconds)
    ]
    return texts.hdr("READ", BEGIN_S, intervals)


def bases() -> list[tuple[str, bytes]]:
    """(kind, content): real samples of every tool, and files with enough plain runs."""
    samples = [
        (kind, path.read_bytes())
        for kind, patterns in PATTERNS.items()
        for pattern in patterns
        for path in sorted(SAMPLES.glob(pattern))
    ]
    assert {kind for kind, _ in samples} == set(NAMES)
    new_year = 1_798_761_590.0  # ten seconds before 2027
    long = [
        *(("dool", dool_text(seconds).encode()) for seconds in (30, 60)),
        ("dool", dool_text(20, new_year).encode()),
        ("dool", (dool_text(15) + "\n" + dool_text(15, BEGIN_S + 100)).encode()),
        ("dool", dool_text(12).replace("\n", "\r\n").encode()),
        ("nodecpu", nodecpu_text(12).encode()),
        ("nodecpu", (nodecpu_text(6) + nodecpu_text(7)).encode()),
        ("ycsb-hdr", hdr_text(12).encode()),
    ]
    return [*samples, *long, *long]


def anew(path: Path, data: bytes) -> None:
    """ext4 flushes a truncated and rewritten file at once: ten milliseconds each time."""
    path.unlink(missing_ok=True)
    path.write_bytes(data)


def rows_of(batches: Any) -> dict[str, list[dict[str, Any]]]:
    """Rows by table, in the order of files and lines."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for table, piece in batches:
        rows[table.name] += piece.to_pylist()
    return {name: sorted(of, key=_place) for name, of in rows.items() if of}


def _place(row: dict[str, Any]) -> tuple[Any, ...]:
    of = row.get("scope") or row.get("node") or row.get("operation") or ""
    where = row.get("host") or row.get("file") or ""
    return row["trial"], where, row.get("line", of), row.get("second", row.get("percentile", 0))


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
def test_every_mutated_file(tmp_path: Path) -> None:
    """Seeded: a failure is reproducible, and shows its number."""
    samples = bases()
    for number in range(MUTATED):
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
