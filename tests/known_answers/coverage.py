"""What do 95 % intervals cover if one build in eight is slow, and how often is a whole report wrong?"""

from __future__ import annotations

import random
from math import exp, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.findings.primary import asked
from density_study.analysis.findings.question import Evidence
from density_study.analysis.statistics.difference import difference
from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.statistics.power import ALPHA
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.hypotheses import Hypotheses
from density_study.workloads.study.shipped import shipped_studies
from tests.known_answers.answer import Answer, KnownAnswer
from tests.known_answers.report_errors import drawn as drawn_report
from tests.known_answers.report_errors import is_wrong, lower, no_effect, upper

SPREAD, SLOW, SHARE = 0.025, 0.7, 1 / 8
TYPICAL = exp(SPREAD * NormalDist().inv_cdf((0.5 - SHARE) / (1 - SHARE)))
"""The median of builds of which one in eight is 30 % slow, the median of the others being 1."""
MEAN = exp(SHARE * log(SLOW))
Floats = NDArray[np.float64]


def drawn(builds: int, rng: np.random.Generator, share: float = SHARE) -> list[float]:
    slow = rng.random(builds) < share
    values: Floats = np.exp(SPREAD * rng.standard_normal(builds)) * np.where(slow, SLOW, 1.0)
    return [float(value) for value in values]


def one_slow_build_in_eight(paths: int = 2000) -> list[Answer]:
    """The typical build is covered. The mean with the slow builds is not: most samples of five have none."""
    answers = []
    for builds in (5, 8, 16):
        rng = np.random.default_rng(builds)
        typical = mean = ratio = 0
        for _ in range(paths):
            variant, clean = drawn(builds, rng), drawn(builds, rng, 0.0)
            one, two = mean_interval(variant), difference(clean, variant, builds).interval
            typical += one.low <= TYPICAL <= one.high
            mean += one.low <= MEAN <= one.high
            ratio += two.low <= TYPICAL <= two.high
        for what, count, goal in (
            ("the typical build", typical, 0.9),
            ("the ratio of typical builds, over a clean variant", ratio, 0.9),
            ("the mean of all builds, slow ones included", mean, 0.0),
        ):
            share = count / paths
            answers.append(
                Answer(
                    f"one build in eight 30 % slow, {builds} builds: the 95 % interval covers {what}",
                    f"at least {goal:.0%}" if goal else "printed",
                    f"{share:.0%}",
                    share >= goal,
                )
            )
    return answers


STUDIES = ("quickstart", "collectors", "upgrade", "stores", "tiers")
REPETITIONS, REPORTS = 8, 3000


def equal_variants() -> list[Answer]:
    """Reports of shipped studies in which no variant differs from another. A headline repeats a claim of its
    report, so that no more headlines than reports are false."""
    wrong = {name: _false_claims(name) for name in STUDIES}
    shares = ", ".join(f"{name} {count / REPORTS:.1%}" for name, count in wrong.items())
    of, every = REPORTS * len(STUDIES), sum(wrong.values())
    # of one study, chance alone moves the share by 0.8 points
    above = [name for name, count in wrong.items() if lower(count, REPORTS) > ALPHA]
    return [
        Answer(
            f"{REPETITIONS} repetitions, all variants equal: reports with a false claim",
            "at most 5%, and of no study more than chance explains",
            f"{every / of:.1%} of {of}, interval up to {upper(every, of):.1%} ({shares})",
            every <= ALPHA * of and not above,
        )
    ]


def _false_claims(name: str) -> int:
    planned = plan_study(shipped_studies()[name], {"repetitions": REPETITIONS})
    test_cases = tuple(
        made_up(topology, test_case, (1.0,) * REPETITIONS)
        for test_case in planned.study.test_cases()
        for topology in planned.plan.topologies.values()
    )
    every = asked(Evidence(test_cases, REPETITIONS, Isolation.VM), Hypotheses()).main
    rng, wrong = random.Random(name), 0
    for _ in range(REPORTS):
        found = decide(drawn_report(every, no_effect, REPETITIONS, rng), REPETITIONS)
        wrong += any(is_wrong(*one, 1.0) for one in zip(every, found, strict=True))
    return wrong


KNOWN = (
    KnownAnswer(
        "interval-coverage", "Do intervals cover if one build in eight is slow?", one_slow_build_in_eight
    ),
    KnownAnswer(
        "equal-report", "How often does a report of equal variants claim a difference?", equal_variants,
        quick=False,
    ),
)  # fmt: skip
