"""The headline: the run's main result in words, computed from its numbers.

A decided finding comes first. Without one, the range of the ratios over all test cases and the worst change
of latency are given: no list says which test case matters more than others. Density is compared with the
control variant, where there is one: without it, the cost of more RegionServers would count as that of the
nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from density_study.analysis.findings import Evidence, rate
from density_study.analysis.findings.best_density import held_equal
from density_study.analysis.findings.claims import is_whole
from density_study.analysis.findings.control import DENSITY
from density_study.analysis.findings.factors import levels, others
from density_study.analysis.findings.question import EXPECTED
from density_study.analysis.summarise.contrasts import Contrast, Measured, contrasts
from density_study.analysis.summarise.uncompared import Headline, uncompared, unit_words
from density_study.analysis.summary.numbers import digits, probability
from density_study.analysis.summary.numbers import ratio as times
from density_study.analysis.summary.summary import (
    Finding,
    FindingVerdict,
    TestCaseSummary,
    verdict_words,
)
from density_study.cluster.model.plain import capitalised, counted
from density_study.workloads.study.factors.registry import factors

MAX_CONTRASTS = 3
MEASURED = verdict_words("measured")


def headline(
    evidence: Evidence, trials: int, findings: Sequence[Finding] = (), is_existing: bool = False
) -> Headline:
    """`is_existing`: the cluster was not built by the study; without another cluster, it has the rate of
    every workload."""
    found = _best_density(evidence, findings) or _hypotheses(evidence, findings)
    if found is not None:
        return found
    told = list(contrasts(evidence, findings))
    known = sorted((one for one in told if one.known), key=_place)
    claims = [one for one in findings if is_whole(one) and one.question]
    claim = next((one for one in claims if one.is_decided), None)
    if known and (claim is None or _decided(known[0].control or known[0])):
        asks = any(one.question for one in findings)
        return _compared(evidence, known, _repeated(evidence), asks)
    if claim is not None:
        word = verdict_words(claim.verdict).capitalize()
        rest = _rest("claims", claims, claim)
        return Headline(f"{word}: {claim.statement.rstrip('.')}.{rest}", _any(evidence))
    for one in told:
        for measured in one.measured:
            if measured.question.refused:
                why = _refused(measured.question.refused)
                return Headline(f"No comparison {one.words}: {why}", measured.test_case.test_case)
    return uncompared(evidence, trials, is_existing)


def _repeated(evidence: Evidence) -> str:
    return counted(evidence.repetitions, "repetition")


def _any(evidence: Evidence) -> str | None:
    return next((one.test_case for one in evidence.test_cases if rate(one) is not None), None)


def _best_density(evidence: Evidence, findings: Sequence[Finding]) -> Headline | None:
    for finding in findings:
        if finding.family == "best-density" and finding.verdict == "confirmed":
            p = finding.p_adjusted
            others = "every other density that does not violate it"
            sure = finding.why if p is None else f"{probability(p)} against {others}"
            return Headline(f"{finding.statement}: {sure}.", _fastest(evidence.test_cases, finding))
    return None


def _fastest(test_cases: Sequence[TestCaseSummary], best: Finding) -> str | None:
    """For the test cases that a finding of the best density compares, the one with the highest rate."""
    able = [
        entry
        for entry in test_cases
        if entry.label.split(",")[0] == best.subject and ", ".join(held_equal(entry)) == best.among
    ]
    return max(able, key=lambda entry: rate(entry) or 0.0).test_case if able else None


def _hypotheses(evidence: Evidence, findings: Sequence[Finding]) -> Headline | None:
    """What the study declared that it expects, if any of it is decided: the first, and how many others."""
    asked = [one for one in findings if one.question and (one.family or "").startswith(EXPECTED)]
    decided = [one for one in asked if one.is_decided]
    if not decided:
        return None
    first = decided[0]
    name = first.question
    ends = ""
    if first.low is not None and first.high is not None:
        ends = f", interval {digits(first.low)} to {digits(first.high)}"
    effect = "" if first.effect is None else f" is {times(first.effect)}"
    text = (
        f'Hypothesis "{name}" is '
        f"{verdict_words(first.verdict)}: {first.statement}{effect} "
        f"(required: {first.rule}{ends}, {_repeated(evidence)})"
    )
    of = next((one.test_case for one in evidence.test_cases if one.label == first.subject), None)
    return Headline(f"{text}.{_rest('comparisons of hypotheses', asked, first)}", of)


def _rest(what: str, every: Sequence[Finding], first: Finding) -> str:
    """' Other claims: 5 confirmed, 1 inconclusive.'"""
    counted = Counter(verdict_words(one.verdict) for one in every if one is not first)
    words = [word for word in map(verdict_words, get_args(FindingVerdict)) if counted[word]]
    rest = ", ".join(f"{counted[word]} {word}" for word in words)
    return f" Other {what}: {rest}." if rest else ""


def _place(one: Contrast) -> tuple[bool, bool, bool]:
    """Decided throughput first, then anything decided, then what a question asks for; otherwise the order is
    that of the factors. A density is decided by its control variant, if it has one."""
    main = one.control or one
    known = _decided(main)
    return not any(measured.is_rate for measured in known), not known, not main.is_tested


def _open_word(main: Contrast, repeated: str, asks: bool) -> str:
    """What stands before ratios of which none is decided. `asks`: the study has a question."""
    if main.is_tested:
        return f"Inconclusive ({repeated})"
    return (
        f"Inconclusive ({repeated}); {MEASURED}"
        if asks
        else f"{MEASURED.capitalize()} ({repeated})"
    )


def _compared(evidence: Evidence, known: Sequence[Contrast], repeated: str, asks: bool) -> Headline:
    main, *later = known
    open_word = _open_word(main.control or main, repeated, asks)
    decided = _decided(main)
    if main.control is not None and main.control.known:
        text = _controlled(evidence, main, main.control, repeated, open_word)
        told = _told(main.control, _decided(main.control))
    else:
        told = _told(main, decided)
        text = _joined(_clauses(evidence, main, decided))
        begun = f"{capitalised(text)}; {repeated}"
        text = begun if decided else f"{open_word}: {text}"
    others = [f" {capitalised(one.words)}: {_brief(one)}." for one in later[: MAX_CONTRASTS - 1]]
    more = len(later) - len(others)
    text = f"{text}.{''.join(others)}{f' {more} more under Findings.' if more else ''}"
    return Headline(text, max(told, key=lambda one: one.size).test_case.test_case)


def _controlled(
    evidence: Evidence, main: Contrast, control: Contrast, repeated: str, open_word: str
) -> str:
    """Density over its control variant, and then over the variant with fewer RegionServers."""
    decided = _decided(control)
    fewer = "one RegionServer on " if main.first == evidence.density(0) else ""
    clauses = _joined(_clauses(evidence, control, decided))
    begun = f"{capitalised(clauses)}, {repeated}" if decided else f"{open_word}: {clauses}"
    return f"{begun}; over {fewer}{main.first}: {_brief(main)}"


def _decided(contrast: Contrast) -> list[Measured]:
    return [one for one in contrast.known if one.finding is not None]


def _joined(clauses: Iterable[str]) -> str:
    """The variants and the first ratio as one clause, the others after semicolons."""
    variants, *others = clauses
    return f"{variants}, {'; '.join(others)}" if others else variants


def _memory(evidence: Evidence) -> str:
    return "" if evidence.of_others else "at equal total memory"


def _told(contrast: Contrast, decided: Sequence[Measured]) -> Sequence[Measured]:
    """What the first clause is about: decided throughput, or else what is decided, or what a question tests
    where none tests throughput, or all throughput."""
    tested = [one for one in contrast.known if one.is_tested]
    others = [] if any(one.is_rate for one in tested) else tested
    rates = [one for one in decided if one.is_rate]
    return rates or decided or others or contrast.rates or contrast.known[:1]


def _clauses(evidence: Evidence, contrast: Contrast, decided: Sequence[Measured]) -> Iterator[str]:
    memory = f" {_memory(evidence)}" if contrast.factor == DENSITY else ""
    told = _told(contrast, decided)
    sought = [one for one in told if one.test_case.sought is not None]
    if sought and not decided:
        # what a study searches for is its question
        yield "; ".join(_found(evidence, contrast.factor, one.test_case) for one in sought)
        return
    yield f"{contrast.words}{memory}".rstrip()
    if told:
        yield _range(told)
    if decided and (open_rates := [one for one in contrast.rates if one.finding is None]):
        yield f"the other throughput is inconclusive: {_ratios(open_rates)}"
    worst = contrast.worst_latency()
    if worst is not None and worst not in told:
        yield (
            f"worst latency change {_percentile(worst)} {worst.times} "
            f"({worst.shown}, {worst.question.subject}{_unsure(worst, decided)})"
        )
    recovery = contrast.worst_recovery()
    if recovery is not None and recovery not in told:
        yield _recovery(recovery, decided)
    if len(contrast.rates) == 1 and not sought:
        yield from _cpu(contrast)


def _unsure(one: Measured, decided: Sequence[Measured]) -> str:
    """Beside decided numbers, what another one is."""
    if not decided or one.finding is not None:
        return ""
    return ", inconclusive" if one.is_tested else f", {MEASURED}"


def _recovery(worst: Measured, decided: Sequence[Measured]) -> str:
    if worst.effect is None:
        return f"{'; '.join(worst.question.withheld)} ({worst.question.subject})"
    what = f"{worst.shown}, {worst.question.subject}{_unsure(worst, decided)}"
    return f"{worst.question.measure} {worst.times} ({what})"


def _range(told: Sequence[Measured]) -> str:
    """One ratio with its numbers, or the lowest and the highest."""
    low, high = (find(told, key=lambda one: one.effect or 0.0) for find in (min, max))
    if len(told) == 1:
        what = low.question.subject
        if low.is_rate:
            doing = f"{what} ({low.test_case.sought})" if low.test_case.sought else what
            return f"{doing} ran at {low.times} ({low.shown})"
        return f"{_percentile(low)} of {what} was {low.times} ({low.shown})"
    of = "throughput" if low.is_rate else _percentile(low)
    of_high = "" if low.is_rate else f"{_percentile(high)} "
    if low.times == high.times:
        return f"{of} was {low.times} in all {len(told)} test cases"
    return (
        f"{of} was {low.times} ({low.question.subject}: {low.shown}) to {of_high}{high.times} "
        f"({high.question.subject}: {high.shown})"
    )


def _percentile(one: Measured) -> str:
    """'READ p99', without the kind of latency."""
    return one.question.measure.partition(" ")[2] if one.is_latency else one.question.measure


def _ratios(some: Sequence[Measured]) -> str:
    effects = sorted(one.effect or 0.0 for one in some)
    ends = dict.fromkeys(times(effect) for effect in (effects[0], effects[-1]))
    return " to ".join(ends)


def _brief(contrast: Contrast) -> str:
    """'throughput ×0.32 to ×1.14 (inconclusive)': of what is decided, or else of all."""
    decided = [one for one in contrast.known if one.finding is not None]
    told = _told(contrast, decided)
    what = "throughput" if told[0].is_rate else _percentile(told[0])
    open_ones = len(contrast.rates) - len(told) if decided and told[0].is_rate else 0
    verdict = "decided" if decided else "inconclusive" if contrast.is_tested else MEASURED
    more = f", {open_ones} more inconclusive" if open_ones else ""
    return f"{what} {_ratios(told)} ({verdict}{more})"


def _cpu(contrast: Contrast) -> Iterator[str]:
    """How busy the hosts were, unless they were equally busy."""
    test_case = contrast.rates[0].test_case.test_case
    for one in contrast.known:
        if one.test_case.test_case == test_case and one.question.measure.startswith("used CPU"):
            later, first = (sum(p) / len(p) for p in (one.question.later, one.question.first))
            if round(later) != round(first):
                yield f"the host's CPU was {later:.0f} % busy instead of {first:.0f} %"


def _refused(differences: Sequence[str]) -> str:
    """'the variants differ in store.durability: page_cache and synced, and in 1 more.'"""
    first, *more = differences
    return f"the variants differ in {first}{f', and in {len(more)} more' if more else ''}."


def _found(evidence: Evidence, name: str, one: TestCaseSummary) -> str:
    """'highest rate with READ p99 <= 20 ms in YCSB core workload B, at equal total memory: 11,423 operations
    per second with 1 VM per host, at least 9,315 with 2 VMs per host', for each level of the factor. 'At
    least' where a search has ended early: the answer is a lower bound there."""
    factor = factors()[name]
    kin = (one.test_case, others(one, name))
    alike = [
        entry for entry in evidence.test_cases if (entry.test_case, others(entry, name)) == kin
    ]
    rates = {
        entry.level(name): f"{'at least ' if evidence.about_searches(entry) else ''}{value:,.0f}"
        for entry in alike
        if (value := rate(entry)) is not None
    }
    first, *later = [level for level in levels(evidence.test_cases, name) if level in rates]
    answers = [
        f"{rates[first]} {unit_words(one)} with {factor.words(first, evidence.noun)}",
        *(f"{rates[level]} with {factor.words(level, evidence.noun)}" for level in later),
    ]
    memory = _memory(evidence) if name == DENSITY else ""
    equal = f", {memory}" if memory else ""
    return f"{one.sought} in {one.label.split(',')[0]}{equal}: {', '.join(answers)}"
