"""Synthetic `Summary` values of realistic size and shape, for the tests and the README's picture.

`one_block()`: the quickstart's result: 2 densities x 6 test cases, 1 repetition, processes for VMs.
`eight_repetitions()`: 3 densities x 2 disk types x 6 test cases, 8 repetitions, VMs, intervals, decided
findings. `talk()`: the data of all six charts of the talk: readers, threads and sizes varied; 5 repetitions.
Each is made once per process: summaries are immutable, and tests change copies.
`python -m tests.support.summary_factory one|eight|talk` prints one as summary.json.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import cache
from statistics import median
from typing import Any

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.undecided import undecided
from density_study.analysis.summarise.warnings import design_warnings, short_trials, trial_warnings
from density_study.analysis.summary.summary import (
    BuildSummary,
    Metric,
    Summary,
    SummaryWarning,
    TestCaseSummary,
    TimeSummary,
    TrialSummary,
    VerdictName,
)
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Hypotheses
from tests.support.metric_factory import SHAPES, USD_PER_HOUR, Shape, Variant, unit
from tests.support.series_factory import trial_series

UNSEEN: VerdictName = "unknown"


PHASES_S = {
    "render": 0.4,
    "namenode": 4.1,
    "datanodes": 3.3,
    "yarn": 5.9,
    "zookeeper": 1.6,
    "hbase": 11.2,
    "proof": 1.9,
}


@cache
def one_block(study: str = "quickstart") -> Summary:
    """The quickstart's: every interval null, every finding `inconclusive`, one trial of each kind of
    problem."""
    variants = tuple(Variant(density, "flash", Isolation.PROCESS) for density in (1, 2))
    summary = _summary(study, variants, repetitions=1, provider="local")
    question = "Do two workers on this host use its CPUs better than one, at the same total memory?"
    limits = (
        *summary.warnings,
        *short_trials(summary.trials),
        SummaryWarning(
            code="data-fits-in-memory",
            message="Data may be served from memory: the data set is 0.4 times the hosts' RAM.",
        ),
    )
    return concluded(summary.model_copy(update={"warnings": limits}), Hypotheses(question=question))


@cache
def eight_repetitions(study: str = "density-flash-hdd", repetitions: int = 8) -> Summary:
    """3 densities x 2 disk types x 8 repetitions on VMs: intervals everywhere, 296 trials, 37 per
    repetition."""
    disk_types = ("flash", "hdd")
    variants = tuple(
        Variant(density, disk_type, Isolation.VM)
        for density in (0, 2, 4)
        for disk_type in disk_types
    )
    summary = _summary(study, variants, repetitions=repetitions, provider="libvirt")
    question = (
        "How many VMs per host, on which disks, if short scans must have a p99 of at most 60 ms?"
    )
    names = ("density-rate", "disk-rate", "disk-latency", "best-density")
    asked = Hypotheses(question=question, slo={"scan_p99": "60 ms"}, questions=names)
    return concluded(summary, asked)


@cache
def hundreds_of_trials() -> Summary:
    """Like `eight_repetitions`, with 14: 518 trials, all of them with their seconds."""
    summary = eight_repetitions(repetitions=14)
    series = tuple(trial_series(one) for one in summary.trials if one.metrics)
    return summary.model_copy(update={"series": series})


@cache
def talk(study: str = "talk-2013") -> Summary:
    """Readers, threads and sizes varied on 2 densities x 2 disk types: the comparisons of the talk's
    charts."""
    read, load, mixed, scan = (SHAPES[at] for at in (2, 3, 4, 5))
    reads = [
        replace(read, id=f"testdfsio-random-n{n}", label=f"{read.label}, {n} files", rate=9.0 * n)
        for n in (6, 24, 72)
    ]
    runs = [
        replace(one, id=re.sub(r"r\d+-t\d+", f"r{records}-t{threads}", one.id), rate=one.rate * factor,
                label=f"{one.label}, {records:,} records, {threads} threads")
        for one in (load, mixed, scan)
        for records in ((100_000, 300_000) if one is mixed else (100_000,))
        for threads, factor in ((8, 1.0), (32, 1.7))
    ]  # fmt: skip
    variants = tuple(
        Variant(density, disk_type, Isolation.VM)
        for density in (0, 4)
        for disk_type in ("flash", "hdd")
    )
    summary = _summary(study, variants, repetitions=5, provider="libvirt", shapes=(*reads, *runs))
    return concluded(summary, Hypotheses())


def concluded(summary: Summary, asked: Hypotheses) -> Summary:
    """With findings, headline and what is undecided, as a run's own summary has them."""
    evidence = Evidence(summary.test_cases, summary.repetitions, summary.isolation)
    found = findings(evidence, asked)
    answer = headline(evidence, len(summary.trials), found)
    return summary.model_copy(
        update={
            "question": asked.question,
            "headline": answer.text,
            "headline_test_case": answer.test_case,
            "undecided": undecided(found, evidence, summary.warnings, summary.time.total_s),
            "findings": found,
        }
    )


def _summary(
    study: str,
    variants: tuple[Variant, ...],
    repetitions: int,
    provider: str,
    shapes: tuple[Shape, ...] = SHAPES,
) -> Summary:
    rng = random.Random(20130226)
    units = {
        (variant, shape.id): [unit(variant, shape, rng) for _ in range(repetitions)]
        for variant in variants
        for shape in shapes
    }
    trials = tuple(_trials(variants, repetitions, units, shapes))
    return Summary(
        study=study,
        run="20261120T201530Z",
        question=None,
        created="2026-11-20T20:23:04Z",
        provider=provider,
        isolation=variants[0].isolation,
        repetitions=repetitions,
        seed=20130226,
        headline="Nothing is claimed.",
        warnings=(
            *trial_warnings(trials),
            *design_warnings(variants[0].isolation, (), repetitions),
        ),
        test_cases=tuple(
            _test_case(variant, shape, units[variant, shape.id])
            for variant in variants
            for shape in shapes
        ),
        findings=(),
        trials=trials,
        builds=tuple(_builds(variants, repetitions, rng)),
        time=_time(trials),
        disclosure=_disclosure(variants),
        series=tuple(trial_series(one) for one in trials if one.repetition == 1 and one.metrics),
    )


