"""C1, C2, C3, C4 and C8: claims about disks, on the least dense arm of each medium."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.findings.arms import Points, latency_arms, rate_points
from analysis.findings.question import Evidence, Question
from analysis.findings.rule import GAIN, LITTLE_GAIN, RISES, SIMILAR, Rule
from analysis.findings.sections import least_dense, most_loaded, readers
from analysis.summary.summary import SettingSummary

GROWTH = 1.1
"""With twice the readers, less than 10 % more throughput counts as no growth."""
MUCH_LOWER = Rule(high=0.67)
MEDIA = ("hdd", "flash")
MIX, SCAN, LOAD = "read45-insert55", "scan95-insert5", "load"


def c1(evidence: Evidence) -> Iterator[Question]:
    for medium, rule in zip(MEDIA, (Rule(high=GROWTH), Rule(low=GROWTH)), strict=True):
        entries = sorted(
            least_dense(evidence, mode="random", medium=medium), key=lambda entry: readers(entry)
        )
        if not entries or readers(entries[0]) == readers(entries[-1]):
            continue
        most = entries[-1]
        half = min(entries[:-1], key=lambda entry: abs(readers(entry) - readers(most) / 2))
        yield Question(
            id=f"C1-{medium}-{half.setting}-{most.setting}",
            family="C1",
            part=medium,
            subject="TestDFSIO random read",
            measure="throughput",
            arms=f"{readers(most):g} readers over {readers(half):g}",
            among=medium,
            rule=rule,
            first=rate_points(half),
            later=rate_points(most),
            unit="trial",
            obstacles=evidence.about_media(half),
            refused=evidence.differences(half, most),
        )


def c2(evidence: Evidence) -> Iterator[Question]:
    for random in least_dense(evidence, mode="random"):
        for mode in ("backward", "skip"):
            for other in least_dense(evidence, mode=mode, medium=random.medium):
                if (other.files, readers(other)) != (random.files, readers(random)):
                    continue
                yield Question(
                    id=f"C2-{mode}-{random.setting}-{random.topology}",
                    family="C2",
                    part=mode,
                    subject=f"TestDFSIO {mode} read",
                    measure="throughput",
                    arms=f"{mode} over random",
                    among=random.medium,
                    rule=SIMILAR,
                    first=rate_points(random),
                    later=rate_points(other),
                    unit="trial",
                    obstacles=evidence.about_media(random),
                    refused=evidence.differences(random, other),
                )


def c3(evidence: Evidence) -> Iterator[Question]:
    for hdd, flash in _pairs(evidence, "read"):
        yield _flash("C3", "read", evidence, (hdd, flash), LITTLE_GAIN)


def c4(evidence: Evidence) -> Iterator[Question]:
    for hdd, flash in _pairs(evidence, LOAD):
        yield _flash("C4", "load", evidence, (hdd, flash), LITTLE_GAIN)
    scans = {hdd.records: (hdd, flash) for hdd, flash in _pairs(evidence, SCAN)}
    for hdd, flash in _pairs(evidence, MIX):
        yield _flash("C4", "mix", evidence, (hdd, flash), GAIN)
        scan = scans.get(hdd.records)
        if scan is None:
            continue
        yield Question(
            id=f"C4-scan-{scan[0].setting}-{hdd.topology}-{flash.topology}",
            family="C4",
            part="scan",
            subject=scan[0].label,
            measure="throughput over that of the 45/55 mix",
            arms="flash over hdd",
            rule=RISES,
            first=_by_build(rate_points(scan[0]), rate_points(hdd)),
            later=_by_build(rate_points(scan[1]), rate_points(flash)),
            obstacles=evidence.about_media(hdd, flash),
            refused=evidence.differences(hdd, flash),
        )


def c8(evidence: Evidence) -> Iterator[Question]:
    pairs = list(_pairs(evidence, MIX))
    for place, (hdd, flash) in enumerate(pairs):
        found = latency_arms(hdd, flash, "READ", 99.0)
        if found is None:
            continue
        yield Question(
            id=f"C8-{hdd.setting}-{hdd.topology}-{flash.topology}",
            family="C8",
            part="latency" if place == 0 else "sizes",
            subject=hdd.label,
            measure=f"{found[0]} READ p99",
            arms="flash over hdd",
            rule=MUCH_LOWER,
            first=found[1],
            later=found[2],
            obstacles=evidence.about_media(hdd, flash),
            refused=evidence.differences(hdd, flash),
        )


def _flash(
    claim: str,
    part: str,
    evidence: Evidence,
    pair: tuple[SettingSummary, SettingSummary],
    rule: Rule,
) -> Question:
    hdd, flash = pair
    return Question(
        id=f"{claim}-{part}-{hdd.setting}-{hdd.topology}-{flash.topology}",
        family=claim,
        part=part,
        subject=hdd.label,
        measure="throughput",
        arms="flash over hdd",
        rule=rule,
        first=rate_points(hdd),
        later=rate_points(flash),
        obstacles=evidence.about_media(hdd, flash),
        refused=evidence.differences(hdd, flash),
    )


def _pairs(evidence: Evidence, mode: str) -> Iterator[tuple[SettingSummary, SettingSummary]]:
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
