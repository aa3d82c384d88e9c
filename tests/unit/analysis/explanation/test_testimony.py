"""What daemons showed of themselves is evidence of a cause that is where they are, and of spells without
one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from density_study.analysis.explanation.course import Course, Happening, Place, Series
from density_study.analysis.explanation.explain import explain, of_group, sentence

SECONDS = 60
SERVER, OTHER = "w1/regionserver-1", "w2/regionserver-1"
ROLES = {"w1": "worker", "w2": "worker"}
STALL = Happening(
    "stall", SERVER, 30.0, 33.0, "no call of 8 ended; 8 of 30 handlers are in SyncFuture.get"
)
CALLS = tuple(
    Happening("slow call", SERVER, 30.0 + n / 10, 32.0 + n / 10,
              f"Scan of t from 10.0.0.{7 + n // 4}, row r{n % 2}")
    for n in range(5)
)  # fmt: skip


def course(events: tuple[Happening, ...], series: Mapping[Place, Any] | None = None) -> Course:
    rate = 1000 * np.random.default_rng(5).normal(1.0, 0.02, SECONDS)
    rate[30:34] *= 0.2
    return Course(
        0, rate, np.full(SECONDS, 20.0), events, Series.of(series or {}, SECONDS), roles=ROLES
    )


def slow_handlers(source: str) -> dict[Place, Any]:
    queued = np.full(SECONDS, 1.0)
    queued[30:34] = 90.0
    return {Place("queued_calls", "h", source): queued}


def evidence(made: Course) -> list[str]:
    return [cause.evidence for _, found in explain({"t": made})[0].spells for cause in found]


def test_a_cause_has_what_its_daemon_showed() -> None:
    (text,) = evidence(course((STALL, *CALLS), slow_handlers(SERVER)))
    assert f"{SERVER} stood still for 3.0 s: no call of 8 ended; 8 of 30 handlers are in" in text
    assert "5 slow calls, 4 of them Scan of t from 10.0.0.7" in text
    assert "for row" not in text  # no row has most of them


def test_what_another_daemon_or_another_time_showed_is_no_evidence() -> None:
    (alone,) = evidence(course((), slow_handlers(SERVER)))
    before = Happening("stall", SERVER, 3.0, 6.0, "x")
    assert evidence(course((STALL, before), slow_handlers(OTHER))) == [alone.replace(SERVER, OTHER)]
    assert evidence(course((before,), slow_handlers(SERVER))) == [alone]


def test_a_row_that_most_slow_calls_want_is_named() -> None:
    hot = tuple(
        Happening("slow call", SERVER, 30.0, 31.0, f"Get of t from 10.0.0.7, row r{n // 3}")
        for n in range(4)
    )
    assert (
        "4 slow calls, 4 of them Get of t from 10.0.0.7, 3 for row r0"
        in evidence(course(hot, slow_handlers(SERVER)))[0]
    )


def test_a_spell_without_a_cause_has_it_too() -> None:
    (made,) = explain({"t": course((STALL,))})
    ((spell, found),) = made.spells
    assert found == ()
    assert sentence(made.course, spell, made.usual, found).endswith(
        f"Seen: {SERVER} stood still for 3.0 s: {STALL.what}."
    )


def test_findings_of_flight_recorder_are_evidence_of_what_lasts() -> None:
    jfr = Happening("flight recorder", SERVER, 0.0, 60.0, "Java Blocking: 21 s on locks")
    blocked = {Place("blocked_threads", "h", SERVER): np.full(SECONDS, 30.0)}
    (row,) = [row for row in of_group(explain({"t": course((jfr,), blocked)})) if row["lasting"]]
    assert row["cause"] == "lock"
    assert f"Flight Recorder of {SERVER}: Java Blocking: 21 s on locks" in row["sentence"]