def _time(trials: tuple[TrialSummary, ...]) -> TimeSummary:
    measuring_s = sum(trial.measure_s or 0.0 for trial in trials)
    parts = (measuring_s, 0.32 * measuring_s, 0.21 * measuring_s, 41.5)
    return TimeSummary(
        measuring_s=parts[0],
        building_s=parts[1],
        waiting_s=parts[2],
        analysing_s=parts[3],
        total_s=sum(parts),
    )


def _test_case(variant: Variant, shape: Shape, units: list[list[Metric]]) -> TestCaseSummary:
    return TestCaseSummary(
        topology=variant.name,
        vms_per_host=variant.density,
        regionservers_per_node=1,
        disk_type=variant.disk_type,
        test_case=shape.id,
        workload=shape.workload,
        label=shape.label,
        n_builds=len(units),
        metrics=tuple(_pooled(list(same)) for same in zip(*units, strict=True)),
        usd_per_hour=USD_PER_HOUR if variant.isolation is Isolation.VM else None,
        **shape.knobs,
    )


def _pooled(same: list[Metric]) -> Metric:
    values = [metric.value for metric in same if metric.value is not None]
    if not values:
        return same[0].model_copy(update={"n": 0})
    middle = median(values)
    ends = asdict(mean_interval(values)) if len(values) >= 5 else {}
    return same[0].model_copy(
        update={"value": middle, "points": tuple(values), "n": len(values), **ends}
    )


def _trials(
    variants: tuple[Variant, ...],
    repetitions: int,
    units: dict[tuple[Variant, str], list[list[Metric]]],
    shapes: tuple[Shape, ...],
) -> Iterator[TrialSummary]:
    order = 0
    for repetition in range(1, repetitions + 1):
        for variant in variants:
            for shape in shapes:
                yield _trial(
                    order,
                    repetition,
                    variant,
                    shape,
                    tuple(units[variant, shape.id][repetition - 1]),
                )
                order += 1
        yield _failed(order, repetition, variants[-1], shapes[1])
        order += 1


def _trial(
    order: int, repetition: int, variant: Variant, shape: Shape, metrics: tuple[Metric, ...]
) -> TrialSummary:
    verdict: VerdictName = UNSEEN if order % 37 == 5 else "valid"
    reasons = ("clock offset of host here was not measured after the run",)
    return TrialSummary(
        trial=f"b{repetition}-{variant.name}-{order:02d}-{shape.id}",
        order=order,
        repetition=repetition,
        build=f"b{repetition}-{variant.name}",
        topology=variant.name,
        vms_per_host=variant.density,
        disk_type=variant.disk_type,
        test_case=shape.id,
        workload=shape.workload,
        state="complete",
        verdict=verdict,
        counted=verdict == "valid",
        reasons=() if verdict == "valid" else reasons,
        measure_s=14.0 + order % 9,
        metrics=metrics,
    )


def _failed(order: int, repetition: int, variant: Variant, shape: Shape) -> TrialSummary:
    reasons = (
        "TestDFSIO exited 254: java.io.IOException: Could not obtain block: BP-1:blk_1073741829",
        "monitor samples cover 71 % of the window, under 95 %",
    )
    trial = _trial(order, repetition, variant, shape, ())
    failed = {"state": "failed", "verdict": "invalid", "counted": False, "reasons": reasons}
    return trial.model_copy(update={**failed, "measure_s": None})


def _builds(
    variants: tuple[Variant, ...], repetitions: int, rng: random.Random
) -> Iterator[BuildSummary]:
    for repetition in range(1, repetitions + 1):
        for variant in variants:
            stretch = (1 + 0.12 * variant.density) * math.exp(rng.gauss(0.0, 0.08))
            phases = {name: round(seconds * stretch, 1) for name, seconds in PHASES_S.items()}
            yield BuildSummary(
                build=f"b{repetition}-{variant.name}", topology=variant.name, phases_s=phases
            )


def _disclosure(variants: tuple[Variant, ...]) -> dict[str, Any]:
    xml = "<configuration>\n  <property>\n    <name>dfs.replication</name>\n    <value>1</value>\n"
    return {
        "versions": {
            "hadoop": "3.4.2",
            "hbase": "2.6.4-hadoop3",
            "ycsb": "0.17.0",
            "java": "17.0.17",
        },
        "kernel": "Linux 6.1.0-40-amd64",
        "cpu": {"model": "AMD EPYC 7B13", "cores": 2, "governor": "performance"},
        "disks": [{"path": "/data/nvme0", "disk_type": variants[0].disk_type, "scheduler": "none"}],
        "jvm_flags": ["-Xmx768m", "-XX:+UseG1GC"],
        "rendered": {
            "hdfs-site.xml": f'<?xml version="1.0"?>\n{xml}  </property>\n</configuration>\n'
        },
    }


FACTORIES: dict[str, Callable[[], Summary]] = {
    "one": one_block,
    "eight": eight_repetitions,
    "talk": talk,
}

if __name__ == "__main__":
    sys.stdout.write(FACTORIES[sys.argv[1]]().model_dump_json(indent=1))
