"""`Contrast`: two variants and all that was measured on both, test case by test case, as the headline tells
it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import geometric_mean

from density_study.analysis.findings import Evidence, effects
from density_study.analysis.findings.control import DENSITY
from density_study.analysis.findings.effects import MEASURES
from density_study.analysis.findings.question import Question
from density_study.analysis.findings.variants import comparable, ratio
from density_study.analysis.summary import numbers
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.metrics import main_rates

ISOLATION = "isolation"
_UNITS = {MEASURES["cpu"]: "%", MEASURES["recovery"]: "s"}


@dataclass(frozen=True)
class Measured:
    """One measure of one test case. `finding`: how it was decided; None if it was not, in the whole
    report. `is_tested`: a question of the study asks for it."""

    question: Question
    test_case: TestCaseSummary
    finding: Finding | None
    is_tested: bool

    @property
    def effect(self) -> float | None:
        if self.question.refused or self.question.withheld:
            return None
        if self.finding is not None:
            return self.finding.effect
        return ratio(self.question.first, self.question.later)

    @property
    def size(self) -> float:
        """How far the effect is from none, up or down."""
        return abs(log(self.effect or 1.0))

    @property
    def is_rate(self) -> bool:
        return self.question.measure == MEASURES["rate"]

    @property
    def is_latency(self) -> bool:
        return self.question.measure not in MEASURES.values()

    @property
    def times(self) -> str:
        return numbers.ratio(self.effect or 1.0)

    @property
    def shown(self) -> str:
        """'1,092 against 3,399 ops/s, interval 0.30 to 0.34': what the ratio is made of."""
        first, later = self.question.first, self.question.later
        words = numbers.against(geometric_mean(first), geometric_mean(later), self.effect or 1.0)
        several = max(len(first), len(later)) > 1
        parts = []
        if words is not None:
            parts.append(f"{'means ' if several else ''}{words} {self._unit}".rstrip())
        found = self.finding
        if found is not None and found.low is not None and found.high is not None:
            parts.append(f"interval {numbers.digits(found.low)} to {numbers.digits(found.high)}")
        return ", ".join(parts)

    @property
    def _unit(self) -> str:
        if not self.is_rate:
            return _UNITS.get(self.question.measure, "ms")
        return next((one.unit for one in self.test_case.metrics if one.name in main_rates()), "")


@dataclass(frozen=True)
class Contrast:
    """`later` and `first` name the variants. `control`: the same density against the variant that has its
    number of RegionServers without its nodes."""

    factor: str
    later: str
    first: str
    measured: tuple[Measured, ...]
    control: Contrast | None = None

    @property
    def words(self) -> str:
        """'with 2 VMs per host instead of 1', 'with hadoop-3.4.2 instead of hadoop-3.4.1'."""
        if self.factor == ISOLATION:
            return f"{self.later} instead of {self.first}"
        number, _, rest = self.first.partition(" ")
        noun = rest.partition(" ")[0].rstrip("s")
        short = number if number.isdigit() and noun and f" {noun}" in self.later else self.first
        return f"with {self.later} instead of {short}"

    @property
    def known(self) -> tuple[Measured, ...]:
        """The measured differences that have a ratio."""
        return tuple(one for one in self.measured if one.effect is not None)

    @property
    def is_tested(self) -> bool:
        return any(one.is_tested for one in self.measured)

    @property
    def rates(self) -> tuple[Measured, ...]:
        return tuple(one for one in self.known if one.is_rate)

    def worst_latency(self) -> Measured | None:
        """The one that rose most; a decided one if there is any."""
        return _worst([one for one in self.known if one.is_latency])

    def worst_recovery(self) -> Measured | None:
        """For the times to recover from a fault, the one that rose most; one with builds that never did, if
        there is any."""
        times = [one for one in self.measured if one.question.measure == MEASURES["recovery"]]
        never = [one for one in times if one.question.withheld and not one.question.refused]
        return never[0] if never else _worst([one for one in times if one.effect is not None])


def _worst(some: Sequence[Measured]) -> Measured | None:
    return max(some, key=lambda one: (one.finding is not None, one.effect or 0.0), default=None)


def contrasts(evidence: Evidence, findings: Sequence[Finding]) -> Iterator[Contrast]:
    """Yield the contrasts in the order of the factors, and within a factor the largest change of throughput
    first."""
    evidence = replace(evidence, test_cases=comparable(evidence.test_cases))
    by_id = {one.id: one for one in findings}
    labelled = {one.label: one for one in reversed(evidence.test_cases)}
    for factor in factors().values():
        asked = tuple(effects.by_factor(evidence, factor))
        found = list(_grouped(factor.name, asked, by_id, labelled))
        if factor.name == DENSITY:
            controls = {
                one.later: one
                for one in _grouped(
                    factor.name, tuple(effects.by_control(evidence)), by_id, labelled
                )
            }
            found = [replace(one, control=controls.get(one.later)) for one in found]
        yield from sorted(found, key=lambda one: -max((m.size for m in one.rates), default=0.0))
    yield from _grouped(ISOLATION, tuple(effects.isolation(evidence)), by_id, labelled)


def _grouped(
    factor: str,
    asked: Sequence[Question],
    by_id: Mapping[str, Finding],
    labelled: Mapping[str, TestCaseSummary],
) -> Iterator[Contrast]:
    by_variants: dict[str, list[Question]] = {}
    for question in asked:
        by_variants.setdefault(question.variants, []).append(question)
    for variants, questions in by_variants.items():
        later, _, first = variants.partition(" over ")
        several = len({one.among for one in questions}) > 1
        measured = tuple(
            Measured(
                replace(one, subject=f"{one.subject}, {one.among}") if several else one,
                labelled[one.subject],
                found if found and found.is_decided else None,
                found is None or found.question is not None,
            )
            for one in questions
            for found in (by_id.get(one.id),)
        )
        yield Contrast(factor, later, first, measured)
