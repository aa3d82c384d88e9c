"""What may be asked of operations per second, and what is refused."""

from __future__ import annotations

import pytest

from density_study.analysis.capacity.operations.load import load
from density_study.cluster.model.errors import InputError
from tests.unit.analysis.capacity.operations.measured import GROUP, model


@pytest.mark.parametrize(
    ("text", "ops_s"),
    [
        ("1,000,000/s", 1e6),
        ("1000000/s", 1e6),
        ("250k/s", 250e3),
        ("1M/s", 1e6),
        ("1.5M/s", 1.5e6),
        ("6000 ops/min", 100.0),
        ("3600operations/h", 1.0),
    ],
)
def test_rates(text: str, ops_s: float) -> None:
    assert load(text, "a", [], model()).ops_s == pytest.approx(ops_s)


@pytest.mark.parametrize(
    "text",
    ["1000000", "1,000/s", "1.000.000/s", "0/s", "-5/s", "1,00,000/s", "5 MiB/s", "5/fortnight"],
)
def test_a_rate_without_a_unit_or_with_two_readings_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=r"number with its unit|not known|two readings|must be positive"
    ):
        load(text, "a", [], model())


@pytest.mark.parametrize(
    "text", ["read_p99", "read_p99=10", "read_p100=1ms", "read_p0=1ms", "read_p99=0ms", "p99=1ms"]
)
def test_a_limit_that_says_too_little_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="read_p99=10ms"):
        load("1k/s", "a", [text], model())


def test_limits_are_of_one_operation_and_percentile_each() -> None:
    asked = load("1k/s", "a", ["read_p99=10ms", "update_p95=1s"], model())
    assert asked.slos == ("READ p99 <= 10 ms", "UPDATE p95 <= 1000 ms")
    both = load("1k/s", "a", ["read-modify-write_p99=9ms"], model()).slos
    assert both == ("READ-MODIFY-WRITE p99 <= 9 ms",)
    with pytest.raises(InputError, match="two limits"):
        load("1k/s", "a", ["read_p99=10ms", "read_p99=20ms"], model())


def test_a_mix_is_found_by_name_or_group_and_an_unclear_one_lists_the_groups() -> None:
    assert load("1k/s", "a", [], model()).group == GROUP
    assert load("1k/s", GROUP, [], model()).group == GROUP
    with pytest.raises(InputError, match=f"was not measured.*{GROUP}"):
        load("1k/s", "b", [], model())
    other = f"{GROUP}-x"
    twice = [one.model_copy(update={"group": other}) for one in model().points]
    both = model().model_copy(update={"points": (*model().points, *twice)})
    with pytest.raises(InputError, match=f"measured in several ways.*{other}"):
        load("1k/s", "a", [], both)


@pytest.mark.parametrize(("draws", "gib"), [(99, None), (100, 0.0), (100, float("nan"))])
def test_too_few_draws_and_an_impossible_table_are_refused(draws: int, gib: float | None) -> None:
    with pytest.raises(InputError):
        load("1k/s", "a", [], model(), draws=draws, data_gib=gib)
