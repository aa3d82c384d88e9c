"""What earlier runs say of the noise of the next one: by comparison, and within windows."""

from __future__ import annotations

from math import exp, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from density_study.analysis.findings import findings
from density_study.analysis.findings.answered import evidence_of
from density_study.analysis.findings.noise_seen import noise_seen
from density_study.analysis.findings.outlook import outlooks
from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.findings.question_power import asked_of_plan, questions_of
from density_study.analysis.findings.window_noise import (
    between_builds,
    enough_s,
    second_seen,
    window_lines,
)
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.summary.series import RateSeries, TrialSeries
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import Foreseen, foreseen
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.study_file import parse_study
from tests.known_answers.foretold import noisier
from tests.support.made_runs.answered import DISK_RATES

BUILDS = 0.03


@pytest.fixture
def seen(tmp_path: Path) -> Foreseen:
    text = DISK_RATES.replace("[disk-rate]", "[disk-rate, disk-latency]").replace(": 8", ": 40")
    file = parse_study(text, "decided.yaml")
    noise = Noise(builds=BUILDS, trials=0.0)
    return foreseen(file, tmp_path, named_effects("none"), noise)


def _run(seen: Foreseen, seed: int) -> Any:
    drawn = Drawing(seen.plan, seen.rehearsal).test_cases(seed)
    return SimpleNamespace(
        test_cases=tuple(map(noisier, drawn)), repetitions=seen.plan.repetitions, series=()
    )


def test_a_latency_that_varies_more_than_a_rate_is_foretold_to_detect_less(seen: Foreseen) -> None:
    """And as little as the next run finds. A pooled spread would promise both the same."""
    study, plan = seen.file.study, seen.plan
    asked = asked_of_plan(study, plan)
    noise = SeenNoise(0.05, "seen", None, noise_seen([_run(seen, 1)], asked))
    foretold = {
        one.name: one.detects(plan.repetitions, noise) or 1.0 for one in questions_of(study, plan)
    }
    assert log(foretold["disk-latency"]) > 2 * log(foretold["disk-rate"])
    found = findings(evidence_of(plan, _run(seen, 2).test_cases), asked)
    for name, ratio in foretold.items():
        worst = max(one.detectable or 1.0 for one in found if one.question == name)
        assert worst == pytest.approx(ratio, rel=0.1)
    told = {one.question: one.at[0] for one in outlooks(questions_of(study, plan), plan, noise)}
    assert told["disk-latency"].noise is None, "its own"
    assert told["disk-latency"].detects == pytest.approx(foretold["disk-latency"])


def test_a_comparison_that_never_ran_has_the_noise_of_its_measure(seen: Foreseen) -> None:
    asked = asked_of_plan(seen.file.study, seen.plan)
    found = noise_seen([_run(seen, 1)], asked)
    (rate, *_) = (one for one in questions_of(seen.file.study, seen.plan))
    new = rate.comparisons[0].__class__(
        **{**vars(rate.comparisons[0]), "id": "disk-rate-of-a-new-test-case"}
    )
    assert SeenNoise(0.5, "seen", None, found).of(new) == pytest.approx(BUILDS, rel=0.3)
    assert noise_seen([], asked) == {}


def _course(spread: float, seconds: int) -> Any:
    rng = np.random.default_rng(1)
    rates = tuple(exp(x) for x in rng.normal(0, spread, seconds))
    one = RateSeries(name="operations", unit="ops/s", at_s=tuple(range(seconds)), rate=rates)
    trial = TrialSeries(trial="t", step_s=1, rates=(one,))
    return SimpleNamespace(series=(trial,) * 3)


def test_windows_that_add_little_to_the_noise_of_builds_are_longer_than_they_need_to_be(
    seen: Foreseen,
) -> None:
    second = second_seen([_course(0.1, 3000)])
    assert second == pytest.approx(0.1, rel=0.5)
    assert second_seen([SimpleNamespace(series=())]) is None  # type: ignore[list-item]
    between = between_builds(0.05, 0.1, 50.0)
    assert between == pytest.approx(np.sqrt(0.05**2 - 0.1**2 / 50))
    assert 0.1**2 / enough_s(between, 0.1) == pytest.approx(0.1 * between**2)
    (line,) = window_lines(seen.plan, 0.05, 0.06)
    assert line.startswith("windows of 50 s are longer than they need to be: in 30 s")
    assert not list(window_lines(seen.plan, 0.02, 0.1)), "what seconds add is not little"
    assert not list(window_lines(seen.plan, 0.05, None)), "nobody knows"
