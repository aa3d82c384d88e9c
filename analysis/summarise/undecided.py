"""One line: how many comparisons these data cannot decide, and what it would take to decide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, log

from analysis.findings import MIN_BUILDS, Evidence
from analysis.statistics.power import detectable_ratio, units_needed
from analysis.summary.summary import Finding, SummaryWarning, WarningCode


def undecided(
    found: Sequence[Finding],
    evidence: Evidence,
    warnings: Sequence[SummaryWarning],
    total_s: float | None,
) -> str | None:
    """None if every comparison is decided. total_s: wall time of the run so far, for all its repetitions."""
    open_ones = [one for one in found if one.verdict == "no claim"]
    if not open_ones:
        return None
    count = "all" if len(open_ones) == len(found) else f"{len(open_ones)} of"
    comparisons = "comparison" if len(found) == 1 else "comparisons"
    counted = f"{count} {len(found)} {comparisons}" if len(found) > 1 else "the only comparison"
    needs = [
        *_arms(open_ones, evidence, warnings),
        *_repetitions(open_ones, found, evidence, total_s),
    ]
    text = f"Not decided: {counted}."
    return (
        f"{text} To decide {'them' if len(open_ones) > 1 else 'it'}: {'; '.join(needs)}."
        if needs
        else text
    )


def _arms(
    open_ones: Sequence[Finding], evidence: Evidence, warnings: Sequence[SummaryWarning]
) -> Iterator[str]:
    """What the arms themselves lack, whatever the number of repetitions."""
    codes: set[WarningCode] = {warning.code for warning in warnings}
    if any(not all(one.n) for one in open_ones):
        yield "valid trials in every arm"
    if "incomparable-builds" in codes:
        yield "hosts and settings that are equal in all builds"
    if "process-nodes" in codes:
        yield "provider libvirt, because process groups only stand in for VMs"
    elif evidence.emulated_guests:
        yield "hosts with KVM, because the VMs were emulated"
    if evidence.emulated:
        yield f"a real {' and a real '.join(sorted(evidence.emulated))} disk"


def _repetitions(
    open_ones: Sequence[Finding],
    found: Sequence[Finding],
    evidence: Evidence,
    total_s: float | None,
) -> Iterator[str]:
    have = evidence.repetitions
    if have < MIN_BUILDS:
        yield f"{_more(MIN_BUILDS, have, total_s)} for intervals"
        return
    sizes = Counter(one.family for one in found if one.p_adjusted is not None)
    # left to chance: tested, and able to become a claim
    noisy = [one for one in open_ones if one.p_adjusted is not None and one.detectable]
    if not noisy:
        return
    worst = max(noisy, key=lambda one: one.detectable or 1.0)
    least, size = worst.detectable or 1.0, sizes[worst.family]
    needed = _for_half(least, min(worst.n), size)
    shown = f"{have} repetitions show a difference of {_percent(least)}"
    if needed is None or needed <= have:
        yield f"more repetitions ({shown})"
        return
    half = exp(log(least) / 2)
    yield f"{_more(needed, have, total_s)} to show one of {_percent(half)} ({shown} or more)"


def _for_half(detectable: float, units: int, size: int) -> int | None:
    """Units per arm that detect half the effect which `units` detect, at the same noise."""
    of_one = detectable_ratio(units, 1.0, size)  # at a spread of 1: its logarithm is the factor
    if of_one is None:
        return None
    return units_needed(exp(log(detectable) / 2), log(detectable) / log(of_one), size)


def _more(needed: int, have: int, total_s: float | None) -> str:
    more = needed - have
    takes = f", about {_duration(total_s / have * more)}" if total_s and have else ""
    return f"{more} more repetition{'s' if more > 1 else ''} (--add-repetitions {more}{takes})"


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):.2g} %"


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{max(1, minutes)} min"
    return f"{minutes / 60:.0f} h"
