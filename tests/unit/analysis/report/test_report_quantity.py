"""Number formats of the report."""

from __future__ import annotations

import pytest

from density_study.analysis.report.charts.quantity import duration, interval, quantity, ratio
from density_study.analysis.summary.numbers import digits

NBSP = "\xa0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (7420.4, "7,420"),
        (1234567.0, "1,234,567"),
        (191.25, "191"),
        (31.52, "31.5"),
        (1.0, "1.00"),
        (0.8449, "0.845"),
        (0.00213, "0.00213"),
        (-4.5, "-4.50"),
    ],
)
def test_three_significant_digits_and_whole_large_numbers(value: float, text: str) -> None:
    assert digits(value) == text


def test_a_number_has_its_unit() -> None:
    assert quantity(7420.0, "ops/s") == f"7,420{NBSP}ops/s"
    assert quantity(46.0, "percent") == f"46.0{NBSP}%"
    assert quantity(6.0, "count") == f"6.00{NBSP}maps"
    assert quantity(None, "ms") == "not computed"
    assert interval(1.0, 2.0, "ms") == f"1.00 to 2.00{NBSP}ms"
    assert interval(1.0, None, "ms") == ""


def test_ratios_have_two_places() -> None:
    assert (ratio(0.952), ratio(1.2), ratio(12.44), ratio(None)) == (
        "×0.95",
        "×1.20",
        "×12.4",
        "not computed",
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (41.5, "41.5 s"),
        (59.99, "60.0 s"),
        (60.0, "1 min"),
        (460.2, "7 min 40 s"),
        (7920.0, "2 h 12 min"),
        (86_400.0, "24 h"),
        (1_050_000.0, "12 d 3 h"),
    ],
)
def test_durations_use_common_units(seconds: float, text: str) -> None:
    assert duration(seconds).replace(NBSP, " ") == text


def test_an_unknown_time_is_not_zero() -> None:
    assert duration(None) == "not computed"
