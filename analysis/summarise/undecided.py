"""One line: how many comparisons these data cannot decide, and what it would take to decide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from shlex import quote

from density_study.analysis.findings import MIN_BUILDS, Evidence
from density_study.analysis.findings.claims import is_whole
from density_study.analysis.statistics.power import detectable_ratio, units_needed
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Finding, SummaryWarning, WarningCode
from density_study.cluster.model.plain import counted
from density_study.workloads.base.quantity import duration


@dataclass(frozen=True)
class _Repetitions:
    """The run's repetitions so far. `total_s`: their wall time. `is_closed`: none can be added here. `spec`:
    what `study run` takes to add some."""

    have: int
    total_s: float | None
    is_closed: bool
    spec: str

    def until(self, needed: int) -> str:
        """How many more, by which option, and for how long."""
        more = needed - self.have
        words = counted(more, "more repetition")
        if self.is_closed:
            return words
        each_s = self.total_s / self.have if self.total_s and self.have else None
        takes = f", about {_rounded(each_s * more)}" if each_s else ""
        return f"{words} (`study run {quote(self.spec)} --add-repetitions {more}`{takes})"


def undecided(
    found: Sequence[Finding],
    evidence: Evidence,
    warnings: Sequence[SummaryWarning],
    total_s: float | None,
    spec: str = "SPEC",
) -> str | None:
    """None if every comparison is decided. total_s: wall time of the run so far, for all its repetitions.
    spec: as in `Summary`."""
    compared = [one for one in found if one.question and not is_whole(one)]
    open_ones = [one for one in compared if one.verdict == "inconclusive"]
    if not open_ones:
        return None
    count = "all" if len(open_ones) == len(compared) else f"{len(open_ones)} of"
    counted = f"{count} {len(compared)} comparisons" if len(compared) > 1 else "the only comparison"
    counted = f"{counted} of the study's questions"
    is_closed = any(warning.code in ("imported", "simulated") for warning in warnings)
    so_far = _Repetitions(evidence.repetitions, total_s, is_closed, spec)
    repetitions = _repetitions(open_ones, found, so_far)
    if evidence.sequential or evidence.looks:
        more = "a new run with" if evidence.looks else "a smaller `repetitions.until` or"
        chance = any(one.p_adjusted is not None for one in open_ones)
        needed = chance or evidence.repetitions < MIN_BUILDS
        repetitions = iter([f"{more} a larger `repetitions.at_most`"] if needed else [])
    needs = [*_variants(open_ones, evidence, warnings), *repetitions]
    numbered = [f"({at}) {need}" for at, need in enumerate(needs, 1)] if len(needs) > 1 else needs
    parts = [f"Not decided: {counted}."]
    if needs:
        parts.append(f"Still needed: {'; '.join(numbered)}.")
    if ruled_out := [digits(one.excluded) for one in open_ones if one.excluded]:
        where = "" if len(ruled_out) == len(open_ones) else f" in {len(ruled_out)} of them"
        each = " or ".join(dict.fromkeys(ruled_out))
        parts.append(f"The effect planned for, a ratio of {each}, is excluded{where}.")
    return " ".join(parts)


def _variants(
    open_ones: Sequence[Finding], evidence: Evidence, warnings: Sequence[SummaryWarning]
) -> Iterator[str]:
    """What the variants themselves lack, whatever the number of repetitions."""
    codes: set[WarningCode] = {warning.code for warning in warnings}
    if any(not all(one.n) for one in open_ones):
        yield "valid trials in every variant"
    if any(one.n_unknown for one in evidence.test_cases):
        existing = "existing-cluster" in codes
        yield (
            "another workload, because an existing cluster does not show whether reads came from its disks"
            if existing
            else "facts that nobody recorded, added to the map of the import"
        )
    if evidence.bounds:
        yield "a larger `probes` for the searches"
    if "incomparable-builds" in codes:
        yield "hosts and settings that are equal in all builds"
    stand_ins = Counter(one.stand_in for one in open_ones if one.stand_in)
    if groups := stand_ins["process-groups"]:
        yield f"{_for(groups, open_ones)}provider libvirt, because process groups only stand in for VMs"
    elif guests := stand_ins["emulated-guests"]:
        yield f"{_for(guests, open_ones)}hosts with KVM, because the VMs were emulated"
    if evidence.emulated and stand_ins:
        disks = " and a real ".join(sorted(evidence.emulated))
        yield f"{_for(stand_ins.total(), open_ones)}a real {disks} disk"


def _for(some: int, open_ones: Sequence[Finding]) -> str:
    """Which comparisons a need is for, unless it is for all: a store is compared without any VM."""
    return "" if some == len(open_ones) else f"for {some} of them, "


def _repetitions(
    open_ones: Sequence[Finding], found: Sequence[Finding], so_far: _Repetitions
) -> Iterator[str]:
    have = so_far.have
    if have < MIN_BUILDS:
        yield f"{so_far.until(MIN_BUILDS)} for intervals"
        return
    tested = sum(one.p_adjusted is not None for one in found if not is_whole(one))
    # left to chance: tested, of two variants, and able to become a claim
    noisy = [one for one in open_ones if one.p_adjusted is not None and len(one.n) == 2]
    if noisy:
        worst = max(noisy, key=lambda one: one.detectable or 1.0)
        yield _for_smaller_effects(worst, tested, so_far)


def _for_smaller_effects(finding: Finding, comparisons: int, so_far: _Repetitions) -> str:
    """What these repetitions can show, and how many would show half of it."""
    least, have = finding.detectable or 1.0, so_far.have
    shown = f"{have} show a difference of {_percent(least)} or more"
    needed = _for_half(least, min(finding.n), comparisons)
    if needed is None or needed <= have:
        return f"more repetitions: {shown}"
    half = _percent(exp(log(least) / 2))
    return f"{so_far.until(needed)}, which would show a difference of {half}; these {shown}"


def _for_half(detectable: float, units: int, size: int) -> int | None:
    """Units per variant that detect half the effect which `units` detect, at the same noise."""
    of_one = detectable_ratio(units, 1.0, size)  # at a spread of 1: its logarithm is the factor
    if of_one is None or detectable <= 1:  # builds without noise
        return None
    return units_needed(exp(log(detectable) / 2), log(detectable) / log(of_one), size)


def _rounded(seconds: float) -> str:
    """To minutes, or from 100 minutes to hours."""
    unit_s = 60 if seconds < 6000 else 3600
    return duration(unit_s * max(1, round(seconds / unit_s)))


def _percent(ratio: float) -> str:
    return f"{digits(100 * (ratio - 1), 2)} %"
