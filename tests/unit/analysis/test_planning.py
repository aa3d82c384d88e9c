"""What a study's questions need and can decide: shown, or refused before the start."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from density_study.analysis.findings import outlook
from density_study.analysis.findings.outlook import notes, outlooks
from density_study.analysis.findings.power_between_runs import check_can_detect, regressions
from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.findings.question_power import (
    PlannedQuestion,
    check_can_decide,
    needed,
    questions_of,
    seconds_of,
)
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from tests.support.drafts import plan, study

EXPECT = [{"name": "denser-scans", "workload": "scan95-insert5", "compare": "vms_per_host",
           "2_over_1": "> 1.1"}]  # fmt: skip
QUIET = SeenNoise(0.01, "1.0% between builds, by the study")


QUIETEST = SeenNoise()


def _asked(**overrides: object) -> dict[str, PlannedQuestion]:
    """Of the draft study in containers: on process groups no question about density can be decided."""
    contained = {
        name: replace(topology, isolation=Isolation.CONTAINER)
        for name, topology in plan(**overrides).topologies.items()
    }
    planned = plan(**overrides).model_copy(update={"topologies": contained})
    return {one.name: one for one in questions_of(study(**overrides), planned)}


def _sizes(**overrides: object) -> dict[str, int]:
    return {name: len(one.comparisons) for name, one in _asked(**overrides).items()}


def test_questions_are_those_declared_or_else_what_the_study_is_about() -> None:
    assert _sizes() == {"density-rate": 6}
    assert _sizes(expect=EXPECT) == {"denser-scans": 1}
    names = ["density-latency", "denser-scans"]
    assert _sizes(expect=EXPECT, questions=names) == {"density-latency": 3, "denser-scans": 1}
    assert _sizes(questions=[]) == {}
    for limit in ("20 ms", "0.5 ms"):
        assert _sizes(slo={"scan_p99": limit}) == {"best-density": 1}


def test_all_questions_share_one_error_budget() -> None:
    alone = _asked(repetitions=8, questions=["density-latency"])["density-latency"]
    beside = _asked(repetitions=8, questions=["density-rate", "density-latency"])
    assert alone.of == 3 and beside["density-latency"].of == 9
    assert beside["density-latency"].power(8, 0.05) < alone.power(8, 0.05)


def test_a_question_names_its_power_its_needs_and_its_time() -> None:
    keys = {"repetitions": 8, "questions": ["density-latency"]}
    asked, made = tuple(_asked(**keys).values()), plan(**keys)
    (one,) = outlooks(asked, made, QUIET)
    assert (one.comparisons, one.test_cases, one.variants) == (3, 3, 2)
    assert 0 < one.time_s < made.estimate_s
    assert [at.noise for at in one.at] == [0.025, 0.05, 0.1, 0.01]
    assert all(at.power == asked[0].power(8, at.noise or 0.0) for at in one.at)
    source, rest = notes(asked, made, QUIET, declared=True)
    assert source == "noise: 1.0% between builds, by the study"
    assert rest.startswith("measured, not tested: 6 of 12 test cases by variant")
    first = next(iter(notes(tuple(_asked().values()), plan(), QUIET, declared=False)))
    assert first == "the study declares no `questions`; these are decided: density-rate"


def test_what_all_questions_rest_on_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, made, calls = tuple(_asked(expect=EXPECT).values()), plan(expect=EXPECT), []
    apart = frozenset[object]().union(*(needed(made, one.cells) for one in asked * 2))

    def counted(*given: Any) -> Any:
        calls.append(needed(*given))
        return calls[-1]

    monkeypatch.setattr(outlook, "needed", counted)
    assert list(notes(asked * 2, made, QUIET, declared=True))
    assert calls == [apart]


def test_equal_answers_of_searches_are_rounded_and_not_without_noise() -> None:
    one = _asked(repetitions=8)["density-rate"]
    assert one.power(8, SeenNoise(0.0, "seen in earlier runs")) == 1.0


def test_repetitions_that_a_question_needs_are_enough_and_no_fewer_are() -> None:
    one = _asked(repetitions=8)["density-rate"]
    for spread in (0.025, 0.05, 0.1):
        needs = one.needs(spread)
        assert needs and one.power(needs, spread) >= 0.8
        assert needs == 5 or one.power(needs - 1, spread) < 0.8
        powers = [one.power(n, spread) for n in range(5, 400)]
        assert powers == sorted(powers)  # also where scipy's noncentral t is no number


def test_a_questions_time_holds_what_its_test_cases_rest_on() -> None:
    whole = plan(repetitions=5)
    cells = needed(
        whole,
        [(step.test_case.id, whole.builds[step.build]) for step in whole.trials if step.test_case],
    )
    assert seconds_of(whole, cells) == pytest.approx(whole.estimate_s)
    one = next(
        step
        for step in whole.trials
        if step.test_case and step.test_case.mode_name == "scan95-insert5"
    )
    cell = (one.test_case.id, whole.builds[one.build])  # type: ignore[union-attr]
    assert {test_case.split("-")[1] for test_case, _ in needed(whole, [cell])} == {"scan95", "load"}


def test_a_study_none_of_whose_questions_can_be_decided_is_refused() -> None:
    few = {"expect": EXPECT}
    with pytest.raises(InputError, match="no question of the study can be decided") as caught:
        check_can_decide(study(**few), plan(**few), "q.yaml", QUIETEST)
    assert caught.value.where == "q.yaml, key questions"
    assert "--anyway" in caught.value.remedy and "questions: []" in caught.value.remedy
    check_can_decide(study(), plan(), "q.yaml", QUIETEST)  # a look: points are the purpose
    with pytest.raises(InputError, match="nothing of this study is named 'stack-rate'") as caught:
        keys = {"questions": ["stack-rate"]}
        check_can_decide(study(**keys), plan(**keys), "q.yaml", QUIETEST)
    assert "density-rate" in caught.value.remedy


def _compared(repetitions: int, baseline: str, tolerance: str, noise: SeenNoise = QUIET) -> None:
    keys = {"repetitions": repetitions, "compare": {"baseline": baseline, "tolerance": tolerance}}
    check_can_detect(study(**keys), plan(**keys), "q.yaml", noise)


def test_a_comparison_that_cannot_show_its_own_tolerance_is_refused() -> None:
    _compared(8, "rolling 5", "5%")
    _compared(8, "20261120T201530Z", "5%")
    for repetitions, tolerance, noise in (
        (8, "0.5%", QUIET),
        (1, "2%", SeenNoise(0.05, "n")),
        (8, "5%", SeenNoise(0.1, "n")),
    ):
        with pytest.raises(InputError, match="the tolerance is") as caught:
            _compared(repetitions, "rolling 5", tolerance, noise)
        assert caught.value.where == "q.yaml, key compare"
        assert "larger tolerance" in caught.value.remedy
    _compared(1, "rolling 9", "50%", SeenNoise(0.05, "n"))  # one build is a run, too


def test_the_blocks_in_a_remedy_are_enough() -> None:
    noisy = SeenNoise(0.05, "n")
    with pytest.raises(InputError) as caught:
        _compared(5, "rolling 5", "5%", noisy)
    repetitions = int(caught.value.remedy.split()[1])
    _compared(repetitions, "rolling 5", "5%", noisy)
    with pytest.raises(InputError):
        _compared(repetitions - 1, "rolling 5", "5%", noisy)


def test_a_requested_rate_is_not_a_comparison() -> None:
    ycsb = {"records": [1000], "mixes": ["a"], "threads": [8]}
    names = ["density-rate", "density-cpu", "density-latency"]
    workloads = {
        "workloads": [{"ycsb": {**ycsb, "latency_at": ["50%", "100/s"]}}],
        "questions": names,
    }
    assert _sizes(**workloads) == {"density-rate": 1, "density-cpu": 3, "density-latency": 3}


def test_more_repetitions_do_not_make_nights_equal() -> None:
    keys = {"repetitions": 8, "compare": {"baseline": "rolling 5", "tolerance": "5%"}}
    (line,) = regressions(study(**keys), plan(**keys), QUIET)
    drops = [float(one) for one in re.findall(r"([0-9.]+)% at", line)]
    assert drops == sorted(drops) and drops[0] < 10 < drops[-1]
    keys["repetitions"] = 100
    (line,) = regressions(study(**keys), plan(**keys), QUIET)
    assert float(re.findall(r"([0-9.]+)% at", line)[-1]) == pytest.approx(drops[-1], rel=0.02)
    assert not list(regressions(study(), plan(), QUIET))
