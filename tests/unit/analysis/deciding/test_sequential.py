"""Looking after every repetition costs no error: coverage and false claims of studies, by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, log, sqrt

import numpy as np
import pytest

from density_study.analysis.findings.decide import SEQUENCE_TEST, decide
from density_study.analysis.findings.precision import looks, path, reach
from density_study.analysis.findings.question import RISES, SIMILAR, Question
from density_study.analysis.statistics.difference import difference
from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.statistics.power import ALPHA
from density_study.analysis.statistics.sequential import (
    paired_logs,
    sequence_errors,
    sequence_interval,
    sequence_mean,
    sequence_p,
    sequence_ratio,
)
from tests.support.made_runs.step_down import rejected

FIRST, MOST = 5, 30
REPEATS = 600
NOISES = {
    "normal": lambda rng, n: 0.03 * rng.standard_normal(n),
    "heavy": lambda rng, n: 0.03 * rng.standard_t(3, n),
    "outliers": lambda rng, n: 0.03 * rng.standard_normal(n) * np.where(rng.random(n) < 0.1, 6, 1),
}


def question(first: np.ndarray, later: np.ndarray, name: str = "a") -> Question:
    return Question(
        id=name, family="density-rate", subject=name, measure="throughput", variants="2 over 1",
        rule=RISES, first=tuple(first), later=tuple(later),
    )  # fmt: skip


def variants(
    rng: np.random.Generator, ratio: float = 1.0, noise: str = "normal"
) -> list[np.ndarray]:
    return [k * np.exp(NOISES[noise](rng, MOST)) for k in (1000.0, 1000.0 * ratio)]


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISES)
def test_no_look_misses_the_true_ratio_in_95_of_100_studies(noise: str) -> None:
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(REPEATS):
        first, later = variants(rng, 1.3, noise)
        ends = [sequence_ratio(first[:n], later[:n])[1] for n in range(FIRST, MOST + 1)]
        covered += all(one.low <= 1.3 <= one.high for one in ends)
    assert covered / REPEATS >= 0.95


@pytest.mark.thorough
def test_a_t_interval_at_every_look_would_miss_it() -> None:
    """Why it is not used; and that the check above can fail."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(200):
        first, later = variants(rng, 1.3)
        ends = [difference(first[:n], later[:n], n).interval for n in range(FIRST, MOST + 1)]
        covered += all(one.low <= 1.3 <= one.high for one in ends)
    assert covered / 200 < 0.9


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("ratios", ((1.0, 1.0, 1.0), (1.3, 1.0, 1.0)))
def test_at_most_5_of_100_studies_claim_a_difference_that_is_not_there(
    ratios: Sequence[float], noise: str
) -> None:
    """10,000 studies of three comparisons, of which any look may make a claim: whenever `until` ends the
    repetitions. 5 % and two standard errors."""
    rng, times, of = np.random.default_rng(11), 10_000, len(ratios)
    shifts = np.log(ratios)[:, None] + (
        NOISES[noise](rng, (times, of, MOST)) - NOISES[noise](rng, (times, of, MOST))
    )
    false = np.zeros(times, dtype=bool)
    for n in range(FIRST, MOST + 1):
        t = shifts[:, :, :n].mean(axis=2) / (shifts[:, :, :n].std(axis=2, ddof=1) / sqrt(n))
        limits = [-sequence_errors(n, ALPHA / left) for left in range(of, 0, -1)]
        claimed = rejected(-np.abs(t), limits)
        false |= claimed[:, np.array(ratios) == 1.0].any(axis=1)
    for at in range(50):
        logs = np.exp(shifts[at])
        asked = [question(np.ones(MOST), later, str(k)) for k, later in enumerate(logs)]
        found = decide(asked, MOST, sequential=True)
        assert [one.is_decided for one in found] == claimed[at].tolist()
    assert false.mean() <= ALPHA + 2 * sqrt(ALPHA * (1 - ALPHA) / times)


@pytest.mark.thorough
def test_studies_that_stop_when_precise_cover_the_truth_and_find_differences() -> None:
    rng = np.random.default_rng(13)
    covered = decided = 0
    builds = []
    for _ in range(200):
        first, later = variants(rng, 1.1)
        for n in range(FIRST, MOST + 1):
            (look,) = looks([question(first[:n], later[:n])], 0.02)
            if look.precise or n == MOST:
                break
        assert look.low and look.high
        covered += look.low <= 1.1 <= look.high
        decided += look.precise == "decided"
        builds.append(n)
    assert covered / 200 >= 0.95
    assert decided / 200 >= 0.95
    assert np.mean(builds) < 12  # of at most 30


def test_p_is_5_percent_at_both_ends_of_the_interval() -> None:
    values = [0.1, 0.15, 0.08, 0.2, 0.13, 0.11]
    ends = sequence_interval(values)
    for end in (ends.low, ends.high):
        assert sequence_p(values, end) == pytest.approx(0.05)
    assert sequence_p(values, 0.13) == 1.0


