"""What a study's comparison with its earlier runs can show, computed before it runs.

The unit is the run. More repetitions make the mean of a run more certain, but not the night less different.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, hypot, log, sqrt

from scipy import special

from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.statistics.power import ALPHA, FALSE_ALARM, MAX_UNITS, POWER, TOGETHER
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import counted
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study import Study

KNOWN_RUNS = 30
"""Earlier runs that the chances assume."""
NIGHTS = (0.0, 0.025, 0.05)
"""Night effects that the chances are printed for."""


def least_drop(study: Study, plan: Plan, spread: float, night: float, repetitions: int) -> float:
    """The smallest drop, as a share, that one run names with 80 % after 30 runs. ValueError without
    `compare`."""
    if study.compare is None:
        raise ValueError("the study does not compare its runs")
    free = sum(
        not test_case.is_paced for test_case in study.test_cases()
    )  # a target rate is no result
    tests = len(plan.topologies) * max(1, free) * len(TOGETHER)
    window = study.compare.baseline.rolling or 1
    error = hypot(spread / sqrt(repetitions), night) * sqrt(1 + 1 / window)
    freedom = KNOWN_RUNS - 1
    # beyond the tolerance, and beyond what chance does to any number (analysis/comparison/between_runs.py)
    needed = max(
        -log(1 - study.compare.tolerance) - float(special.stdtrit(freedom, ALPHA)) * error,
        -float(special.stdtrit(freedom, FALSE_ALARM / tests)) * error,
    )
    return 1 - exp(-needed - float(special.ndtri(POWER)) * error)


def regressions(study: Study, plan: Plan, noise: SeenNoise) -> Iterator[str]:
    """The regressions that the study's runs can name, by the night effect, which nobody knows beforehand."""
    if study.compare is None:
        return
    drops = ", ".join(
        f"{least_drop(study, plan, noise.spread, night, plan.least_repetitions):.1%} at {night:.1%}"
        for night in NIGHTS
    )
    yield (
        f"regressions, after {KNOWN_RUNS} runs: one run names a drop with a power of 80 % from, by night "
        f"effect: {drops}"
    )


def check_can_detect(study: Study, plan: Plan, where: str, noise: SeenNoise) -> None:
    """InputError if a run cannot detect twice the study's tolerance even where all nights are equal."""
    if study.compare is None:
        return
    wanted = min(2 * study.compare.tolerance, 0.99)
    repetitions = plan.least_repetitions

    def detectable(builds: int) -> float:
        return least_drop(study, plan, noise.spread, 0.0, builds)

    if detectable(repetitions) <= wanted:
        return
    enough = next((n for n in range(repetitions, MAX_UNITS) if detectable(n) <= wanted), None)
    more = f"{enough} repetitions, " if enough else ""
    raise InputError(
        f"a run of {counted(repetitions, 'build')} per topology detects only drops over "
        f"{detectable(repetitions):.1%}, which is more than twice the tolerance; the tolerance is "
        f"{study.compare.tolerance:.3g} ({noise.source}).",
        f"{where}, key compare",
        f"use {more}a larger tolerance, or fewer comparisons.",
    )
