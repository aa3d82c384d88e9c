"""A device's metrics by second, against numbers worked out by hand."""

from __future__ import annotations

import pytest

from density_study.workloads.rows.raw.trial_context import TrialFacts
from tests.support.records.device_rows import aggregated, series


def test_a_counter_becomes_a_rate_in_its_unit() -> None:
    stalled = [(float(s), "host", {"io_some_us": 250_000.0 * s}) for s in range(4)]
    assert series("pressure", stalled, "io_stall", "host") == pytest.approx(
        {0: 25.0, 1: 25.0, 2: 25.0}
    )


def test_a_rate_is_spread_over_the_seconds_of_its_span() -> None:
    samples = [(0.5, "host", {"retransmitted": 0.0}), (1.5, "host", {"retransmitted": 10.0}),
               (2.5, "host", {"retransmitted": 40.0})]  # fmt: skip
    found = series("sockets", samples, "retransmitted", "host")
    assert found == pytest.approx({0: 10.0, 1: 0.5 * 10 + 0.5 * 30, 2: 30.0})


def test_a_ratio_is_unknown_where_nothing_was_counted() -> None:
    reads = [(0.0, 0, 0), (1.0, 10, 50), (2.0, 10, 50), (3.0, 12, 60)]
    samples = [(s, "sda", {"reads": float(n), "read_ms": float(ms)}) for s, n, ms in reads]
    assert series("disks", samples, "read_await", "sda") == pytest.approx({0: 5.0, 2: 5.0})


def test_a_restarted_counter_is_a_gap_and_no_negative_rate() -> None:
    samples = [(float(s), "host", {"sent_segments": n}) for s, n in enumerate((5.0, 9.0, 1.0, 4.0))]
    assert series("sockets", samples, "sent_segments", "host") == {0: 4.0, 2: 3.0}


def test_a_gauge_does_not_fill_a_gap() -> None:
    samples = [(s, "host", {"in_use": s}) for s in (1.0, 2.0, 6.0)]
    found = series("sockets", samples, "sockets_in_use", "host")
    assert found == {0: 1.0, 1: 2.0, 5: 6.0}


def test_sources_do_not_mix() -> None:
    samples = [(float(s), name, {"busy_ms": speed * s}) for s in range(3)
               for name, speed in (("sda", 1000.0), ("sdb", 100.0))]  # fmt: skip
    assert series("disks", samples, "disk_busy", "sda") == pytest.approx({0: 100.0, 1: 100.0})
    assert series("disks", samples, "disk_busy", "sdb") == pytest.approx({0: 10.0, 1: 10.0})


def test_rounds_count_once_whatever_the_sources() -> None:
    samples = [(float(s), name, {"busy_ms": 1.0}) for s in (*range(-2, 6), 8, 9, 10)
               for name in ("sda", "sdb")]  # fmt: skip
    (row,) = aggregated("disks", samples)["monitor_rounds"]
    assert row == {"trial": "t", "kind": "disks", "host": "h", "seen": 8, "lost": 2}


@pytest.mark.parametrize(
    ("ended", "longest_ms", "mean_ms", "expected"),
    [(1, 400.0, 400.0, [0.6, 1.0]), (1, 2500.0, 2500.0, [-1.5, 1.0]),
     (5, 200.0, 150.0, [0.25, 1.0]),  # one after the other
     (9, 300.0, 250.0, [0.0, 1.0]),  # at once: not longer than since the last sample
     (2, 300.0, None, [0.7, 1.0])],
)  # fmt: skip
def test_compactions_that_ended_since_the_last_sample(
    ended: int, longest_ms: float, mean_ms: float | None, expected: list[float]
) -> None:
    after = {"compactions": 7.0 + ended, "compaction_longest_ms": longest_ms}
    after |= {} if mean_ms is None else {"compaction_mean_ms": mean_ms}
    samples = [(0.0, "w1/regionserver-1", {"compactions": 7.0}), (1.0, "w1/regionserver-1", after)]
    (row,) = aggregated("jmx", samples)["device_events"]
    assert [row["start_s"], row["end_s"]] == pytest.approx(expected)


def test_a_trial_without_a_window_has_no_series() -> None:
    assert "device_series" not in aggregated(
        "disks", [(0.0, "sda", {"busy_ms": 1.0})], TrialFacts()
    )
