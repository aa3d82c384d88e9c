"""Does a variant in which more builds never recover from a fault ever look faster?"""

from __future__ import annotations

import numpy as np

from density_study.analysis.findings import effects
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import Evidence
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.factors.registry import factors
from tests.known_answers.answer import Answer, KnownAnswer
from tests.support.variants import ycsb

BUILDS = 8
RECOVERY = "time to recover from a fault"


def _variant(vms: int, seconds: list[float]) -> TestCaseSummary:
    metric = Metric(name="time_to_recover", value=1.0, unit="s", points=tuple(seconds))
    entry = ycsb("a", vms, fault="RegionServer killed", n_builds=BUILDS)
    return entry.model_copy(update={"metrics": (metric,)})


def failing(studies: int = 300) -> list[Answer]:
    """One variant recovers in 60 s. Of the other, builds never recover by chance, and else in 30 s."""
    rng = np.random.default_rng(1)
    faster = shown = studied = 0
    for _ in range(studies):
        recovers = rng.random(BUILDS) > 0.3
        if recovers.all():
            continue
        studied += 1
        seconds = [(60 * np.exp(0.1 * rng.standard_normal(BUILDS))).tolist(),
                   (30 * np.exp(0.1 * rng.standard_normal(recovers.sum()))).tolist()]  # fmt: skip
        evidence = Evidence(
            (_variant(1, seconds[0]), _variant(2, seconds[1])), BUILDS, Isolation.VM
        )
        asked = list(effects.by_factor(evidence, factors()["vms_per_host"]))
        found = next(one for one in decide(asked, BUILDS) if one.measure == RECOVERY)
        faster += found.effect is not None and found.effect < 1
        shown += "builds that never recovered" in found.why
    return [
        Answer(
            f"{studied} studies, some builds of one variant never recover, the others soon: looks faster",
            "0", str(faster), faster == 0,
        ),
        Answer("the finding says how many never recovered", "all", str(shown), shown == studied),
    ]  # fmt: skip


KNOWN = (KnownAnswer("recovery", "Do builds that never recover from a fault count?", failing),)
