"""What a number of builds can show: power, minimum detectable effect, and builds needed for an effect.

`spread` is the standard deviation of the logarithms between builds of one topology in one repetition, about
the coefficient of variation: what a repetition does to all builds cancels. `comparisons` is the size of the
family.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, hypot, inf, log, sqrt

from scipy import special  # scipy.stats would take most of `study plan`'s time to import

ASSUMED_SECOND = 0.2
"""Standard deviation of the logarithm of a second's rate, neighbouring seconds taken as independent, if no
record shows it."""
ALPHA = 0.05
POWER = 0.8
MIN_UNITS = 5  # with fewer units per variant: points, and no claim (method 2)
ASSUMED_SPREAD = 0.025  # between builds, if no earlier run of the study shows it
LEAST_SPREAD = 1e-4
"""Builds that seem to vary less than 0.01 % are rounded, as the answers of searches are, or made up."""
MAX_UNITS = 1000
FALSE_ALARM = 0.008
"""Chance that a run in which nothing changed is called slower, over all its numbers: less than one in 90
nights."""
TOGETHER = (1, 2, 3)
"""Newest runs whose mean is tested: a small change needs more than one night to be seen."""
Critical = Callable[[bool], float]
_CERTAIN = 30.0  # errors beyond the critical value, where scipy's noncentral t soon is nan
_MAX_LOG_RATIO = 20.0  # a ratio of half a billion; its exponential still is a number


def power(ratio: float, units: int, spread: float, comparisons: int = 1) -> float:
    """Probability that `units` builds per variant, paired by repetition, detect `ratio`."""
    if units < MIN_UNITS:
        return 0.0
    away = abs(log(ratio)) / (spread * sqrt(2 / units))
    return _passes(away, units, _critical(units - 1, comparisons))


def power_of_rule(
    bounds: tuple[float | None, float | None],
    ratio: float,
    units: int,
    error: float,
    critical: Critical,
) -> float:
    """At least the probability that a ratio gets its right verdict by a rule. `bounds` of the rule, one of
    which may be None; `ratio`: the true one; `error`: the standard error of its logarithm over `units`
    builds; `critical`: how many errors a claim is away from a bound, by whether both bounds must be
    passed."""
    if units < MIN_UNITS:
        return 0.0
    low, high = (bound and log(ratio / bound) for bound in bounds)
    inside = (low is None or low > 0) and (high is None or high < 0)
    if not inside:  # it may be refuted, against the bound that it exceeds
        away = -low if low is not None and low < 0 else high or 0.0
        return _passes(away / error, units, critical(False))
    both = low is not None and high is not None
    passed = [
        _passes(away / error, units, critical(both))
        for away in (low, None if high is None else -high)
        if away is not None
    ]
    return max(0.0, sum(passed) - len(passed) + 1)  # whatever the dependence (Bonferroni)


def fixed_errors(units: int, comparisons: float) -> Critical:
    """Critical values of Student's t at the strictest step of Holm: two-sided against one bound, and for an
    equivalence two one-sided tests."""
    freedom = units - 1
    return lambda both: _critical(freedom, comparisons / 2 if both else comparisons)


def _passes(away: float, units: int, errors: float) -> float:
    if away > errors + _CERTAIN:
        return 1.0
    return float(1 - special.nctdtr(units - 1, away, errors)) if errors < inf else 0.0


def _critical(freedom: float, comparisons: float) -> float:
    """The strongest effect must pass the first and strictest step of Holm, alpha / comparisons, two-sided."""
    return float(special.stdtrit(freedom, 1 - ALPHA / comparisons / 2))


def detectable_ratio(units: int, spread: float, comparisons: int = 1) -> float | None:
    """The smallest ratio above 1 detected with a power of 80 %; None if none ever is."""
    if units < MIN_UNITS:
        return None
    return detectable(units - 1, spread * sqrt(2 / units), comparisons)


def detectable(freedom: float, error: float, comparisons: float) -> float:
    """The smallest ratio above 1 that a t test with this standard error of logarithms detects with 80 %."""
    # from the noncentral t distribution (Cohen 1988, Statistical Power Analysis for the Behavioral Sciences)
    return exp(min(_detectable_errors(freedom, comparisons) * error, _MAX_LOG_RATIO))


@cache
def _detectable_errors(freedom: float, comparisons: float) -> float:
    return float(special.nctdtrinc(freedom, 1 - POWER, _critical(freedom, comparisons)))


def units_needed(ratio: float, spread: float, comparisons: int = 1) -> int | None:
    """The fewest units per variant that detect `ratio` with a power of 80 %; None beyond 1000."""
    for units in range(MIN_UNITS, MAX_UNITS + 1):
        if power(ratio, units, spread, comparisons) >= POWER:
            return units
    return None


def optimal_units(cost_above: float, cost: float, spread_above: float, spread: float) -> float:
    """Units per unit of the level above for which a mean is most certain at a given total cost. `cost_above`:
    that of a unit above, apart from its units here; spreads: those of the units of each level around their
    mean."""
    # T. Kalibera and R. Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013:
    # r_i = sqrt(c_(i+1) / c_i * s_i^2 / s_(i+1)^2), of level i within level i + 1
    return sqrt(cost_above / cost) * spread / spread_above


def spread_of_build(between: float, second: float, window_s: float) -> float:
    """Standard deviation, of logarithms, of the mean rate of one window per build. between: that of builds;
    second: that of single seconds; window_s: length of the window."""
    return hypot(between, second / sqrt(window_s))
