"""What moved between two variants, and what limits a test case, from means of made-up trials."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from density_study.analysis.explanation.bottleneck import bottlenecks
from density_study.analysis.explanation.variants import RATE, explanations
from density_study.analysis.summary.summary import TestCaseSummary
from tests.support.summary_factory import FACTORIES

REPETITIONS = range(1, 7)


@pytest.fixture(scope="module")
def pair() -> tuple[TestCaseSummary, TestCaseSummary]:
    """A test case on two densities."""
    first, *others = [one for one in FACTORIES["one"]().test_cases if one.workload == "ycsb"]
    later = next(
        o for o in others if o.test_case == first.test_case and o.topology != first.topology
    )
    return first, later


def means(pair: tuple[TestCaseSummary, TestCaseSummary], **of: tuple[float, float]) -> pd.DataFrame:
    """Quantities in both variants, with 2 % of noise and what a repetition does to both."""
    rng = np.random.default_rng(4)
    rows: list[dict[str, Any]] = []
    for repetition in REPETITIONS:
        both = rng.lognormal(0, 0.2)
        for entry, place in zip(pair, (0, 1), strict=True):
            for name, values in of.items():
                value = values[place] * both * rng.normal(1, 0.02)
                rows.append(
                    {"test_case": entry.test_case, "topology": entry.topology, "name": name,
                     "repetition": repetition, "mean": value, "most": value, "where": "h1"}
                )  # fmt: skip
    return pd.DataFrame(rows)


def test_more_work_per_operation_is_what_moved(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    """A third less of a rate with the same CPU is half as much again for each operation."""
    rows = means(
        pair, rate=(1000, 667), gc_time=(2.0, 2.0), cache_hits=(90.0, 90.0), gets=(800, 534)
    )
    (found,) = explanations(pair, rows)
    assert found.rate == pytest.approx(0.667, rel=0.03)
    (moved,) = found.moved
    assert (moved.name, moved.per_operation) == ("gc_time", True)
    assert moved.ratio == pytest.approx(1.5, rel=0.05)
    assert moved.low < 1.5 < moved.high
    assert {one.name for one in found.equal} == {"cache_hits", "gets"}
    assert found.sentence.startswith("Slower (rate ×0.6")
    assert "These moved with it: time in garbage collection per operation ×1.5" in found.sentence
    assert "Equal: lookups answered by the block cache" in found.sentence


def test_where_nothing_moves_the_sentence_says_so(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    (found,) = explanations(pair, means(pair, rate=(1000, 1000), cache_hits=(90.0, 90.0)))
    assert found.moved == ()
    assert found.sentence.endswith("None of 1 sampled quantities moved by a tenth or more.")


def test_one_build_of_each_is_no_comparison(pair: tuple[TestCaseSummary, TestCaseSummary]) -> None:
    rows = means(pair, rate=(1000, 500), cache_hits=(90.0, 40.0))
    assert explanations(pair, rows[rows["repetition"] == 1]) == ()


def test_of_equal_variants_few_quantities_move_by_chance(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    """No more than intervals of 95 % allow."""
    rng = np.random.default_rng(9)
    rows = pd.concat(
        [means(pair, rate=(1000, 1000))]
        + [
            means(pair, **{RATE: (1, 1)}).assign(
                name=f"q{n}", mean=rng.lognormal(0, 0.5, 2 * len(REPETITIONS))
            )
            for n in range(200)
        ]
    )
    (found,) = explanations(pair, rows)
    assert found.compared == 200
    assert len(found.moved) <= 0.09 * 200


def limits(entry: TestCaseSummary, threads: int | None = None, **use: float) -> Any:
    rows = pd.DataFrame(
        [
            {"test_case": entry.test_case, "topology": entry.topology, "name": name, "most": percent,
             "where": "sda on h1" if name == "disk_busy" else "h1"}
            for name, percent in use.items() for _ in range(3)
        ]
    )  # fmt: skip
    of_entry = {(entry.topology, entry.test_case): threads} if threads else {}
    found = list(bottlenecks([entry], rows, of_entry))
    return found[0] if found else None


def test_the_busiest_station_limits_the_rate(pair: tuple[TestCaseSummary, TestCaseSummary]) -> None:
    entry = pair[0]
    (rate,) = [m.value for m in entry.metrics if m.name == "throughput"]
    found = limits(entry, cpu_used=40.0, disk_busy=90.0)
    assert (found.station, found.use_percent) == ("disk sda on h1", 90.0)
    assert found.limit == pytest.approx(rate / 0.9)
    assert (found.next_station, found.next_limit) == (
        "the CPU of host h1",
        pytest.approx(rate / 0.4),
    )
    assert found.sentence.startswith("Disk sda on h1 is the bottleneck: 90 % used at ")
    assert found.sentence.endswith("Next: the CPU of host h1, 40 %.")


def test_without_a_busy_station_the_threads_are_the_limit(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    found = limits(pair[0], threads=8, cpu_used=12.0)
    assert found.station is None
    assert found.sentence.startswith(
        "No station is busy (the CPU of host h1 most, 12 %): 8 threads that wait "
    )


def test_threads_limit_a_target_rate_if_no_station_is_busy(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    found = limits(pair[0], cpu_used=30.0, client_threads=99.0)
    assert found.sentence.startswith("The pool of threads of h1 is the bottleneck: 99 % used at ")
    assert limits(pair[0], cpu_used=95.0, client_threads=99.0).station == "the CPU of host h1"
    assert limits(pair[0], cpu_used=30.0, client_threads=20.0).station is None


def test_without_a_monitor_nothing_is_claimed(
    pair: tuple[TestCaseSummary, TestCaseSummary],
) -> None:
    assert limits(pair[0], cache_hits=90.0) is None
