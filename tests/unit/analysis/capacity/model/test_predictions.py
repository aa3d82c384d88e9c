"""Predictions between measurements, compared with a slow oracle and with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.stats import multivariate_normal

from density_study.analysis.capacity.curves import density, scaling
from density_study.analysis.capacity.curves.calibration import Calibration, _power, calibrate
from density_study.analysis.capacity.curves.curve import Cell, Curve
from density_study.analysis.capacity.curves.prediction import Prediction
from density_study.analysis.capacity.curves.shapes import POWER, UNIVERSAL, evenly, grid, shapes

HOSTS = (1, 2, 4, 8, 16)
FEW = shapes(
    [
        (UNIVERSAL, 0.5, grid([(0.0, 1), (0.2, 2)], [(0.0, 3), (0.1, 1)])),
        (POWER, 0.5, grid(evenly(0.7), evenly(0.0))),
    ],
    deviations=[(0.0, 0.3), (0.03, 0.3), (0.2, 0.4)],
)


def curve(
    *times: float, hosts: tuple[int, ...] = HOSTS, repeats: tuple[float, ...] = (0.0,)
) -> Curve:
    cells = [
        Cell(n, tuple(t * float(np.exp(e)) for e in repeats))
        for n, t in zip(hosts, times, strict=True)
    ]
    return Curve(scaling, tuple(cells))


AMDAHL = tuple(5 + 300 / n for n in HOSTS)


def by_plain_loops(
    measured: Curve, calibration: Calibration, x: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Mean and covariance of the mixture: a joint normal distribution for each pair separately."""
    levels, noise = np.log(measured.levels), calibration.noise.of(measured) / measured.repeats
    middle = np.exp(np.log(measured.x).mean())
    parts = []
    for h in range(len(calibration.hypotheses.weight)):
        hypothesis = calibration.hypotheses[np.array([h])]
        for k in range(len(calibration.shapes.log_weights)):
            here = calibration.shapes.log_times(measured.x / middle)[k]
            there = calibration.shapes.log_times(x / middle)[k] - here.mean() + levels.mean()
            here = here - here.mean() + levels.mean()
            law_levels = hypothesis.of_levels(np.log(measured.x), noise)[0]
            edge = hypothesis.edges(np.log(measured.x))
            across = hypothesis.between(np.log(x), np.log(measured.x), edge)[0] @ np.linalg.inv(
                law_levels
            )
            mean = there + across @ (levels - here)
            own = hypothesis.between(np.log(x), np.log(x), edge)[0]
            own = own - across @ hypothesis.between(np.log(measured.x), np.log(x), edge)[0]
            weight = calibration.log_weights[h, k] + multivariate_normal(here, law_levels).logpdf(
                levels
            )
            parts.append((weight, mean, own))
    weights = np.exp([part[0] for part in parts])
    weights /= weights.sum()
    mean = sum(w * part[1] for w, part in zip(weights, parts, strict=True))
    second = sum(
        w * (part[2] + np.outer(part[1], part[1])) for w, part in zip(weights, parts, strict=True)
    )
    return mean, second - np.outer(mean, mean)


def test_the_mixture_equals_plain_loops() -> None:
    measured = curve(*AMDAHL, repeats=(-0.03, 0.01, 0.02))
    calibration = calibrate([measured, curve(90, 50, 33, 19, 14)], FEW)
    x = np.array([3.0, 6.0, 20.0])
    predicted = calibration.predict(measured, x)
    mean, covariance = by_plain_loops(measured, calibration, x)
    assert predicted.log_time == pytest.approx(
        mean, abs=2e-3
    )  # hypotheses without weight are omitted
    assert np.diag(predicted.covariance) == pytest.approx(np.diag(covariance), rel=0.1)


def test_exact_cells_of_a_law_give_the_law_between_them() -> None:
    measured = curve(*AMDAHL)
    predicted = calibrate([measured], scaling.SHAPES).predict(measured, np.array([3.0, 6.0, 24.0]))
    assert np.exp(predicted.log_time) == pytest.approx([105, 55, 17.5], rel=0.03)
    widths = [predicted.half_width(place) for place in range(3)]
    assert widths[2] > 1.2 * max(widths[:2]), "what lies beyond is known less"


def test_an_omitted_cell_does_not_enter_its_own_prediction() -> None:
    spoiled = curve(*AMDAHL[:2], 2 * AMDAHL[2], *AMDAHL[3:])
    predicted = calibrate([spoiled], scaling.SHAPES).left_out(spoiled)
    assert predicted[2] == pytest.approx(np.log(0.5), abs=0.12)


def test_noisier_repeats_make_wider_intervals() -> None:
    quiet, loud = (curve(*AMDAHL, repeats=(-s, 0.0, s)) for s in (0.005, 0.1))
    widths = [
        calibrate([measured], scaling.SHAPES).predict(measured, np.array([3.0])).half_width(0)
        for measured in (quiet, loud)
    ]
    assert widths[1] > 3 * widths[0]


