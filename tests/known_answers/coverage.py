"""What do 95 % intervals cover if one build in eight is slow, and how often is a whole report wrong?"""

from __future__ import annotations

from math import exp, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.statistics.difference import difference
from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.hypotheses import Hypotheses
from density_study.workloads.study.shipped import shipped_studies
from tests.known_answers.answer import Answer, KnownAnswer

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
REPETITIONS = 8


def equal_variants(reports: int = 200) -> list[Answer]:
    """Reports of shipped studies in which no variant differs from another."""
    answers = []
    for name in STUDIES:
        planned = plan_study(shipped_studies()[name], {"repetitions": REPETITIONS})
        rng = np.random.default_rng(1)
        wrong = headlines = 0
        for _ in range(reports):
            test_cases = tuple(
                _noisy(made_up(topology, test_case, (1.0,) * REPETITIONS), rng)
                for test_case in planned.study.test_cases()
                for topology in planned.plan.topologies.values()
            )
            evidence = Evidence(test_cases, REPETITIONS, Isolation.VM)
            found = findings(evidence, Hypotheses())
            wrong += any(map(_is_false, found))
            text = headline(evidence, len(test_cases), found).text
            headlines += not text.startswith(("Inconclusive", "Measured", "No comparison"))
        for what, count, most in (
            ("headline", headlines, 0.08),
            ("claim in the report", wrong, 0.08),
        ):
            share = count / reports
            answers.append(
                Answer(
                    f"{name}, {REPETITIONS} repetitions, all variants equal: a false {what}",
                    f"at most {most:.0%}",
                    f"{share:.0%} of {reports}",
                    share <= most,
                )
            )
    return answers


def _noisy(entry: TestCaseSummary, rng: np.random.Generator) -> TestCaseSummary:
    metrics = []
    for metric in entry.metrics:
        points = np.exp(SPREAD * rng.standard_normal(REPETITIONS)).tolist()
        changes = {"points": tuple(points), "value": float(np.median(points))}
        metrics.append(metric.model_copy(update=changes))
    return entry.model_copy(update={"metrics": tuple(metrics)})


def _is_false(finding: Finding) -> bool:
    """Whether a verdict is wrong if the ratio is 1. Of 'above 1' and 'below 1', both verdicts are."""
    if finding.verdict == "inconclusive" or finding.test is None or finding.rule is None:
        return False
    words = finding.rule.split()
    if words[0] == "above":
        holds, at_one = float(words[1]) < 1, float(words[1]) == 1
    elif words[0] == "below":
        holds, at_one = float(words[1]) > 1, float(words[1]) == 1
    else:
        holds, at_one = float(words[0]) < 1 < float(words[2]), False
    return at_one or holds != (finding.verdict == "confirmed")


KNOWN = (
    KnownAnswer(
        "interval-coverage", "Do intervals cover if one build in eight is slow?", one_slow_build_in_eight
    ),
    KnownAnswer(
        "equal-report", "How often does a report of equal variants claim a difference?", equal_variants,
        quick=False,
    ),
)  # fmt: skip
