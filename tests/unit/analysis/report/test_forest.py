"""The scale of the findings: round ratios, 1 among them, which do not touch on paper."""

from __future__ import annotations

from itertools import pairwise

import pytest

from density_study.analysis.report.forest import APART, _Scale, _ticks, forest
from density_study.analysis.summary.summary import Summary
from tests.support.summary_factory import eight_repetitions

LABEL_ON_PAPER = 22.0
"""Percent of the scale that `×1.05` takes on a sheet of A4."""


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0.96, 1.15, ["×0.95", "×1", "×1.05", "×1.15"]),
        (0.3, 3.0, ["×0.5", "×1", "×2"]),
        (0.99, 1.01, ["×0.99", "×1", "×1.01"]),
        (0.01, 40.0, ["×0.01", "×0.1", "×1", "×10"]),
    ],
)
def test_ticks_are_round_ratios_with_room(low: float, high: float, texts: list[str]) -> None:
    plot = forest(_with_interval(low, high))
    assert [tick.text for tick in plot.ticks] == texts


@pytest.mark.parametrize("high", [1.004, 1.02, 1.05, 1.1, 1.2, 1.4, 1.9, 3.0, 11.0, 9e5])
@pytest.mark.parametrize("low", [1e-5, 0.04, 0.3, 0.6, 0.8, 0.93, 0.98, 0.997])
def test_ticks_never_touch(low: float, high: float) -> None:
    plot = forest(_with_interval(low, high))
    assert any(tick.text == "×1" and tick.at == plot.one for tick in plot.ticks)
    assert all(0 <= tick.at <= 100 for tick in plot.ticks)
    assert all(b.at - a.at >= APART > LABEL_ON_PAPER for a, b in pairwise(plot.ticks))


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.93, 1.24), (0.62, 1.91), (0.3, 3.5), (0.97, 1.05), (0.1, 12.0), (0.01, 900.0), (0.72, 1.3)],
)
def test_every_scale_has_ticks_on_both_sides_of_one(low: float, high: float) -> None:
    ticks = _ticks(_Scale(low, high))
    assert 3 <= len(ticks) <= 1 + 100 / APART
    assert min(ticks) < 1.0 < max(ticks) and 1.0 in ticks


def _with_interval(low: float, high: float) -> Summary:
    summary = eight_repetitions()
    finding = next(one for one in summary.findings if one.effect and one.low and one.high)
    changed = finding.model_copy(update={"effect": 1.0, "low": low, "high": high})
    return summary.model_copy(update={"findings": (changed,)})
