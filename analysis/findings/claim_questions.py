"""The questions of the claims C1 to C9, one function each.

C1 to C4 and C8 are about disks, on the least dense variant of each disk type. C5 to C7 are about VMs, on
short scans, and C9 about a noisy neighbour on the most VMs; process groups and emulation support none of
them.

The `expected` ratios, for which plans compute their power, are what the captions of the talk suggest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log2
from typing import Any

from density_study.analysis.findings.question import SIMILAR, UNDEFINED, Evidence, Question, Rule
from density_study.analysis.findings.sections import (
    by_threads,
    compared,
    least_dense,
    most_loaded,
    on,
    plain,
    readers,
)
from density_study.analysis.findings.variants import (
    Pair,
    Points,
    cells,
    cpu_points,
    latency_variants,
    rate_points,
    victims,
)
from density_study.analysis.summary.summary import TestCaseSummary

GROWTH = 1.1  # with twice the readers, less than 10 % more throughput counts as no growth
LITTLE_GAIN = Rule(high=1.25, expected=1.1)
GAIN = Rule(low=1.25, expected=1.6)
MORE_GAIN = Rule(low=1.0, expected=1.3)
MUCH_LOWER = Rule(high=0.67, expected=0.4)
MIX, SCAN, LOAD = "read45-insert55", "scan95-insert5", "load"
FLASH_OVER_HDD = "flash over hdd"
GAIN_PER_VM = (1.1, 1.3)  # about 20 %
GROWTH_PER_DOUBLING = (1.6, 2.5)  # about twice the latency for twice the threads
FASTER_GROWTH = Rule(high=0.8, expected=0.6)
FAR_HIGHER = Rule(low=1.5, expected=2.0)
MOSTLY_IDLE = Rule(low=1.0, expected=1.5)
LITTLE_WAITED = Rule(high=1.0, expected=0.5)
LITTLE_LOSS = Rule(low=0.8, expected=0.95)
LITTLE_DELAY = Rule(high=1.5, expected=1.2)
MAX_IDLE = 50.0  # percent
LITTLE_WAIT = 2.0  # percent: about 1
LOST = "a build lacks one of two test cases whose ratio is compared"
Measured = tuple[TestCaseSummary, Points]


def c1(evidence: Evidence) -> Iterator[Question]:
    saturated, grows = Rule(high=GROWTH, expected=1.0), Rule(low=GROWTH, expected=1.3)
    for disk_type, rule in (("hdd", saturated), ("flash", grows)):
        entries = sorted(least_dense(evidence, mode="random", disk_type=disk_type), key=readers)
        if not entries or readers(entries[0]) == readers(entries[-1]):
            continue
        most = entries[-1]
        # chosen by the readers that really ran (method 14): nearest to half, not half of the requested ones
        half = min(entries[:-1], key=lambda entry: abs(readers(entry) - readers(most) / 2))
        yield compared(
            evidence, "C1", disk_type, (half, most), f"{disk_type}-{half.test_case}-{most.test_case}",
            f"{readers(most):g} readers over {readers(half):g}", rule,
            subject="TestDFSIO random read", among=disk_type, unit="trial",
        )  # fmt: skip


def c2(evidence: Evidence) -> Iterator[Question]:
    for random in least_dense(evidence, mode="random"):
        for mode in ("backward", "skip"):
            for other in least_dense(evidence, mode=mode, disk_type=random.disk_type):
                if (other.count("files"), readers(other)) == (
                    random.count("files"),
                    readers(random),
                ):
                    yield compared(
                        evidence, "C2", mode, (random, other),
                        f"{mode}-{random.test_case}-{random.topology}", f"{mode} over random", SIMILAR,
                        subject=f"TestDFSIO {mode} read", among=random.disk_type, unit="trial",
                    )  # fmt: skip


def c3(evidence: Evidence) -> Iterator[Question]:
    for pair in _pairs(evidence, "read"):
        yield _flash(evidence, "C3", "read", pair, LITTLE_GAIN)


def c4(evidence: Evidence) -> Iterator[Question]:
    for pair in _pairs(evidence, LOAD):
        yield _flash(evidence, "C4", "load", pair, LITTLE_GAIN)
    scans = {hdd.count("records"): (hdd, flash) for hdd, flash in _pairs(evidence, SCAN)}
    for hdd, flash in _pairs(evidence, MIX):
        yield _flash(evidence, "C4", "mix", (hdd, flash), GAIN)
        scan = scans.get(hdd.count("records"))
        if scan is not None:
            gains = (
                [(one, rate_points(one)) for one in (over, under)]
                for over, under in zip(scan, (hdd, flash), strict=True)
            )
            yield compared(
                evidence, "C4", "scan", (hdd, flash),
                f"scan-{scan[0].test_case}-{hdd.topology}-{flash.topology}", FLASH_OVER_HDD, MORE_GAIN,
                **_by_build(evidence, *gains),
                subject=scan[0].label, measure="throughput over that of the 45/55 mix",
                cells=cells(hdd, scan[0], flash, scan[1]),
            )  # fmt: skip


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
            f"vm-{first.test_case}-{first.topology}-{later.topology}",
            f"{evidence.density(later.density)} over {evidence.density(first.density)}",
            _power(GAIN_PER_VM, later.density - first.density), among=first.disk_type,
        )  # fmt: skip
    for few, many in by_threads(on(evidence, SCAN, 0)):
        yield compared(
            evidence, "C5", "flat", (few, many), f"flat-{few.topology}", _threads(few, many), SIMILAR,
            subject=many.label, measure="throughput on the bare host", among=many.disk_type, unit="trial",
        )  # fmt: skip


def c6(evidence: Evidence) -> Iterator[Question]:
    growth: dict[int, list[Measured]] = {}
    top = max(_densities(evidence), default=0)
    for density in dict.fromkeys((0, top)):
        for few, many in by_threads(on(evidence, SCAN, density)):
            found = latency_variants(few, many, "SCAN", 50.0)
            if found:
                growth[density] = [(many, found[2]), (few, found[1])]
            if found and density == 0:
                yield _bare_growth(evidence, (few, many), found)
    if len(growth) == 2:
        bare, dense = ([entry for entry, _ in growth[density]] for density in (0, top))
        yield compared(
            evidence, "C6", "vm", (bare[1], dense[1]), f"vm-{bare[1].topology}-{dense[1].topology}",
            f"{evidence.density(top)} over the bare host", FASTER_GROWTH,
            **_by_build(evidence, growth[0], growth[top]),
            subject=dense[0].label, measure="growth of SCAN p50 with threads", among=dense[0].disk_type,
            cells=cells(*reversed(bare), *reversed(dense)),
        )  # fmt: skip


def _bare_growth(evidence: Evidence, pair: Pair, found: tuple[str, Points, Points]) -> Question:
    few, many = pair
    doublings = log2((many.count("threads") or 1) / (few.count("threads") or 1))
    return compared(
        evidence, "C6", "bare", pair, f"bare-{few.topology}", _threads(few, many),
        _power(GROWTH_PER_DOUBLING, doublings), points=found[1:], subject=many.label,
        measure=f"{found[0]} SCAN p50 on the bare host", among=many.disk_type, unit="trial",
    )  # fmt: skip


def c7(evidence: Evidence) -> Iterator[Question]:
    top = max(_densities(evidence), default=0)
    bare = most_loaded(on(evidence, SCAN, 0))[-1:]
    dense = most_loaded(on(evidence, SCAN, top))[-1:] if top else ()
    for entry in bare:
        yield _level(evidence, "idle", entry, "cpu_idle", (MAX_IDLE, MOSTLY_IDLE))
    for first, later in zip(bare, dense, strict=False):
        yield compared(
            evidence, "C7", "used", (first, later), f"used-{first.topology}-{later.topology}",
            f"{evidence.density(later.density)} over the bare host", FAR_HIGHER,
            points=(cpu_points(first), cpu_points(later)), measure="used CPU of the hosts",
            among=first.disk_type,
        )  # fmt: skip
        for entry in (first, later):
            yield _level(evidence, "wait", entry, "cpu_iowait", (LITTLE_WAIT, LITTLE_WAITED))


def _level(
    evidence: Evidence, part: str, entry: TestCaseSummary, metric: str, bound: tuple[float, Rule]
) -> Question:
    reference, rule = bound
    return Question(
        id=f"C7-{part}-{entry.topology}",
        family="C7",
        part=part,
        subject=entry.label,
        measure=f"{metric.removeprefix('cpu_')} of the hosts",
        variants=f"{evidence.density(entry.density)} over {reference:g} %",
        among=entry.disk_type,
        rule=rule,
        first=(),
        later=cpu_points(entry, metric),
        reference=reference,
        obstacles=evidence.about_vms(entry),
        cells=cells(entry),
    )


def _densities(evidence: Evidence) -> list[int]:
    return sorted({entry.density for entry in plain(evidence, SCAN)})


def _power(bounds: tuple[float, float], steps: float) -> Rule:
    """The rule for several steps, each of which multiplies by a factor between the bounds."""
    low, high = (bound**steps for bound in bounds)  # three added VMs: 1.1^3 to 1.3^3
    return Rule(round(low, 4), round(high, 4))


def _threads(few: TestCaseSummary, many: TestCaseSummary) -> str:
    return f"{many.count('threads')} threads over {few.count('threads')}"


def c8(evidence: Evidence) -> Iterator[Question]:
    for place, (hdd, flash) in enumerate(_pairs(evidence, MIX)):
        found = latency_variants(hdd, flash, "READ", 99.0)
        if found is not None:
            yield compared(
                evidence, "C8", "latency" if place == 0 else "sizes", (hdd, flash),
                f"{hdd.test_case}-{hdd.topology}-{flash.topology}", FLASH_OVER_HDD, MUCH_LOWER,
                points=found[1:], measure=f"{found[0]} READ p99",
            )  # fmt: skip


def c9(evidence: Evidence) -> Iterator[Question]:
    """Claim 9, about noisy neighbours, at the highest density only: a victim has a neighbour only if its host
    has a second node."""
    for alone, beside in victims(evidence.test_cases):
        if alone.density != max(entry.density for entry in evidence.test_cases):
            continue
        variants, id_ = (
            f"beside {beside.neighbour} over alone",
            f"{beside.test_case}-{alone.topology}",
        )
        more: dict[str, Any] = {"among": alone.disk_type, "unit": "trial"}
        pair = alone, beside
        yield compared(evidence, "C9", "rate", pair, f"rate-{id_}", variants, LITTLE_LOSS, **more)
        found = latency_variants(alone, beside, "READ", 99.0)
        if found is not None:
            yield compared(
                evidence, "C9", "latency", pair, f"latency-{id_}", variants, LITTLE_DELAY,
                points=found[1:], measure=f"{found[0]} READ p99", **more,
            )  # fmt: skip


def _flash(evidence: Evidence, claim: str, part: str, pair: Pair, rule: Rule) -> Question:
    hdd, flash = pair
    id_ = f"{part}-{hdd.test_case}-{hdd.topology}-{flash.topology}"
    return compared(evidence, claim, part, pair, id_, FLASH_OVER_HDD, rule)


def _pairs(evidence: Evidence, mode: str) -> Iterator[Pair]:
    """(hdd, flash) of the mode's most loaded test cases, one per data-set size."""
    flash = {
        entry.test_case: entry for entry in least_dense(evidence, mode=mode, disk_type="flash")
    }
    for entry in most_loaded(least_dense(evidence, mode=mode, disk_type="hdd")):
        other = flash.get(entry.test_case)
        if other is not None and other.density == entry.density:
            yield entry, other


def _by_build(evidence: Evidence, *variants: Sequence[Measured]) -> dict[str, Any]:
    """Of each variant the ratio of its first test case to its second in every build, whose own speed cancels;
    or why there is none. Two test cases that lost one build each may have lost different ones."""
    measured = [one for variant in variants for one in variant]
    if all(points for _, points in measured):
        if any(len(points) != evidence.blocks(entry) for entry, points in measured):
            return {"points": ((), ()), "withheld": (LOST,)}
        if any(0.0 in points for _, points in measured):
            return {"points": ((), ()), "withheld": (UNDEFINED,)}
    return {
        "points": tuple(
            tuple(a / b for a, b in zip(over[1], under[1], strict=False))
            for over, under in variants
        )
    }