def test_the_bayes_factor_is_that_of_its_integral() -> None:
    """Against numeric integration over mean and noise, with effect ~ N(0, 3) and p(noise) ~ 1/noise."""
    values = np.array([0.9, 1.4, 0.3, 1.1, 0.8])
    n = len(values)
    s = np.exp(np.linspace(log(0.02), log(60), 1001))  # uniform in log s is p(s) ~ 1/s
    squares = float((values**2).sum())
    null = s**-n * np.exp(-squares / 2 / s**2)
    d = np.linspace(-14, 14, 1001)[:, None]  # the effect, mean / s
    misfit = (squares / s**2) - 2 * d * values.sum() / s + n * d**2
    prior = np.exp(-(d**2) / 6) / np.sqrt(6 * np.pi)
    other = np.trapezoid(s**-n * np.exp(-misfit / 2) * prior, d[:, 0], axis=0)
    factor = np.trapezoid(other, np.log(s)) / np.trapezoid(null, np.log(s))
    assert sequence_p(values.tolist(), 0.0) == pytest.approx(min(1.0, 1 / factor), rel=1e-3)


def test_few_values_have_no_interval_and_no_p() -> None:
    for values in ([], [1.0], [1.0, 1.2], [1.0, 1.2, 1.1]):
        ends = sequence_interval(values)
        assert (ends.low, ends.high) == (-inf, inf)
    assert sequence_p([0.3], 0.0) == 1.0
    assert sequence_p([0.3] * 5, 0.0) == 0.0
    assert sequence_p([0.3] * 5, 0.3) == 1.0


def test_the_price_of_looking_is_a_wider_interval() -> None:
    values = [1000.0, 1040.0, 980.0, 1010.0, 1025.0, 990.0]
    fixed, looked = mean_interval(values), sequence_mean(values)
    assert looked.low < fixed.low < fixed.high < looked.high
    assert reach(looked.low, looked.high) < 2.5 * reach(fixed.low, fixed.high)


def test_builds_are_paired_by_block_and_the_block_cancels() -> None:
    blocks = np.exp(np.array([0.5, -0.4, 0.3, -0.2, 0.1, 0.0]))  # each hits both variants
    noise = np.array([1.0, 1.01, 0.99, 1.0, 1.005, 0.995])
    _, ends = sequence_ratio(1000 * blocks, 1200 * blocks * noise)
    assert reach(ends.low, ends.high) < 0.05
    assert paired_logs([1.0, 2.0, 4.0], [2.0, 4.0]) == pytest.approx([log(2), log(2)])
    with pytest.raises(ValueError, match="positive"):
        paired_logs([1.0, 0.0], [1.0, 1.0])


def test_a_sequential_finding_names_its_test_and_promises_no_power() -> None:
    rng = np.random.default_rng(5)
    first, later = variants(rng, 1.5)
    asked = question(first[:8], later[:8])
    (found,) = decide([asked], 8, sequential=True)
    assert (found.verdict, found.test, found.detectable) == ("confirmed", SEQUENCE_TEST, None)
    (fixed,) = decide([asked], 8)
    assert fixed.test != SEQUENCE_TEST and fixed.detectable
    (similar,) = decide([replace(asked, rule=SIMILAR, later=asked.first)], 8, sequential=True)
    assert similar.verdict == "confirmed"


def test_one_variant_against_a_number_is_looked_at_like_a_ratio() -> None:
    asked = question(np.array([]), np.array([61.0, 63.0, 62.0, 60.0, 64.0, 62.0]))
    level = replace(asked, reference=50.0)
    (found,) = decide([level], 6, sequential=True)
    assert (found.verdict, found.test) == ("confirmed", SEQUENCE_TEST)
    assert found.effect == pytest.approx(1.24)


def test_obstacles_forbid_a_claim_but_not_to_be_precise() -> None:
    rng = np.random.default_rng(5)
    first, later = variants(rng, 1.5)
    asked = replace(question(first[:8], later[:8]), obstacles=("process groups",))
    assert looks([asked], 0.05)[0].precise == "decided"
    (found,) = decide([asked], 8, sequential=True)
    assert found.verdict == "inconclusive"


def test_what_no_question_asks_for_is_not_precise_at_its_first_look() -> None:
    """With `questions: []`, or questions about latency alone, all throughput is only measured."""
    wide = question(np.array([1.0, 2.0, 0.5, 3.0, 1.0]), np.array([1.1, 0.4, 2.0, 1.0, 3.0]))
    for main in (True, False):
        (look,) = looks([replace(wide, main=main)], 0.05)
        assert look.precise is None and look.low is not None


def test_equal_variants_become_precise_by_a_narrow_interval() -> None:
    steady = 1000 * np.array([1.0, 1.001, 0.999, 1.0, 1.002, 0.998])
    (look,) = looks([question(steady, steady[::-1])], 0.05)
    assert look.precise == "narrow"
    assert looks([question(steady, steady[::-1])], 0.0001)[0].precise is None


def test_the_path_has_a_look_for_each_comparison_after_each_repetition() -> None:
    rng = np.random.default_rng(5)
    asked = [question(*(variant[:7] for variant in variants(rng)), name) for name in "ab"]
    assert [(one.comparison[0], one.n) for one in path(asked, 0.05)] == [
        (name, n) for n in (5, 6, 7) for name in "ab"
    ]
    assert list(path([question(np.array([1.0]), np.array([1.0]))], 0.05)) == []
