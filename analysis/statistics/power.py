"""What a number of builds can show: power, minimum detectable effect, and builds needed for an effect.

`spread` is the standard deviation of the logarithms between builds of one topology, about the
coefficient of variation. `comparisons` is the size of the family.
"""

from __future__ import annotations

from functools import cache
from math import exp, log, sqrt

from scipy import special  # scipy.stats would take most of `study plan`'s time to import

from density_study.analysis.statistics.significance import least_p

ALPHA = 0.05
POWER = 0.8
MIN_UNITS = 5  # with fewer units per arm: points, and no claim (method 2)
ASSUMED_SPREAD = 0.025  # between builds, if no earlier run of the study shows it
MAX_UNITS = 1000
FALSE_ALARM = 0.008
"""Chance that a run in which nothing changed is called slower, over all its numbers: less than one in 90
nights."""
TOGETHER = (1, 2, 3)
"""Newest runs whose mean is tested: a small change needs more than one night to be seen."""
# Efficiency of the Mann-Whitney test relative to the t test for normal noise, 3 / pi (Lehmann 1975).
_RANK_EFFICIENCY = 3 / 3.141592653589793
_MAX_LOG_RATIO = 20.0  # a ratio of half a billion; its exponential still is a number


def can_claim(first: int, later: int, comparisons: int = 1) -> bool:
    """Whether any outcome could be significant with these numbers of units."""
    return min(first, later) >= MIN_UNITS and least_p(first, later) * comparisons <= ALPHA


def power(
    ratio: float, units: int, spread: float, comparisons: int = 1, others: int | None = None
) -> float:
    """Probability that `units` builds per arm (`others` in the second, if different) detect `ratio`."""
    first, later = units, units if others is None else others
    if not can_claim(first, later, comparisons):
        return 0.0
    freedom, error, critical = _design(first, later, comparisons)
    return float(1 - special.nctdtr(freedom, abs(log(ratio)) / (error * spread), critical))


def _design(first: int, later: int, comparisons: int) -> tuple[float, float, float]:
    """Degrees of freedom, standard error of a difference in units of the spread, and critical t."""
    # Two-sample t test, from the noncentral t distribution (Cohen 1988, Statistical Power Analysis for the
    # Behavioral Sciences, ch. 2), with sample sizes reduced to what they are worth to the rank test.
    freedom = (first + later) * _RANK_EFFICIENCY - 2
    error = sqrt((1 / first + 1 / later) / _RANK_EFFICIENCY)
    # the strongest effect must pass the first and strictest step of Holm, alpha / comparisons, two-sided
    return freedom, error, float(special.stdtrit(freedom, 1 - ALPHA / comparisons / 2))


def detectable_ratio(
    units: int, spread: float, comparisons: int = 1, others: int | None = None
) -> float | None:
    """The smallest ratio above 1 detected with a power of 80 %; None if none ever is."""
    spreads = _detectable_spreads(units, units if others is None else others, comparisons)
    return None if spreads is None else exp(min(spreads * spread, _MAX_LOG_RATIO))


@cache
def _detectable_spreads(first: int, later: int, comparisons: int) -> float | None:
    """The smallest detectable logarithm of a ratio, in units of the spread."""
    # power depends on log(ratio) / spread only, so one solution per design serves every spread
    if not can_claim(first, later, comparisons):
        return None
    freedom, error, critical = _design(first, later, comparisons)
    return float(special.nctdtrinc(freedom, 1 - POWER, critical)) * error


def units_needed(ratio: float, spread: float, comparisons: int = 1) -> int | None:
    """The fewest units per arm that detect `ratio` with a power of 80 %; None beyond 1000."""
    for units in range(MIN_UNITS, MAX_UNITS + 1):
        if power(ratio, units, spread, comparisons) >= POWER:
            return units
    return None
