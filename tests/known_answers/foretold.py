"""Is the ratio that a plan says it detects the one that its run finds it can detect?

The plan of a run knows the noise of an earlier run of the study, or has to assume it. Both runs are
rehearsals, in which latencies vary three times as much as rates, as the records of this project do.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from density_study.analysis.comparison.history import seen_spread, spread_within_repetitions
from density_study.analysis.findings import findings
from density_study.analysis.findings.answered import evidence_of
from density_study.analysis.findings.noise_seen import noise_seen
from density_study.analysis.findings.power_of_design import SeenNoise
from density_study.analysis.findings.question_power import asked_of_plan, questions_of
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.statistics.power import ASSUMED_SPREAD
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.stages.rehearsal import Foreseen, foreseen
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import read_study
from tests.known_answers.answer import Answer, KnownAnswer

STUDIES = ("collectors", "stores", "no-difference")
BETWEEN = (0.025, 0.05, 0.1)
SURE = 0.05
"""At twice this noise latencies vary by 30 %, and five builds know their spread too badly for any plan."""
TIMES, WANTED = 100, 1.5
LATENCY = 3.0


def foretold() -> list[Answer]:
    answers = []
    for name in STUDIES:
        for builds in BETWEEN:
            file = read_study(study_path(Path(name)))
            noise = Noise(builds=builds)
            seen = foreseen(file, Path("rehearsals"), named_effects("none"), noise)
            known, exact, assumed = _shares(seen, Drawing(seen.plan, seen.rehearsal))
            answers.append(
                Answer(
                    f"{name}, {builds:.1%} between builds, {TIMES} pairs of runs: the least ratio that a "
                    f"question detects, found over foretold, is within {WANTED:g} and 1 / {WANTED:g}",
                    "at least 90 % after one run" if builds <= SURE else "printed",
                    f"{known:.0%}; after {TIMES} runs {exact:.0%}; with {ASSUMED_SPREAD:.1%} assumed "
                    f"{assumed:.0%}",
                    builds > SURE or known >= 0.9,
                )
            )
    return answers


def _shares(seen: Foreseen, drawing: Drawing) -> list[float]:
    """Of all questions of all pairs: by the noise of the run before, of all runs, and by the assumption. The
    second is what any plan could reach: the rest is how differently the runs themselves find their noise."""
    study, plan = seen.file.study, seen.plan
    asked, questions = asked_of_plan(study, plan), questions_of(study, plan)
    pairs = [
        [tuple(map(noisier, drawing.test_cases(2 * seed + n))) for n in (0, 1)]
        for seed in range(TIMES)
    ]
    runs: list[Any] = [
        SimpleNamespace(test_cases=earlier, repetitions=plan.repetitions) for earlier, _ in pairs
    ]

    def noise_of(some: Sequence[Any]) -> SeenNoise:
        within = spread_within_repetitions(some)
        return SeenNoise(seen_spread(some) or 0.0, "seen", within, noise_seen(some, asked))

    exact, shares = noise_of(runs), np.zeros(3)
    compared = 0
    for run, (_, later) in zip(runs, pairs, strict=True):
        found: dict[str, float] = {}
        for one in findings(evidence_of(plan, later), asked):
            if one.question and one.detectable:
                found[one.question] = max(found.get(one.question, 1.0), one.detectable)
        sources = (noise_of([run]), exact, ASSUMED_SPREAD)
        for question in questions:
            ratios = [question.detects(plan.repetitions, at) for at in sources]
            if question.name in found and all(ratios):
                apart = [abs(log(found[question.name] / ratio)) for ratio in ratios if ratio]
                shares += np.array(apart) <= log(WANTED)
                compared += 1
    return [float(share) for share in shares / compared]


def noisier(entry: TestCaseSummary) -> TestCaseSummary:
    """With latencies that vary three times as much around their mean."""
    return entry.model_copy(update={"metrics": tuple(map(_wider, entry.metrics))})


def _wider(metric: Metric) -> Metric:
    if metric.name != "latency":
        return metric
    middle = float(np.mean(np.log(metric.points)))
    points = tuple(exp(middle + LATENCY * (log(point) - middle)) for point in metric.points)
    return metric.model_copy(update={"points": points})


KNOWN = (
    KnownAnswer(
        "foretold", "Does a run detect what its plan says it detects?", foretold, quick=False
    ),
)
