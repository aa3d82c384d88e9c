"""The noise of a run's first repetitions: what it says, and error rates if it decides how many follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from density_study.analysis.findings.answered import evidence_of, last_needed
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.noise_seen import Measured, noise_of_questions
from density_study.analysis.findings.question import RISES, Question
from density_study.analysis.findings.question_power import asked_of_plan, questions_of
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import ALPHA
from density_study.dags.stages.rehearsal import rehearsed_plan
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study_file import StudyFile, parse_study
from tests.support.made_runs.answered import STUDY, measured
from tests.support.made_runs.step_down import rejected

PLANNED, MOST = 8, 32
RESERVE = STUDY.replace("at_most: 8", f"planned: {PLANNED}, at_most: {MOST}")
NOISE = 0.03
TIMES = 5000


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
    rng: np.random.Generator,
    planned: tuple[StudyFile, Plan],
    noise: float,
    ratios: Sequence[float] = (1.0,),
    common: float = 0.0,
    shared: bool = True,
) -> float:
    """Share of reports that claim, at any look, a comparison without an effect. `ratios`: the true ones, each
    of a question that leaves once it is decided. `common`: the share of noise that all comparisons have in
    common. `shared`: looks share the error."""
    file, plan = planned
    (one, *_) = questions_of(file.study, plan)
    of = len(ratios)
    questions = [replace(one, name=str(at), of=of) for at in range(of)]

    @cache
    def last_by(thousandths: int) -> int:
        found = {each.name: Measured(thousandths / 1000, 0.0, 1.0) for each in questions}
        return last_needed(questions, found, plan, MOST) or PLANNED

    same, own = rng.standard_normal((TIMES, 1, MOST)), rng.standard_normal((TIMES, of, MOST))
    shifts = sqrt(2) * noise * (sqrt(common) * same + sqrt(1 - common) * own)
    shifts += np.log(ratios)[:, None]
    # the noisiest question needs the most repetitions
    pilots = np.round(1000 * shifts[:, :, :5].std(axis=2, ddof=1).max(axis=1) / sqrt(2))
    ends = np.array([last_by(max(1, int(pilot))) for pilot in pilots])
    assert len(set(ends)) > 5, "the noise decides"
    left = np.zeros((TIMES, of), dtype=bool)
    kept, best = np.ones((TIMES, of)), np.ones((2, TIMES, of))
    at_look = np.full((TIMES, of), MOST)
    for n in range(5, MOST + 1):
        going = (n <= ends)[:, None] & ~left
        shares = np.array([Looks(5, int(end)).share(n) for end in ends])[:, None] if shared else 1.0
        t = shifts[:, :, :n].mean(axis=2) / (shifts[:, :, :n].std(axis=2, ddof=1) / sqrt(n))
        now = 2 * special.stdtr(n - 1, -np.abs(t)) / shares
        for side, above in enumerate((t > 0, t <= 0)):  # the looks that support the same verdict
            best[side] = np.where(above, np.minimum(best[side], now), best[side])
        kept = np.where(going, np.where(t > 0, *best), kept)
        at_look = np.where(going, n, at_look)
        left |= going & (now <= ALPHA) & rejected(kept, ALPHA / np.arange(of, 0, -1))
    if shared:
        for at in range(20):
            asked = [
                question(tuple(np.exp(shifts[at, k, : at_look[at, k]])), str(k)) for k in range(of)
            ]
            found = decide(asked, int(ends[at]), looks=Looks(5, int(ends[at])))
            assert [each.is_decided for each in found] == left[at].tolist()
    return float(left[:, np.array(ratios) == 1.0].any(axis=1).mean())


def question(later: Sequence[float], name: str) -> Question:
    return Question(
        id=name, family=name, subject=name, measure="throughput", variants="2 over 1", rule=RISES,
        first=(1.0,) * len(later), later=tuple(later), blocks=len(later),
    )  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("noise", (0.05, 0.08, 0.12, 0.2))
@pytest.mark.parametrize(
    ("ratios", "common"),
    (((1.0,), 0.0), ((1.0, 1.0, 1.0), 0.0), ((1.3, 1.0, 1.0), 0.9), ((1.3, 1.0, 1.0, 1.0), 0.0)),
)
def test_with_repetitions_by_the_noise_at_most_5_of_100_reports_claim_nothing_true(
    planned: tuple[StudyFile, Plan], ratios: Sequence[float], common: float, noise: float
) -> None:
    """5,000 reports each; 5 % and two standard errors."""
    found = claims(np.random.default_rng(17), planned, noise, ratios, common)
    assert 0.005 < found <= ALPHA + 2 * sqrt(ALPHA * (1 - ALPHA) / TIMES)


@pytest.mark.thorough
def test_plain_tests_at_these_looks_would_claim_more(planned: tuple[StudyFile, Plan]) -> None:
    """The check above can fail."""
    assert claims(np.random.default_rng(17), planned, 0.08, shared=False) > 0.1
