"""Pauses of JVMs, from lines of unified logs of several versions and collectors."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError, RejectedError
from density_study.workloads.monitors.daemons.events import Event, title
from density_study.workloads.monitors.daemons.gc import parse_gc, pause_of

SAMPLE = (Path(__file__).parents[3] / "samples" / "gc-1_jdk17.csv").read_text()
AT = "[2026-11-24T08:07:06.666+0000]"
END_S = datetime(2026, 11, 24, 8, 7, 6, 666_000, UTC).timestamp()


def test_a_real_log() -> None:
    parsed = parse_gc(SAMPLE, "f")
    assert parsed.quarantined == ()
    rounds = [row for row in parsed.rows if row.event is None]
    assert [round(row.epoch_s % 60, 1) for row in rounds] == [5.9, 6.9, 7.9, 9.9]
    pauses = [(row.source, row.event) for row in parsed.rows if row.event]
    # not the short safepoint, nor the one that is the collection; but one that lasted longer than its own
    assert [(source, p.kind, p.what, p.duration_ms) for source, p in pauses] == [
        ("w2/regionserver-1", "gc pause", "Pause Full (Diagnostic Command)", 212.892),
        ("w2/regionserver-1", "gc pause", "Pause Full (Heap Inspection Initiated GC)", 251.942),
        ("w2/regionserver-1", "safepoint", "GC_HeapInspection", 386.73),
    ]
    assert pauses[0][1].end_epoch_s == END_S


@pytest.mark.parametrize(
    "message, expected",
    [
        ("[gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 24M->5M(96M) 3.204ms",
         ("gc pause", "Pause Young (Normal) (G1 Evacuation Pause)", 3.204)),
        ("[gc          ] GC(4) Pause Remark 51M->51M(97M) 2.001ms", ("gc pause", "Pause Remark", 2.001)),
        ("[gc] GC(0) Pause Young (Allocation Failure) 17M->4M(62M) 12.5ms",
         ("gc pause", "Pause Young (Allocation Failure)", 12.5)),
        ("[gc] GC(2) Pause Init Mark (unload classes) 0.313ms",
         ("gc pause", "Pause Init Mark (unload classes)", 0.313)),
        # JDK 21: blanks before numbers; ZGC reports its pauses as safepoints alone
        ('[safepoint] Safepoint "ZMarkStartYoung", Time since last:  170012345 ns, Reaching safepoint: '
         '     81234 ns, Cleanup:       1234 ns, At safepoint:   1922222 ns, Total:   2004690 ns',
         ("safepoint", "ZMarkStartYoung", 2.005)),
        # JDK 25
        ('[safepoint] Safepoint "ICBufferFull", Time since last: 1 ns, Reaching safepoint: 2 ns, At: '
         "3 ns, Leaving safepoint: 4 ns, Total: 9 ns, Threads: 1 runnable, 40 total",
         ("safepoint", "ICBufferFull", 0.0)),
    ],
)  # fmt: skip
def test_the_pause_of_a_line(message: str, expected: tuple[str, str, float]) -> None:
    kind, what, duration_ms = expected
    for more in ("", "[12.345s][info]"):
        assert pause_of(f"{AT}{more}{message}") == Event(kind, what, END_S, duration_ms)


@pytest.mark.parametrize(
    "message",
    ["[gc] GC(9) Concurrent Mark Cycle 33.5ms", "[gc,start] GC(7) Pause Full (Diagnostic Command)",
     "[gc] Using G1", "[gc,init] Version: 17.0.13+11"],
)  # fmt: skip
def test_other_lines_have_no_pause(message: str) -> None:
    assert pause_of(AT + message) is None


@pytest.mark.parametrize(
    "text, reason",
    [
        ("GC(3) Pause Young 3ms", "no line of a unified log"),
        ("[12.3s][gc] GC(3) Pause Young (Normal) 24M->5M(96M) 3.204ms", "without a time"),
        ("[2026-13-24T08:07:06.666+0000][gc] GC(3) Pause Remark 3.204ms", "without a time"),
        (f'{AT}[safepoint] Safepoint "X", Total: 99999999999999999999 ns', "too large"),
    ],
)
def test_a_pause_that_cannot_be_trusted_is_rejected(text: str, reason: str) -> None:
    with pytest.raises(RejectedError, match=reason):
        pause_of(text)


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("7629.900,,", "7627.900,,"), "time goes back"),
        (("1795507629.900,,", "9.9,,"), "not of this century"),
        (("1795507629.900,,", "1795507629.900,x,"), "not a daemon"),
    ],
)
def test_a_damaged_row_is_quarantined(damage: tuple[str, str], reason: str) -> None:
    assert damage[0] in SAMPLE
    (quarantined,) = parse_gc(SAMPLE.replace(*damage), "f").quarantined
    assert reason in quarantined.reason


def test_another_file_is_refused() -> None:
    with pytest.raises(ParseError, match="no gc file"):
        parse_gc("x\n", "f")
    with pytest.raises(ParseError, match="reads format 1"):
        parse_gc(title("gc", "h").replace("format 1", "format 2"), "f")
