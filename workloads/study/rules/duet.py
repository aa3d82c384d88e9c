"""Rules of the key `duet`: two variants that share everything but what they differ in, and clients that can
rest."""

from __future__ import annotations

from density_study.cluster.model.plain import counted
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.keys import StudyKeys
from density_study.workloads.study.providers.registry import nodes_of

LEAST_TURNS = 3
"""Turns of a trial: with fewer, random order does not part the variants from a drift."""
KEY = "duet"


def check_duet(study: StudyKeys) -> None:
    """FaultyKeyError for the first rule of duets that the study violates."""
    if study.duet is None:
        return
    kind = nodes_of(study)
    if kind.bare or not (kind.shares_hosts or kind.simulates):
        raise FaultyKeyError(
            f"provider {study.provider} gives each cluster nodes of its own; a duet needs provider local or "
            "physical",
            KEY,
        )
    _check_variants(study)
    for index, entry in enumerate(study.workloads):
        for test_case in entry.test_cases():
            if not test_case.takes_turns:
                raise FaultyKeyError(
                    f"{test_case.id} cannot take turns: only timed runs of YCSB without a target rate, a "
                    "search, a fault or a neighbour can; measure it in a study without duet",
                    *("workloads", index),
                )
            if test_case.window_s < LEAST_TURNS * study.duet:
                raise FaultyKeyError(
                    f"{test_case.window_s:g} s of {test_case.id} are fewer than {LEAST_TURNS} turns; make "
                    "turns shorter, or `duration` longer",
                    KEY,
                )
    if study.monitor.overhead_trials:
        raise FaultyKeyError(
            "pairs with and without monitors run on one cluster; measure them in a study without duet",
            *("monitor", "overhead_trials"),
        )
    if study.factors.network is not None:
        raise FaultyKeyError(
            "both clusters of a duet would change and put back the network of the same hosts; remove it, or "
            "the key duet",
            *("factors", "network"),
        )
    if 2 * study.monitor.period > study.duet:
        raise FaultyKeyError(
            f"a turn of {study.duet:g} s may have no whole sample of {study.monitor.period:g} s; make turns "
            "longer, or the period shorter",
            *("monitor", "period"),
        )


def _check_variants(study: StudyKeys) -> None:
    for name, factor in factors().items():
        if len(study.factors.levels(name)) > 1 and not factor.in_duets:
            able = " and ".join(one for one, factor in factors().items() if factor.in_duets)
            raise FaultyKeyError(
                f"variants of a duet stand on the same hosts at once, and may differ in {able} only; "
                f"remove {name}, or the key duet",
                *("factors", name),
            )
    found = study.factors.variants_per_disk_type
    if found != 2:
        raise FaultyKeyError(
            f"a duet has two variants, and the factors make {counted(found, 'variant')}", "factors"
        )
