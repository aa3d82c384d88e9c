"""Little's law, N = X (R + Z), for trials with known thread times."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.spark.conftest import Analysed
from tests.support.truth import Truth

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("case", ("mixed", "scan", "several", "drifting", "failing", "load"))
def test_the_law_is_satisfied_if_all_thread_time_is_measured(world: Analysed, case: str) -> None:
    row = world.row("checks", case)
    assert row["closed_loop"]
    assert row["little_error"] < 0.001  # 60 threads in several clients, or 8 in one


def test_missing_time_between_operations_is_detected(world: Analysed) -> None:
    """A tenth of Z was not measured: N loses a tenth of the threads' time outside operations."""
    truth = world.truths["leaky"]
    error = world.row("checks", "leaky")["little_error"]
    assert error == pytest.approx(0.1 * (1 - _within_operations(truth)), rel=0.01)
    verdict, reasons = world.verdict("leaky")
    assert verdict == "invalid" and "Little's law N = X (R + Z) does not hold: 9." in reasons


def test_without_the_clients_own_time_the_error_is_unknown(world: Analysed) -> None:
    assert pd.isna(world.row("checks", "thinkless")["little_error"])
    verdict, reasons = world.verdict("thinkless")
    assert verdict == "unknown" and "(Z) was not measured" in reasons


def test_a_load_is_checked_too(world: Analysed) -> None:
    assert world.row("checks", "leaky_load")["little_error"] > 0.05
    verdict, reasons = world.verdict("leaky_load")
    assert verdict == "invalid" and "Little's law N = X (R + Z) does not hold: 9." in reasons


@pytest.mark.parametrize("case", ("thinkless_load", "short_load"))
def test_an_uncheckable_load_is_not_penalised(world: Analysed, case: str) -> None:
    row = world.row("checks", case)
    assert not row["closed_loop"] and pd.isna(row["little_error"])
    assert world.verdict(case)[0] == "valid"


def test_an_open_loop_is_not_checked(world: Analysed) -> None:
    assert not world.row("checks", "write")["closed_loop"]


def test_the_clients_own_time_is_not_an_operation(world: Analysed) -> None:
    metrics = world.table("metrics")
    assert "THINK" not in set(metrics["operation"].dropna())


def _within_operations(truth: Truth) -> float:
    """Share of the threads' time, by a plain loop over the seconds between warm-up and last
    second."""
    test_case = truth.test_case
    seconds = [
        second
        for second in range(len(truth.latencies_us["READ"]) - 1)
        if truth.operations_start_s + second >= truth.measured_from_s
    ]
    busy_us = sum(
        latency + 0.5
        for each in truth.latencies_us.values()
        for second in seconds
        for latency in each[second]
    )
    return busy_us / 1e6 / len(seconds) / test_case.threads  # type: ignore[union-attr]
