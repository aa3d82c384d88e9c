"""The statistics have their nominal properties, by simulation with noise between builds (method
2)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy

from density_study.analysis.statistics.difference import difference, holm
from density_study.analysis.statistics.interval import mean_interval, ratio_of_means
from density_study.analysis.statistics.power import detectable_ratio, power, units_needed

Noise = Callable[[np.random.Generator, int], np.ndarray]
NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: 0.05 * rng.standard_normal(n),
    "skewed": lambda rng, n: 0.1 * (rng.exponential(1.0, n) - 1),
    "heavy": lambda rng, n: 0.05 * rng.standard_t(5, n),
}
REPEATS = 1000
SLOCK = 0.02
"""Three standard errors of a share near 95 % over this number of repeats."""


@pytest.mark.thorough
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("units", (5, 7, 8, 16))
@pytest.mark.parametrize("lost", (0, 1))
def test_the_interval_has_its_nominal_coverage(noise: str, units: int, lost: int) -> None:
    rng = np.random.default_rng(units)
    hits = 0
    for _ in range(REPEATS):
        first, later = (100 * np.exp(NOISES[noise](rng, units)) for _ in "ab")
        ends = difference(first[lost:].tolist(), (1.3 * later).tolist(), units).interval
        hits += ends.low <= 1.3 <= ends.high
    low, high = (0.93, 0.97) if units >= 8 else (0.90, 1.0)
    assert low - SLOCK <= hits / REPEATS <= high + SLOCK


def test_a_percentile_bootstrap_of_the_mean_would_not() -> None:
    """Why it was not chosen; and that the check above can fail."""
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        first, later = (0.05 * rng.standard_normal(5) for _ in "ab")
        draws = rng.integers(0, 5, (2, 300, 5))
        means = later[draws[0]].mean(1) - first[draws[1]].mean(1)
        low, high = np.quantile(means, [0.025, 0.975])
        hits += low <= 0 <= high
    assert hits / 400 < 0.90 + SLOCK


def test_an_interval_of_one_variant_has_its_nominal_coverage() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(REPEATS):
        ends = mean_interval((100 * np.exp(0.1 * rng.standard_normal(8))).tolist())
        hits += ends.low <= 100.0 <= ends.high
    assert 0.93 - SLOCK <= hits / REPEATS <= 0.97 + SLOCK
    assert mean_interval([0.0, 2.0]).low < 0  # not all positive: no logarithms


def test_intervals_and_tests_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    for units in ((2, 5), (5, 5), (8, 6)):
        first, later = (np.exp((1 + n) * 0.1 * rng.standard_normal(n)) for n in units)
        welch = scipy.stats.ttest_ind(np.log(later), np.log(first), equal_var=False)
        apart = difference(first.tolist(), later.tolist(), 9)
        ends = apart.interval
        assert np.log([ends.low, ends.high]) == pytest.approx(list(welch.confidence_interval()))
        assert apart.p() == pytest.approx(welch.pvalue)
        both = min(units)
        pairs = scipy.stats.ttest_rel(np.log(later[:both]), np.log(1.1 * first[:both]))
        paired = difference(first[:both].tolist(), later[:both].tolist(), both)
        assert paired.p(1.1) == pytest.approx(pairs.pvalue)
        assert paired.freedom == pairs.df
        of_logs = scipy.stats.ttest_1samp(np.log(later), 0.0).confidence_interval()
        ends = mean_interval(later.tolist())
        assert np.log([ends.low, ends.high]) == pytest.approx(list(of_logs))
        shifted = later - later.mean()  # not all are positive
        ends = mean_interval(shifted.tolist())
        as_they_are = scipy.stats.ttest_1samp(shifted, 0.0).confidence_interval()
        assert [ends.low, ends.high] == pytest.approx(list(as_they_are))


@pytest.mark.thorough
@pytest.mark.parametrize("builds_spread", (0.03, 0.3))
def test_a_family_without_effect_has_a_claim_in_at_most_one_of_twenty(builds_spread: float) -> None:
    """Ten trials per build: their own noise is small, the build's is not, and the build is the
    unit."""
    rng = np.random.default_rng(7)
    families, comparisons, builds = 400, 4, 6
    claims = 0
    for _ in range(families):
        ps = [difference(*(_variant(rng, builds, builds_spread) for _ in range(2)), builds).p()
              for _ in range(comparisons)]  # fmt: skip
        claims += min(holm(ps)) <= 0.05
    assert claims / families <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / families)


def _variant(rng: np.random.Generator, builds: int, spread: float) -> list[float]:
    trials = np.exp(spread * rng.standard_normal((builds, 1)) + 0.01 * rng.standard_normal((1, 10)))
    return list(trials.mean(axis=1) * 100)


def test_trials_as_units_would_claim_in_half_of_all_families() -> None:
    """Method 1's mistake: it shows that the test above can fail."""
    rng = np.random.default_rng(8)
    claims = 0
    for _ in range(200):
        first, later = (np.exp(0.05 * rng.standard_normal() + 0.05 * rng.standard_normal(10))
                        for _ in "ab")  # fmt: skip
        claims += difference(first.tolist(), later.tolist(), 10).p() <= 0.05
    assert claims / 200 > 0.3


