"""What do intervals cover, and how wide are they, if repetitions differ; and how often is the test wrong?"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.statistics.difference import Difference, difference
from density_study.analysis.statistics.power import ALPHA, detectable_ratio
from tests.known_answers.answer import Answer, KnownAnswer

SPREAD = 0.025
EFFECTS = (0.0, 0.025, 0.05, 0.1)
FAMILIES = (1, 6, 22)
Floats = NDArray[np.float64]
NOISES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda rng, n: SPREAD * rng.standard_normal(n),
    "skewed": lambda rng, n: 0.1 * (rng.exponential(1.0, n) - 1),
    "heavy-tailed": lambda rng, n: SPREAD * rng.standard_t(3, n),
    "one build in eight 30 % slow": lambda rng, n: (
        SPREAD * rng.standard_normal(n) + log(0.7) * (rng.random(n) < 1 / 8)
    ),
}


def variants(
    rng: np.random.Generator, noise: str, builds: int, block: float, ratio: float = 1.0
) -> tuple[list[float], list[float]]:
    of_block = block * rng.standard_normal(builds)
    first, later = (np.exp(of_block + NOISES[noise](rng, builds)) for _ in "ab")
    return first.tolist(), (ratio * later).tolist()


def coverage_with_blocks(paths: int = 2000) -> list[Answer]:
    answers = []
    for builds in (5, 8, 16):
        rng = np.random.default_rng(builds)
        for block in EFFECTS:
            pairs = [variants(rng, "normal", builds, block) for _ in range(paths)]
            paired = [difference(*pair, blocks=builds) for pair in pairs]
            apart = [difference(*pair, blocks=0) for pair in pairs]
            share, width = _covered(paired), _width(paired)
            answers.append(
                Answer(
                    f"{builds} builds, {block:.1%} between repetitions: the 95 % interval covers the ratio",
                    "93 to 97 %",
                    f"{share:.1%}, half width {width:.1%} "
                    f"(unpaired {_covered(apart):.1%}, {_width(apart):.1%})",
                    0.93 <= share <= 0.97,
                )
            )
    return answers


def _covered(found: list[Difference]) -> float:
    return float(np.mean([one.interval.low <= 1.0 <= one.interval.high for one in found]))


def _width(found: list[Difference]) -> float:
    return float(np.median([sqrt(one.interval.high / one.interval.low) - 1 for one in found]))


def wrong_and_right(paths: int = 20_000) -> list[Answer]:
    """The first step of Holm over a family, which is the one with the smallest p."""
    answers = []
    for noise in NOISES:
        for builds in (5, 8):
            rng = np.random.default_rng(builds)
            ps = np.array(
                [difference(*variants(rng, noise, builds, 0.05), builds).p() for _ in range(paths)]
            )
            wrong = [float(np.mean(ps <= ALPHA / size)) * size for size in FAMILIES]
            answers.append(
                Answer(
                    f"{noise}, {builds} builds: a false claim in a family of 1, 6, 22, at most",
                    f"at most {ALPHA:.0%} each, within noise",
                    ", ".join(f"{share:.1%}" for share in wrong),
                    all(
                        share <= ALPHA + 4 * sqrt(ALPHA * size / paths)
                        for share, size in zip(wrong, FAMILIES, strict=True)
                    ),
                )
            )
    for builds in (5, 8):
        rng = np.random.default_rng(builds)
        for size in FAMILIES:
            ratio = detectable_ratio(builds, SPREAD, size) or 1.0
            drawn = [variants(rng, "normal", builds, 0.05, ratio) for _ in range(paths // 10)]
            found = float(np.mean([difference(*one, builds).p() <= ALPHA / size for one in drawn]))
            answers.append(
                Answer(
                    f"{builds} builds, a family of {size}: x{ratio:.3f} is detected",
                    "80 %, within 3 points",
                    f"{found:.1%}",
                    abs(found - 0.8) <= 0.03,
                )
            )
    return answers


KNOWN = (
    KnownAnswer(
        "interval-coverage-blocks", "Do intervals cover, and what do blocks gain?", coverage_with_blocks
    ),
    KnownAnswer(
        "paired-test", "How often is the paired test wrong, and does it detect what is promised?",
        wrong_and_right, quick=False,
    ),
)  # fmt: skip