def test_an_optimum_between_densities_is_found() -> None:
    densities = (1, 2, 4, 6)
    times = [1 + 0.05 * (v - 3) ** 2 for v in densities]
    measured = Curve(density, tuple(Cell(v, (t,)) for v, t in zip(densities, times, strict=True)))
    predicted = calibrate([measured], density.SHAPES).predict(measured, np.array([3.0]))
    assert float(np.exp(predicted.log_time[0])) == pytest.approx(1.0, abs=0.05)


def test_draws_have_the_predictions_mean_and_covariance() -> None:
    measured = curve(*AMDAHL, repeats=(-0.03, 0.01, 0.02))
    predicted = calibrate([measured], scaling.SHAPES).predict(measured, np.array([3.0, 12.0]))
    drawn = np.log(predicted.draws(np.random.default_rng(1), 40_000))
    assert drawn.mean(axis=0) == pytest.approx(predicted.log_time, abs=2e-3)
    scale = predicted.degrees / (predicted.degrees - 2)
    wider = np.outer(predicted.stretch, predicted.stretch)
    assert np.cov(drawn.T) == pytest.approx(scale * wider * predicted.covariance, rel=0.15)


def test_one_outlying_repeat_does_not_move_a_level() -> None:
    measured = curve(*AMDAHL, repeats=(-0.01, 0.0, 0.01, 1.0))
    assert measured.levels == pytest.approx(AMDAHL, rel=0.02)
    assert measured.repeat_squares < 5 * (3 * 0.02**2 + 0.06**2)


def test_the_level_of_three_scattered_repeats_is_that_of_the_two_that_agree() -> None:
    # A burstable machine: in every other cell the CPU credits end after the second repetition.
    cells = [
        Cell(n, (t, 1.01 * t, t * (1.8 if place % 2 else 1.02)))
        for place, (n, t) in enumerate(zip(HOSTS, AMDAHL, strict=True))
    ]
    assert Curve(scaling, tuple(cells)).levels == pytest.approx(AMDAHL, rel=0.02)


def test_an_exhausted_resource_between_two_counts_is_a_cliff() -> None:
    spilled = curve(3 * AMDAHL[0], *AMDAHL[1:], repeats=(-0.02, 0.0, 0.02))
    (cliff,) = spilled.cliffs(0.02**2)
    assert (cliff.below, cliff.above) == (1, 2)
    assert cliff.factor == pytest.approx(3 * AMDAHL[0] / AMDAHL[1], rel=0.02)
    assert not curve(*AMDAHL, repeats=(-0.02, 0.0, 0.02)).cliffs(0.02**2)
    # Noise alone is no cliff.
    assert not curve(1.3 * AMDAHL[0], *AMDAHL[1:], repeats=(-0.4, 0.0, 0.4)).cliffs(0.4**2)


def test_a_cliff_widens_only_the_gap_around_it() -> None:
    places = np.array([1.5, 12.0])
    clean, spilled = (
        calibrate([measured], scaling.SHAPES).predict(measured, places)
        for measured in (curve(*AMDAHL), curve(3 * AMDAHL[0], *AMDAHL[1:]))
    )
    assert spilled.half_width(0) > 3 * clean.half_width(0)
    assert spilled.log_time[1] == pytest.approx(clean.log_time[1], abs=0.03)


def test_misses_that_do_not_follow_the_widths_pull_narrow_and_wide_intervals_together() -> None:
    rng = np.random.default_rng(4)
    log_sds = 0.5 * rng.standard_normal(2000)
    normal = np.abs(rng.standard_normal(2000))
    for power in (0.0, 0.5, 1.0):
        scores = [np.array([m]) for m in normal * np.exp((power - 1) * log_sds)]
        assert _power(log_sds, scores) == pytest.approx(power, abs=0.1)
    # sixteen cells show little: the power stays near that of other files
    few = [np.array([m]) for m in normal[:16]]
    assert 0.4 < _power(log_sds[:16] - log_sds[:16].mean(), few) < 0.9


def test_an_interval_leaves_a_tenth_of_its_mixture_outside() -> None:
    made = Prediction(
        shares=np.array([0.7, 0.3]), means=np.array([[1.0], [1.4]]),
        covariances=np.array([[[0.01]], [[0.04]]]), cells=np.array([0.02, 0.0]), repeat=0.01,
        degrees=5.0, stretch=np.array([2.0]),
    )  # fmt: skip
    half = made.half_width(0) / 2.0  # the stretch widens all of it
    parts = [stats.t(5.0, mean, sd) for mean, sd in ((1.0, 0.2), (1.4, np.sqrt(0.05)))]
    low, high = (0.7 * 1.0 + 0.3 * 1.4 + sign * half for sign in (-1, 1))
    outside = [one.cdf(low) + one.sf(high) for one in parts]
    assert 0.7 * outside[0] + 0.3 * outside[1] == pytest.approx(0.1, abs=1e-4)
