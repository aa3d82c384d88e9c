"""The noise of a run's first repetitions: what it says, and error rates if it decides how many follow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from density_study.analysis.findings.answered import evidence_of, last_needed
from density_study.analysis.findings.noise_seen import Measured, noise_of_questions
from density_study.analysis.findings.question_power import (
    PlannedQuestion,
    asked_of_plan,
    questions_of,
)
from density_study.analysis.statistics.looks import Looks
from density_study.dags.stages.rehearsal import rehearsed_plan
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study_file import StudyFile, parse_study
from tests.support.made_runs.answered import STUDY, measured

PLANNED, MOST = 8, 32
RESERVE = STUDY.replace("at_most: 8", f"planned: {PLANNED}, at_most: {MOST}")
NOISE = 0.03


@pytest.fixture
def planned(tmp_path: Path) -> tuple[StudyFile, Plan]:
    file = parse_study(RESERVE, "answered.yaml", {})
    return file, rehearsed_plan(file, tmp_path)


def seen(
    planned: tuple[StudyFile, Plan], points: dict[str, Sequence[float]]
) -> dict[str, Measured]:
    file, plan = planned
    evidence = evidence_of(plan, measured(file, plan, 5, points), (), 5)
    return dict(noise_of_questions(evidence, asked_of_plan(file.study, plan)))


def last(planned: tuple[StudyFile, Plan], noise: float, paid: int = MOST) -> int | None:
    file, plan = planned
    found = {name: Measured(noise, noise / 2, noise * 2) for name in ("reads", "scans")}
    return last_needed(questions_of(file.study, plan), found, plan, paid)


def test_the_noise_is_that_of_builds_whatever_the_variants_differ_by(
    planned: tuple[StudyFile, Plan],
) -> None:
    swing = np.exp(np.array([1.0, -1.0, 0.5, -0.5, 0.0]) * NOISE)
    plain = seen(planned, {"c": tuple(swing), "e": tuple(swing**2)})
    faster = seen(planned, {"c": tuple(1.5 * swing), "e": tuple(0.2 * swing**2)})
    assert faster["reads"].noise == pytest.approx(plain["reads"].noise)
    assert faster["scans"].noise == pytest.approx(2 * plain["reads"].noise)
    # one of two variants varies, so that each build's share of the difference is half of the variance
    found = plain["reads"]
    assert found.noise == pytest.approx(
        NOISE * float(np.std([1, -1, 0.5, -0.5, 0], ddof=1)) / sqrt(2)
    )
    # four degrees of freedom: 4 / 11.143 and 4 / 0.484
    assert (found.low / found.noise, found.high / found.noise) == pytest.approx(
        (0.599, 2.874), abs=1e-3
    )


def test_without_two_builds_the_noise_of_a_question_is_not_known(
    planned: tuple[StudyFile, Plan],
) -> None:
    file, plan = planned
    evidence = evidence_of(plan, measured(file, plan, 1, {}), (), 1)
    assert noise_of_questions(evidence, asked_of_plan(file.study, plan)) == {}
    assert last_needed(questions_of(file.study, plan), {}, plan, MOST) == PLANNED


def test_more_noise_asks_for_more_repetitions_as_far_as_the_budget_pays(
    planned: tuple[StudyFile, Plan],
) -> None:
    assert last(planned, 0.01) == PLANNED
    asked_for = last(planned, 0.12)
    assert asked_for and PLANNED < asked_for < MOST
    assert last(planned, 0.12, paid=asked_for - 2) == asked_for - 2
    assert last(planned, 0.12, paid=6) == PLANNED, (
        "never fewer: the budget ends them when it is used up"
    )
    assert last(planned, 0.5) == MOST


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    file = parse_study(STUDY, "answered.yaml", {})
    plan = rehearsed_plan(file, tmp_path)
    assert last((file, plan), 0.5) is None
    assert plan.replanned(None) == plan and plan.after(plan.planned) == ()


def claims(
    rng: np.random.Generator, planned: tuple[StudyFile, Plan], noise: float, shared: bool
) -> float:
    """Share of comparisons without an effect that claim one at any look. `shared`: looks share the error."""
    file, plan = planned
    questions: tuple[PlannedQuestion, ...] = questions_of(file.study, plan)[:1]

    @cache
    def last_by(thousandths: int) -> int:
        found = {questions[0].name: Measured(thousandths / 1000, 0.0, 1.0)}
        return last_needed(questions, found, plan, MOST) or PLANNED

    times = 20_000
    shifts = sqrt(2) * noise * rng.standard_normal((times, MOST))
    pilots = np.round(1000 * shifts[:, :5].std(axis=1, ddof=1) / sqrt(2)).astype(int)
    ends = np.array([last_by(max(1, int(one))) for one in pilots])
    assert len(set(ends)) > 5, "the noise decides"
    claimed = np.zeros(times, dtype=bool)
    for n in range(5, MOST + 1):
        t = shifts[:, :n].mean(axis=1) / (shifts[:, :n].std(axis=1, ddof=1) / sqrt(n))
        p = 2 * special.stdtr(n - 1, -np.abs(t))
        shares = np.array([Looks(5, int(end)).share(n) for end in ends]) if shared else 1.0
        claimed |= (p <= 0.05 * shares) & (n <= ends)
    return float(claimed.mean())


@pytest.mark.thorough
@pytest.mark.parametrize("noise", (0.05, 0.08, 0.12, 0.2))
def test_with_repetitions_by_the_noise_at_most_5_of_100_comparisons_claim_nothing_true(
    planned: tuple[StudyFile, Plan], noise: float
) -> None:
    """20,000 comparisons each; 5 % and two standard errors."""
    found = claims(np.random.default_rng(17), planned, noise, shared=True)
    assert 0.005 < found <= 0.05 + 2 * sqrt(0.05 * 0.95 / 20_000)


@pytest.mark.thorough
def test_plain_tests_at_these_looks_would_claim_more(planned: tuple[StudyFile, Plan]) -> None:
    """The check above can fail."""
    assert claims(np.random.default_rng(17), planned, 0.08, shared=False) > 0.1
