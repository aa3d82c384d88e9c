"""C1, C2, C3, C4 and C8: claims about disks, on the least dense arm of each medium."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.findings.arms import Pair, Points, latency_arms, rate_points
from analysis.findings.question import GAIN, LITTLE_GAIN, RISES, SIMILAR, Evidence, Question, Rule
from analysis.findings.sections import compared, least_dense, most_loaded, readers

GROWTH = 1.1
"""With twice the readers, less than 10 % more throughput counts as no growth."""
MUCH_LOWER = Rule(high=0.67)
MIX, SCAN, LOAD = "read45-insert55", "scan95-insert5", "load"
FLASH_OVER_HDD = "flash over hdd"


def c1(evidence: Evidence) -> Iterator[Question]:
    for medium, rule in (("hdd", Rule(high=GROWTH)), ("flash", Rule(low=GROWTH))):
        entries = sorted(least_dense(evidence, mode="random", medium=medium), key=readers)
        if not entries or readers(entries[0]) == readers(entries[-1]):
            continue
        most = entries[-1]
        half = min(entries[:-1], key=lambda entry: abs(readers(entry) - readers(most) / 2))
        yield compared(
            evidence, "C1", medium, (half, most), f"{medium}-{half.setting}-{most.setting}",
            f"{readers(most):g} readers over {readers(half):g}", rule,
            subject="TestDFSIO random read", among=medium, unit="trial",
        )  # fmt: skip


def c2(evidence: Evidence) -> Iterator[Question]:
    for random in least_dense(evidence, mode="random"):
        for mode in ("backward", "skip"):
            for other in least_dense(evidence, mode=mode, medium=random.medium):
                if (other.files, readers(other)) == (random.files, readers(random)):
                    yield compared(
                        evidence, "C2", mode, (random, other),
                        f"{mode}-{random.setting}-{random.topology}", f"{mode} over random", SIMILAR,
                        subject=f"TestDFSIO {mode} read", among=random.medium, unit="trial",
                    )  # fmt: skip


def c3(evidence: Evidence) -> Iterator[Question]:
    for pair in _pairs(evidence, "read"):
        yield _flash(evidence, "C3", "read", pair, LITTLE_GAIN)


def c4(evidence: Evidence) -> Iterator[Question]:
    for pair in _pairs(evidence, LOAD):
        yield _flash(evidence, "C4", "load", pair, LITTLE_GAIN)
    scans = {hdd.records: (hdd, flash) for hdd, flash in _pairs(evidence, SCAN)}
    for hdd, flash in _pairs(evidence, MIX):
        yield _flash(evidence, "C4", "mix", (hdd, flash), GAIN)
        scan = scans.get(hdd.records)
        if scan is not None:
            yield compared(
                evidence, "C4", "scan", (hdd, flash),
                f"scan-{scan[0].setting}-{hdd.topology}-{flash.topology}", FLASH_OVER_HDD, RISES,
                points=(
                    _by_build(rate_points(scan[0]), rate_points(hdd)),
                    _by_build(rate_points(scan[1]), rate_points(flash)),
                ),
                subject=scan[0].label, measure="throughput over that of the 45/55 mix",
            )  # fmt: skip


def c8(evidence: Evidence) -> Iterator[Question]:
    for place, (hdd, flash) in enumerate(_pairs(evidence, MIX)):
        found = latency_arms(hdd, flash, "READ", 99.0)
        if found is not None:
            yield compared(
                evidence, "C8", "latency" if place == 0 else "sizes", (hdd, flash),
                f"{hdd.setting}-{hdd.topology}-{flash.topology}", FLASH_OVER_HDD, MUCH_LOWER,
                points=found[1:], measure=f"{found[0]} READ p99",
            )  # fmt: skip


def _flash(evidence: Evidence, claim: str, part: str, pair: Pair, rule: Rule) -> Question:
    hdd, flash = pair
    id_ = f"{part}-{hdd.setting}-{hdd.topology}-{flash.topology}"
    return compared(evidence, claim, part, pair, id_, FLASH_OVER_HDD, rule)


def _pairs(evidence: Evidence, mode: str) -> Iterator[Pair]:
    """(hdd, flash) of the mode's most loaded settings, one per data-set size."""
    flash = {entry.setting: entry for entry in least_dense(evidence, mode=mode, medium="flash")}
    for entry in most_loaded(least_dense(evidence, mode=mode, medium="hdd")):
        other = flash.get(entry.setting)
        if other is not None and other.vms_per_host == entry.vms_per_host:
            yield entry, other


def _by_build(over: Points, under: Points) -> Points:
    """The ratio of two settings in each build; empty unless every build has both."""
    if len(over) != len(under) or 0.0 in under:
        return ()
    return tuple(a / b for a, b in zip(over, under, strict=True))
