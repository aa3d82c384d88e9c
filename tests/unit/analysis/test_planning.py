"""Detectable effects of a study's repetitions: warnings, notes, or refusal before the start."""

from __future__ import annotations

import re

import pytest

from density_study.analysis.findings.power_between_runs import check_can_detect, regressions
from density_study.analysis.findings.power_of_design import (
    Noise,
    check_can_claim,
    families,
    notes,
)
from density_study.cluster.model.errors import InputError
from tests.support.drafts import plan, study

EXPECT = [{"name": "denser-scans", "workload": "scan95-insert5", "compare": "vms_per_host",
           "2_over_1": "> 1.1"}]  # fmt: skip
QUIET = Noise(0.01, "1.0% between builds, by the study")


def _families(**overrides: object) -> dict[str, int]:
    return dict(families(study(**overrides), plan(**overrides)))


def test_families_are_counted_as_they_are_tested() -> None:
    assert _families() == {"density-rate": 6, "density-cpu": 6, "density-latency": 3}
    assert _families(expect=EXPECT)["expect-denser-scans"] == 1


def test_notes_give_the_detectable_effect_and_the_blocks_an_effect_needs() -> None:
    messages = list(notes(_families(repetitions=8), plan(repetitions=8), QUIET, 1.05))
    assert messages[0].startswith("density-rate (6 comparisons): detects a ratio of 1.0")
    assert (
        "a ratio of 1.05 needs" in messages[-1]
        and "1.0% between builds, by the study" in messages[-1]
    )
    few = list(notes(_families(), plan(), QUIET))
    assert "can never be significant, a claim needs 5 builds per arm" in few[0]


def test_a_study_none_of_whose_hypotheses_could_be_decided_is_refused() -> None:
    with pytest.raises(InputError, match="can ever be decided with 1 build") as caught:
        check_can_claim(study(expect=EXPECT), plan(expect=EXPECT), "q.yaml")
    assert caught.value.where == "q.yaml, key expect"
    assert "at least 5 repetitions" in caught.value.remedy
    check_can_claim(
        study(expect=EXPECT, repetitions=5), plan(expect=EXPECT, repetitions=5), "q.yaml"
    )
    check_can_claim(study(), plan(), "q.yaml")  # without hypotheses: points are the purpose


def _compared(repetitions: int, baseline: str, tolerance: str, noise: Noise = QUIET) -> None:
    keys = {"repetitions": repetitions, "compare": {"baseline": baseline, "tolerance": tolerance}}
    check_can_detect(study(**keys), plan(**keys), "q.yaml", noise)


def test_a_comparison_that_cannot_show_its_own_tolerance_is_refused() -> None:
    _compared(8, "rolling 5", "5%")
    _compared(8, "20261120T201530Z", "5%")
    for repetitions, tolerance, noise in (
        (8, "0.5%", QUIET),
        (1, "2%", Noise(0.05, "n")),
        (8, "5%", Noise(0.1, "n")),
    ):
        with pytest.raises(InputError, match="the tolerance is") as caught:
            _compared(repetitions, "rolling 5", tolerance, noise)
        assert caught.value.where == "q.yaml, key compare"
        assert "larger tolerance" in caught.value.remedy
    _compared(1, "rolling 9", "50%", Noise(0.05, "n"))  # one build is a run, too


def test_the_blocks_in_a_remedy_are_enough() -> None:
    noisy = Noise(0.05, "n")
    with pytest.raises(InputError) as caught:
        _compared(5, "rolling 5", "5%", noisy)
    repetitions = int(caught.value.remedy.split()[1])
    _compared(repetitions, "rolling 5", "5%", noisy)
    with pytest.raises(InputError):
        _compared(repetitions - 1, "rolling 5", "5%", noisy)


def test_a_requested_rate_is_not_a_comparison() -> None:
    ycsb = {"records": [1000], "mixes": ["a"], "threads": [8]}
    workloads = {"workloads": [{"ycsb": {**ycsb, "latency_at": ["50%", "100/s"]}}]}
    assert _families(**workloads) == {"density-rate": 1, "density-cpu": 3, "density-latency": 3}


def test_more_repetitions_do_not_make_nights_equal() -> None:
    keys = {"repetitions": 8, "compare": {"baseline": "rolling 5", "tolerance": "5%"}}
    (line,) = regressions(study(**keys), plan(**keys), QUIET)
    drops = [float(one) for one in re.findall(r"([0-9.]+)% at", line)]
    assert drops == sorted(drops) and drops[0] < 10 < drops[-1]
    keys["repetitions"] = 100
    (line,) = regressions(study(**keys), plan(**keys), QUIET)
    assert float(re.findall(r"([0-9.]+)% at", line)[-1]) == pytest.approx(drops[-1], rel=0.02)
    assert not list(regressions(study(), plan(), QUIET))


def test_a_pair_is_as_noisy_as_builds_of_one_repetition() -> None:
    keys = {"repetitions": 8}
    asked = families(study(**keys), plan(**keys)), plan(**keys)
    apart, paired = Noise(0.1, "n"), Noise(0.1, "n", within=0.02)
    assert list(notes(*asked, paired)) == list(notes(*asked, Noise(0.02, "n")))
    assert list(notes(*asked, paired)) != list(notes(*asked, apart))


def test_power_is_printed_for_several_spreads() -> None:
    keys = {"repetitions": 8}
    text = "\n".join(notes(families(study(**keys), plan(**keys)), plan(**keys), QUIET))
    assert re.search(r"chance to detect .* \d+% at 2.5%, \d+% at 5.0%, \d+% at 10.0%", text)
