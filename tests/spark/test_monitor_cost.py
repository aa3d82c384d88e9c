"""Pairs of trials with and without monitors: judged, compared, and excluded from all other
numbers."""

from __future__ import annotations

import json
import math

import pytest

from tests.spark.conftest import Analysed
from tests.spark.support import oracle

pytestmark = pytest.mark.spark


def test_a_trial_without_monitors_is_valid_without_samples(world: Analysed) -> None:
    assert world.verdict("cost_1_off") == ("valid", "")
    assert world.verdict("cost_1_on") == ("valid", "")
    assert world.metrics("cost_1_off", "cpu_used").empty


def test_the_overhead_is_the_ratio_of_pairs_with_two_valid_trials(world: Analysed) -> None:
    cost = json.loads((world.root / "report" / "summary.json").read_text())["monitoring_overhead"]
    rate = {
        name: oracle.operations_s(truth) for name, truth in world.truths.items() if "cost" in name
    }
    points = [rate[f"cost_{pair}_on"] / rate[f"cost_{pair}_off"] for pair in (1, 2)]
    assert cost["points"] == pytest.approx(points)
    assert cost["ratio"] == pytest.approx(math.sqrt(points[0] * points[1]))
    assert (cost["n"], cost["pairs"], cost["low"]) == (2, 3, None)
    assert cost["ratio"] == pytest.approx(math.sqrt(0.9 * 0.93), rel=0.01)


def test_the_overhead_is_printed_with_its_n(world: Analysed) -> None:
    warnings = json.loads((world.root / "report" / "summary.json").read_text())["warnings"]
    messages = [warning["message"] for warning in warnings]
    (message,) = [text for text in messages if text.startswith("Monitoring overhead")]
    assert "0.915x" in message and "n = 2 of 3 pairs" in message
    assert "Monitoring overhead" in (world.root / "report" / "index.html").read_text()


def test_overhead_trials_are_excluded_from_a_test_cases_numbers(world: Analysed) -> None:
    """`mixed` is the same test case on the same build; the pairs ran at two thirds of its rate."""
    mixed = world.truths["mixed"]
    assert world.truths["cost_1_on"].test_case.id == mixed.test_case.id
    rows = world.table("test_case_metrics")
    (row,) = rows[
        (rows["test_case"] == mixed.test_case.id)
        & (rows["topology"] == "v1-flash")
        & (rows["name"] == "throughput")
    ].to_dict("records")
    assert (row["n"], row["value"]) == (1, pytest.approx(oracle.operations_s(mixed)))
