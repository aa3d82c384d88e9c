"""C5, C6 and C7: claims about VMs, on short scans. Process groups and emulation support none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2

from analysis.findings.arms import Points, cpu_points, latency_arms, rate_points
from analysis.findings.question import Evidence, Question
from analysis.findings.rule import FALLS, RISES, SIMILAR, Rule
from analysis.findings.sections import by_threads, most_loaded, on, plain
from analysis.summary.summary import SettingSummary

SCAN = "scan95-insert5"
GAIN_PER_VM = (1.1, 1.3)
"""About 20 %."""
GROWTH_PER_DOUBLING = (1.6, 2.5)
"""About twice the latency for twice the threads."""
FASTER_GROWTH = Rule(high=0.8)
FAR_HIGHER = Rule(low=1.5)
MAX_IDLE = 50.0
LITTLE_WAIT = 2.0
"""Percent: about 1."""


def c5(evidence: Evidence) -> Iterator[Question]:
    ladder = [
        entry
        for density in _densities(evidence)
        if density > 0
        for entry in most_loaded(on(evidence, SCAN, density))[-1:]
    ]
    for first, later in pairwise(ladder):
        added = later.vms_per_host - first.vms_per_host
        low, high = (bound**added for bound in GAIN_PER_VM)
        yield Question(
            id=f"C5-vm-{first.setting}-{first.topology}-{later.topology}",
            family="C5",
            part="vm",
            subject=first.label,
            measure="throughput",
            arms=f"{evidence.density(later.vms_per_host)} over {evidence.density(first.vms_per_host)}",
            among=first.medium,
            rule=Rule(round(low, 4), round(high, 4)),
            first=rate_points(first),
            later=rate_points(later),
            obstacles=evidence.about_vms(first, later),
            refused=evidence.differences(first, later),
        )
    for few, many in _threads(evidence, 0):
        yield Question(
            id=f"C5-flat-{few.topology}",
            family="C5",
            part="flat",
            subject=many.label,
            measure="throughput on the bare host",
            arms=f"{many.threads} threads over {few.threads}",
            among=many.medium,
            rule=SIMILAR,
            first=rate_points(few),
            later=rate_points(many),
            unit="trial",
            obstacles=evidence.about_vms(few, many),
            refused=evidence.differences(few, many),
        )


def c6(evidence: Evidence) -> Iterator[Question]:
    growth: dict[int, tuple[SettingSummary, SettingSummary, Points]] = {}
    top = max(_densities(evidence), default=0)
    for density in dict.fromkeys((0, top)):
        for few, many in _threads(evidence, density):
            found = latency_arms(few, many, "SCAN", 50.0)
            if found and len(found[1]) == len(found[2]):
                by_build = tuple(b / a for a, b in zip(found[1], found[2], strict=True))
                growth[density] = few, many, by_build
            if found and density == 0:
                yield _bare_growth(evidence, few, many, found)
    if len(growth) == 2:
        bare, dense = growth[0], growth[top]
        yield Question(
            id=f"C6-vm-{bare[0].topology}-{dense[0].topology}",
            family="C6",
            part="vm",
            subject=dense[1].label,
            measure="growth of SCAN p50 with threads",
            arms=f"{evidence.density(top)} over the bare host",
            among=dense[1].medium,
            rule=FASTER_GROWTH,
            first=bare[2],
            later=dense[2],
            obstacles=evidence.about_vms(bare[0], dense[0]),
            refused=evidence.differences(bare[0], dense[0]),
        )


def _bare_growth(
    evidence: Evidence,
    few: SettingSummary,
    many: SettingSummary,
    found: tuple[str, Points, Points],
) -> Question:
    doublings = log2((many.threads or 1) / (few.threads or 1))
    low, high = (bound**doublings for bound in GROWTH_PER_DOUBLING)
    return Question(
        id=f"C6-bare-{few.topology}",
        family="C6",
        part="bare",
        subject=many.label,
        measure=f"{found[0]} SCAN p50 on the bare host",
        arms=f"{many.threads} threads over {few.threads}",
        among=many.medium,
        rule=Rule(round(low, 4), round(high, 4)),
        first=found[1],
        later=found[2],
        unit="trial",
        obstacles=evidence.about_vms(few, many),
        refused=evidence.differences(few, many),
    )


def c7(evidence: Evidence) -> Iterator[Question]:
    top = max(_densities(evidence), default=0)
    bare = most_loaded(on(evidence, SCAN, 0))[-1:]
    dense = most_loaded(on(evidence, SCAN, top))[-1:] if top else ()
    for entry in bare:
        yield _level(evidence, "idle", entry, "cpu_idle", (MAX_IDLE, RISES))
    for first, later in zip(bare, dense, strict=False):
        yield Question(
            id=f"C7-used-{first.topology}-{later.topology}",
            family="C7",
            part="used",
            subject=first.label,
            measure="used CPU of the hosts",
            arms=f"{evidence.density(later.vms_per_host)} over the bare host",
            among=first.medium,
            rule=FAR_HIGHER,
            first=cpu_points(first),
            later=cpu_points(later),
            obstacles=evidence.about_vms(first, later),
            refused=evidence.differences(first, later),
        )
        for entry in (first, later):
            yield _level(evidence, "wait", entry, "cpu_iowait", (LITTLE_WAIT, FALLS))


def _level(
    evidence: Evidence, part: str, entry: SettingSummary, metric: str, bound: tuple[float, Rule]
) -> Question:
    return Question(
        id=f"C7-{part}-{entry.topology}",
        family="C7",
        part=part,
        subject=entry.label,
        measure=f"{metric.removeprefix('cpu_')} of the hosts",
        arms=f"{evidence.density(entry.vms_per_host)} over {bound[0]:g} %",
        among=entry.medium,
        rule=bound[1],
        first=(),
        later=cpu_points(entry, metric),
        reference=bound[0],
        obstacles=evidence.about_vms(entry),
    )


def _densities(evidence: Evidence) -> list[int]:
    return sorted({entry.vms_per_host for entry in plain(evidence, SCAN)})


def _threads(
    evidence: Evidence, vms_per_host: int
) -> Iterator[tuple[SettingSummary, SettingSummary]]:
    found = by_threads(on(evidence, SCAN, vms_per_host))
    if found:
        yield found[0], found[1]
