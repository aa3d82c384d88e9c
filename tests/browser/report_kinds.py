"""A made-up summary of each kind of run whose report looks different: a decided study, a search, faults under
load, records of others, and a run without a valid trial."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from density_study.analysis.summarise.imports import import_warnings
from density_study.analysis.summary.summary import (
    ImportSummary,
    Metric,
    ProbeSummary,
    SearchSummary,
    Summary,
    TrialSummary,
)
from tests.support.summary_factory import eight_repetitions, one_block
from tests.support.summary_states import all_invalid

MIX = "ycsb-read45-insert55-r100000-t8"
LIMIT_MS = 20.0
PROBED = (
    (3000.0, 7.1),
    (3900.0, 10.4),
    (5070.0, 16.9),
    (6591.0, 41.0),
    (5781.0, 24.2),
    (5424.0, 19.2),
)
"""Rates of a search on one worker, in its order, with the p99 of reads in ms."""
FAULTS = (
    "regionserver killed after 30 s",
    "host h2 cut off after 30 s for 60 s",
    "disk slow after 30 s",
)


def _search(topology: str, faster: float) -> SearchSummary:
    probes = tuple(
        ProbeSummary(
            number=at,
            load=load * faster,
            stretch=1.0 if at < 5 else 1.5,
            because=f"{'up' if at < 5 else 'between'} from {PROBED[max(at - 2, 0)][0] * faster:,.0f} ops/s",
            rate_ops_s=load * faster,
            latency_ms={"READ p99": p99_ms},
            cpu_percent=min(95.0, load / 70),
            kept=p99_ms <= LIMIT_MS,
            why=f"READ p99 {p99_ms:.3g} ms, limit {LIMIT_MS:g} ms",
            trial=f"b1-{topology}-{at:02d}-{MIX}",
        )
        for at, (load, p99_ms) in enumerate(PROBED, 1)
    )
    return SearchSummary(
        test_case=MIX,
        topology=topology,
        build=f"b1-{topology}",
        goal=f"highest rate with READ p99 <= {LIMIT_MS:g} ms",
        unit="ops/s",
        limits_ms={"READ p99": LIMIT_MS},
        probes=probes,
        answer=probes[-1].trial,
        answer_load=probes[-1].load,
        rejected_load=probes[-2].load,
        exact=False,
        why="6 probes were made",
    )


@cache
def searched() -> Summary:
    """The highest rate on each density, below a limit of latency."""
    summary = one_block()
    found = tuple(
        _search(one.topology, metric.value / PROBED[-1][0])
        for one in summary.test_cases
        for metric in one.metrics
        if one.test_case == MIX and metric.name == "throughput" and metric.value
    )
    rates = " and ".join(f"{one.answer_load:,.0f} ops/s" for one in found)
    headline = f"With READ p99 <= 20 ms, 1 and 2 workers per host reached {rates}: inconclusive."
    return summary.model_copy(
        update={
            "study": "knee",
            "headline": headline,
            "headline_test_case": MIX,
            "searches": found,
            "test_cases": tuple(
                one.model_copy(update={"sought": found[0].goal if one.test_case == MIX else None})
                for one in summary.test_cases
            ),
        }
    )


@cache
def faulted() -> Summary:
    """Three faults on each density; after the first of them, one trial did not recover."""
    summary = one_block()
    ids = [one.test_case for one in summary.test_cases if one.workload == "ycsb"]
    fault_of = dict(zip(dict.fromkeys(ids), FAULTS, strict=True))
    trials = tuple(
        _hit(one, at) if one.test_case in fault_of and one.metrics else one
        for at, one in enumerate(summary.trials)
    )
    cases = tuple(
        one.model_copy(update={"fault": fault_of.get(one.test_case)}) for one in summary.test_cases
    )
    return summary.model_copy(update={"study": "failover", "trials": trials, "test_cases": cases})


def _hit(trial: TrialSummary, at: int) -> TrialSummary:
    numbers = (
        ("time_to_recover", "s", None if at == 3 else 11.0 + 2 * at),
        ("failed_operations", "count", 310.0 * at),
        ("worst_latency", "ms", 9_400.0 + 700 * at),
        ("lost_rows", "count", 0.0),
    )
    metrics = tuple(
        Metric(name=name, unit=unit, value=value, points=(value,) if value is not None else (), n=1)
        for name, unit, value in numbers
    )
    return trial.model_copy(update={"metrics": (*trial.metrics, *metrics)})


@cache
def imported() -> Summary:
    """YCSB runs of others: no exit codes, no monitors on two trials."""
    summary = one_block()
    reasons = ("a client's exit code is unknown",)
    trials = tuple(
        one.model_copy(update={"verdict": "unknown", "counted": True, "reasons": reasons})
        if one.verdict == "valid" and one.order % 3 == 0
        else one
        for one in summary.trials
    )
    facts = ImportSummary(
        files=37,
        given={"hosts": 13, "durability": 13},
        unknown={"exit code": 5, "monitors": 2},
        accepted={"clock_offset": "the clients ran on the measured hosts"},
    )
    return summary.model_copy(
        update={
            "study": "old-results",
            "provider": "imported",
            "imported": facts,
            "trials": trials,
            "warnings": tuple(import_warnings(facts, trials)),
            "undecided": None,
        }
    )


KINDS: dict[str, Callable[[], Summary]] = {
    "decided": eight_repetitions,
    "search": searched,
    "faults": faulted,
    "import": imported,
    "failed": all_invalid,
}
