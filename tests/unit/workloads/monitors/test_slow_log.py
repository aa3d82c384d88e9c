"""Slow calls of RegionServers: lines of their logs, and the device's file."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.monitors.daemons.gc_logs import Tail
from density_study.workloads.monitors.daemons.slow_log import json_of, parse_slow_log

SAMPLE = (Path(__file__).parents[3] / "samples" / "slowlog-1.csv").read_text()


def test_a_file() -> None:
    parsed = parse_slow_log(SAMPLE, "f")
    assert parsed.quarantined == ()
    events = [row.event for row in parsed.rows if row.event]
    assert [(one.kind, one.what, one.duration_ms) for one in events] == [
        ("slow call", "Scan of density:usertable from 10.94.0.7", 1234.0),
        ("slow call", "Get of density:usertable from 10.94.0.7, row user3177", 310.0),
        ("slow call", "Multi of density:meddled from 10.94.0.9, row 004711", 900.0),
    ]
    assert events[0].end_epoch_s == 1795507626.334


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (('"starttimems":1795507625300', '"starttimems":-1'), "negative"),
        (('"processingtimems":310,', ""), "number missing"),
        (('"method":"Get"', '"method":"<b>"'), "without a method"),
        (('"queuetimems":11,"class":"HRegionServer"}', '"queuet'), "not JSON"),
    ],
)
def test_a_line_that_cannot_be_trusted(damage: tuple[str, str], reason: str) -> None:
    assert damage[0] in SAMPLE
    parsed = parse_slow_log(SAMPLE.replace(*damage), "f")
    (quarantined,) = parsed.quarantined
    assert reason in quarantined.reason, quarantined.reason


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '2026-11-24 08:07:06,334 WARN [handler] ipc.RpcServer: (responseTooSlow): {"a":1}',
            '{"a":1}',
        ),
        (
            '2026-11-24 08:07:06,334 WARN [handler] ipc.RpcServer: (responseTooLarge & TooSlow): {"a":1}',
            '{"a":1}',
        ),
        ('2026-11-24 08:07:06,334 WARN [handler] ipc.RpcServer: (responseTooLarge): {"a":1}', ""),
        ("2026-11-24 08:07:06,334 INFO [x] regionserver.HRegion: opened", ""),
    ],
)
def test_the_part_of_a_log_line(line: str, expected: str) -> None:
    assert json_of(line) == expected


def test_a_log_is_read_on_and_one_that_was_rolled_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("old\n")
    tail = Tail(log, log.stat().st_size)
    assert list(tail.lines()) == []
    with log.open("a") as file:
        file.write("new\nhal")
    assert list(tail.lines()) == ["new"]
    log.write_text("a\n")  # shorter: another file
    assert list(tail.lines()) == ["a"]
