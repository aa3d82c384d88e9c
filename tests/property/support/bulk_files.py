"""Files of monitors and clients with enough plain runs for the column readers."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from density_study.workloads.rows.raw.trial_context import TrialFacts
from tests.property.mutations import SAMPLES
from tests.support.records import texts

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
