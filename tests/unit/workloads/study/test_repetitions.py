"""The key `repetitions`: a number, or bounds."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Extension, extended, read_plan, write_plan
from density_study.workloads.study.repetitions import Repetitions
from tests.support.drafts import plan, study

BOUNDS = {"at_least": 5, "at_most": 9, "until": "5%"}


def test_a_number_is_both_bounds() -> None:
    found = study(repetitions=3).repetitions
    assert (found.at_least, found.at_most, found.until, str(found)) == (3, 3, None, "3 repetitions")
    assert found.is_fixed


def test_bounds_have_a_width() -> None:
    found = study(repetitions=BOUNDS).repetitions
    assert (found.at_least, found.at_most, found.until) == (5, 9, 0.05)
    assert str(found) == "5 to 9 repetitions, until ±5 %"
    assert Repetitions.model_validate_json(found.model_dump_json()) == found
    assert study(repetitions={"until": "3%"}).repetitions.at_most == 30


def test_without_a_width_each_question_ends_by_itself() -> None:
    found = study(repetitions={"at_least": 5, "at_most": 9}).repetitions
    assert (found.until, found.is_fixed) == (None, False)
    assert str(found) == "5 to 9 repetitions, until its questions are answered"
    assert Repetitions.model_validate_json(found.model_dump_json()) == found
    made = plan(repetitions={"at_least": 5, "at_most": 9})
    assert (made.precise, made.repetitions) == (found, 9)


def test_a_plan_may_keep_repetitions_in_reserve() -> None:
    found = study(repetitions={"at_least": 5, "planned": 7, "at_most": 20}).repetitions
    assert (found.last, found.at_most) == (7, 20)
    assert "5 to 7 repetitions" in str(found) and "up to 20 after a noisy start" in str(found)
    assert Repetitions.model_validate_json(found.model_dump_json()) == found
    made = plan(repetitions={"at_least": 5, "planned": 7, "at_most": 20})
    assert (made.repetitions, made.planned, made.replanned(9).planned) == (20, 7, 9)


def test_no_look_is_added_to_those_that_the_plan_fixed() -> None:
    made = plan(repetitions={"at_least": 5, "at_most": 9})
    with pytest.raises(InputError, match="fixed before the data"):
        extended(made, study(), Extension(add_repetitions=1))
    precise = plan(repetitions=BOUNDS)
    assert extended(precise, study(), Extension(add_repetitions=1)).repetitions == 10


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        (0, "repetitions", "1 to 1,000"),
        (True, "repetitions", "write a whole number"),
        ("two", "repetitions", "write a whole number, not 'two'"),
        ({"at_least": 9, "at_most": 5}, "repetitions.at_most", "more than at_least"),
        ({**BOUNDS, "at_least": 3}, "repetitions.at_least", "5 repetitions or more"),
        ({**BOUNDS, "at_most": 5}, "repetitions.at_most", "more than at_least"),
        ({**BOUNDS, "planned": 7}, "repetitions.planned", "without until"),
        ({"at_least": 5, "planned": 4, "at_most": 9}, "repetitions.planned", "between at_least"),
        ({"at_least": 5, "planned": 10, "at_most": 9}, "repetitions.planned", "between at_least"),
        ({**BOUNDS, "until": "0%"}, "repetitions.until", "above 0"),
        ({**BOUNDS, "untill": "5%"}, "repetitions.untill", "did you mean until"),
    ],
)
def test_a_faulty_value_is_named_with_its_key(value: object, key: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(repetitions=value)
    assert str(caught.value.where).endswith(f"key {key}")
    assert message in str(caught.value)


def test_the_plan_has_every_repetition_that_may_run(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bounded, fixed = plan(repetitions=BOUNDS), plan(repetitions=9)
    assert bounded.steps == fixed.steps
    assert (bounded.repetitions, fixed.precise) == (9, None)
    write_plan(bounded, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == bounded


def test_overhead_pairs_are_in_repetitions_that_run_in_any_case() -> None:
    monitor = {"tool": "dool", "period": "1 s", "overhead_trials": 20}
    found = plan(repetitions=BOUNDS, monitor=monitor)
    pairs = [step for step in found.trials if step.overhead_pair is not None]
    assert len(pairs) == 40
    assert max(step.repetition for step in pairs) <= 5