@pytest.mark.thorough
@pytest.mark.parametrize("ratio", (0.8, 1.25))
@pytest.mark.parametrize("units", (5, 8))
def test_equivalence_is_claimed_at_its_margin_in_at_most_one_of_twenty(
    ratio: float, units: int
) -> None:
    rng = np.random.default_rng(11)
    claims = 0
    for _ in range(REPEATS):
        first, later = (np.exp(0.05 * rng.standard_normal(units)) for _ in "ab")
        claims += (
            difference(first.tolist(), (ratio * later).tolist(), units).equivalence_p() <= 0.05
        )
    assert 0.02 < claims / REPEATS <= 0.05 + SLOCK


def test_equal_variants_are_equivalent_and_far_ones_never() -> None:
    variant = [100.0, 101.0, 99.0, 100.5, 99.5]
    for blocks in (5, 0):
        near = difference(variant, [value * 1.02 for value in reversed(variant)], blocks)
        far = difference(variant, [value * 1.5 for value in reversed(variant)], blocks)
        assert near.equivalence_p() < 0.001 and far.equivalence_p() > 0.999


@pytest.mark.parametrize("blocks", (2, 0))
def test_variants_without_noise_are_equal_or_not(blocks: int) -> None:
    equal, other = (difference([1.0, 1.0], [later] * 2, blocks) for later in (1.0, 2.0))
    assert (equal.p(), equal.equivalence_p()) == (1.0, 0.0)
    assert (other.p(), other.p(2.0), other.equivalence_p()) == (0.0, 1.0, 1.0)
    assert (other.interval.low, other.interval.high) == pytest.approx((2.0, 2.0))


def test_an_effect_of_the_repetition_cancels() -> None:
    """The variants differ by 10 %, and repetitions by half: apart, that would be no finding."""
    first = [100.0, 150.0, 70.0, 120.0, 90.0]
    later = [111.0, 164.0, 77.5, 131.5, 99.0]
    paired, apart = difference(first, later, 5), difference(first, later[:4], 5)
    assert paired.p() < 0.001 and paired.interval.high - paired.interval.low < 0.02
    assert apart.p() > 0.3 and apart.interval.high - apart.interval.low > 0.5


def test_holm_equals_the_published_procedure() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.9, 0.6]) == (1.0, 1.0)
    assert holm([]) == ()


def test_power_agrees_with_a_simulation() -> None:
    rng = np.random.default_rng(5)
    units, spread, ratio = 8, 0.1, 1.2
    shown = 0
    for _ in range(800):
        first, later = (np.exp(spread * rng.standard_normal(units)) for _ in "ab")
        shown += difference(first.tolist(), (ratio * later).tolist(), units).p() <= 0.05
    assert power(ratio, units, spread) == pytest.approx(shown / 800, abs=0.05)


def test_the_detectable_ratio_and_the_needed_units_agree_with_power() -> None:
    ratio = detectable_ratio(8, 0.1, 3)
    assert ratio is not None and power(ratio, 8, 0.1, 3) == pytest.approx(0.8, abs=1e-6)
    needed = units_needed(1.1, 0.1, 3)
    assert needed is not None
    assert power(1.1, needed, 0.1, 3) >= 0.8 > power(1.1, needed - 1, 0.1, 3)
    assert detectable_ratio(4, 0.1) is None
    assert units_needed(1.0001, 0.5) is None


def test_the_ratio_is_of_geometric_means() -> None:
    assert ratio_of_means([1.0, 4.0], [8.0, 2.0]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="positive"):
        ratio_of_means([0.0, 1.0], [1.0, 1.0])
