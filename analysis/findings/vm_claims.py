"""C5, C6 and C7: claims about VMs, on short scans. Process groups and emulation support none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import log2

from analysis.findings.arms import Pair, Points, cpu_points, latency_arms
from analysis.findings.question import FALLS, RISES, SIMILAR, Evidence, Question, Rule
from analysis.findings.sections import by_threads, compared, most_loaded, on, plain
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
        yield compared(
            evidence, "C5", "vm", (first, later),
            f"vm-{first.setting}-{first.topology}-{later.topology}",
            f"{evidence.density(later.vms_per_host)} over {evidence.density(first.vms_per_host)}",
            _power(GAIN_PER_VM, later.vms_per_host - first.vms_per_host), among=first.medium,
        )  # fmt: skip
    for few, many in by_threads(on(evidence, SCAN, 0)):
        yield compared(
            evidence, "C5", "flat", (few, many), f"flat-{few.topology}", _threads(few, many), SIMILAR,
            subject=many.label, measure="throughput on the bare host", among=many.medium, unit="trial",
        )  # fmt: skip


def c6(evidence: Evidence) -> Iterator[Question]:
    growth: dict[int, tuple[SettingSummary, SettingSummary, Points]] = {}
    top = max(_densities(evidence), default=0)
    for density in dict.fromkeys((0, top)):
        for few, many in by_threads(on(evidence, SCAN, density)):
            found = latency_arms(few, many, "SCAN", 50.0)
            if found and len(found[1]) == len(found[2]):
                by_build = tuple(b / a for a, b in zip(found[1], found[2], strict=True))
                growth[density] = few, many, by_build
            if found and density == 0:
                yield _bare_growth(evidence, (few, many), found)
    if len(growth) == 2:
        bare, dense = growth[0], growth[top]
        yield compared(
            evidence, "C6", "vm", (bare[0], dense[0]), f"vm-{bare[0].topology}-{dense[0].topology}",
            f"{evidence.density(top)} over the bare host", FASTER_GROWTH, points=(bare[2], dense[2]),
            subject=dense[1].label, measure="growth of SCAN p50 with threads", among=dense[1].medium,
        )  # fmt: skip


def _bare_growth(evidence: Evidence, pair: Pair, found: tuple[str, Points, Points]) -> Question:
    few, many = pair
    doublings = log2((many.threads or 1) / (few.threads or 1))
    return compared(
        evidence, "C6", "bare", pair, f"bare-{few.topology}", _threads(few, many),
        _power(GROWTH_PER_DOUBLING, doublings), points=found[1:], subject=many.label,
        measure=f"{found[0]} SCAN p50 on the bare host", among=many.medium, unit="trial",
    )  # fmt: skip


def c7(evidence: Evidence) -> Iterator[Question]:
    top = max(_densities(evidence), default=0)
    bare = most_loaded(on(evidence, SCAN, 0))[-1:]
    dense = most_loaded(on(evidence, SCAN, top))[-1:] if top else ()
    for entry in bare:
        yield _level(evidence, "idle", entry, "cpu_idle", (MAX_IDLE, RISES))
    for first, later in zip(bare, dense, strict=False):
        yield compared(
            evidence, "C7", "used", (first, later), f"used-{first.topology}-{later.topology}",
            f"{evidence.density(later.vms_per_host)} over the bare host", FAR_HIGHER,
            points=(cpu_points(first), cpu_points(later)), measure="used CPU of the hosts",
            among=first.medium,
        )  # fmt: skip
        for entry in (first, later):
            yield _level(evidence, "wait", entry, "cpu_iowait", (LITTLE_WAIT, FALLS))


def _level(
    evidence: Evidence, part: str, entry: SettingSummary, metric: str, bound: tuple[float, Rule]
) -> Question:
    reference, rule = bound
    return Question(
        id=f"C7-{part}-{entry.topology}",
        family="C7",
        part=part,
        subject=entry.label,
        measure=f"{metric.removeprefix('cpu_')} of the hosts",
        arms=f"{evidence.density(entry.vms_per_host)} over {reference:g} %",
        among=entry.medium,
        rule=rule,
        first=(),
        later=cpu_points(entry, metric),
        reference=reference,
        obstacles=evidence.about_vms(entry),
    )


def _densities(evidence: Evidence) -> list[int]:
    return sorted({entry.vms_per_host for entry in plain(evidence, SCAN)})


def _power(bounds: tuple[float, float], steps: float) -> Rule:
    """The rule for several steps, each of which multiplies by a factor between the bounds."""
    low, high = (bound**steps for bound in bounds)
    return Rule(round(low, 4), round(high, 4))


def _threads(few: SettingSummary, many: SettingSummary) -> str:
    return f"{many.threads} threads over {few.threads}"
