"""The headline: one sentence with the run's main result, computed from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from density_study.analysis.findings import Evidence, rate
from density_study.analysis.findings.arms import Pair, rate_points, ratio, used_cpu
from density_study.analysis.findings.best_density import held_equal
from density_study.analysis.findings.factors import FACTORS, Factor, levels, others, pairs
from density_study.analysis.summary.summary import Finding, SettingSummary
from density_study.workloads.spec.registry import kind_of

# Prefixes of setting ids, by preference for the headline. Any other setting comes last.
_HEADLINES = (
    "ycsb-scan95-insert5",
    "ycsb-read45-insert55",
    "ycsb",
    "genomics-region-scan",
    "genomics",
    "testdfsio-random",
    "testdfsio",
    "pipeline",
    "ycsb-load",  # it prepares the others
)
MAX_RATES = 4
_DOING = {
    "ycsb-scan95-insert5": "short scans",
    "ycsb-read45-insert55": "reads among inserts",
    "ycsb-load": "the data load",
    "genomics-region-scan": "region scans of the variant store",
    "genomics-sample-read": "sample reads of the variant store",
    "genomics-variant-load": "the load of the variant store",
    "testdfsio-random": "random reads",
    "testdfsio-read": "sequential reads",
    "testdfsio-write": "writes",
    "pipeline": "the genomics pipeline",
}


@dataclass(frozen=True)
class Headline:
    """The sentence, and the id of the setting it is about; None if there is no valid number."""

    text: str
    setting: str | None = None


def headline(
    evidence: Evidence, trials: int, findings: Sequence[Finding] = (), is_given: bool = False
) -> Headline:
    """The best density if there is one; otherwise the highest density compared with the lowest, or where
    there is one density, the first other factor with several levels; and whether that is a claim. Arms that
    are not comparable come last, with the reason and without a ratio. Of the one cluster that was given
    (`is_given`), the rate of every workload."""
    for finding in findings:
        if finding.family == "best-density" and finding.verdict == "reproduced":
            p = finding.p_adjusted
            sure = finding.why if p is None else f"p = {p:.1g} against every other density"
            return Headline(f"{finding.statement}: {sure}.", _fastest(evidence.settings, finding))
    refused = None
    for factor in FACTORS:
        found = [pair for pair in pairs(evidence.settings, factor) if _rate_ratio(pair) is not None]
        for pair in sorted(found, key=lambda pair: _place(pair[0])):
            different = evidence.differences(*pair)
            if not different:
                return Headline(_compared(evidence, factor, pair, findings), pair[0].setting)
            words = f"No comparison {_with(evidence, factor, pair)}: {_refused(different)}"
            refused = refused or Headline(words, pair[0].setting)
    if refused:
        return refused
    alone = [entry for entry in evidence.settings if rate(entry) is not None]
    if not alone:
        if not any(entry.n_builds for entry in evidence.settings):
            return Headline(f"No result: none of the {trials} trials is valid.")
        return Headline("No result: no trial has its main rate.")
    entry = min(alone, key=_place)
    if len({one.topology for one in evidence.settings}) == 1 and is_given:
        return Headline(_measured(evidence, alone), entry.setting)
    return Headline(
        f"No comparison: no setting has valid trials on two clusters that differ in one factor. "
        f"{entry.label} ran {_at(evidence, entry)} on {entry.topology}.",
        entry.setting,
    )


def _measured(evidence: Evidence, alone: Sequence[SettingSummary]) -> str:
    """'The given cluster, in 5 repetitions: YCSB data load at 5000 ops/s, TestDFSIO write at 200 MiB/s.' The
    fastest setting of each label, at most MAX_RATES of them, the preferred ones first."""
    best: dict[str, SettingSummary] = {}
    for entry in sorted(alone, key=lambda one: rate(one) or 0.0):
        best[entry.label.partition(",")[0]] = entry
    first = sorted(best.items(), key=lambda item: _place(item[1]))[:MAX_RATES]
    rates = (f"{words} {_at(evidence, entry)}" for words, entry in first)
    builds = max(entry.n_builds for entry in alone)
    repeated = "1 repetition" if builds == 1 else f"{builds} repetitions"
    return f"The given cluster, in {repeated}: {', '.join(rates)}."


def _fastest(settings: Sequence[SettingSummary], best: Finding) -> str | None:
    """Of the settings that a finding of the best density compares, the one with the highest rate."""
    able = [
        entry
        for entry in settings
        if entry.label.split(",")[0] == best.subject and ", ".join(held_equal(entry)) == best.among
    ]
    return max(able, key=lambda entry: rate(entry) or 0.0).setting if able else None


def _compared(evidence: Evidence, factor: Factor, pair: Pair, findings: Sequence[Finding]) -> str:
    repetitions = evidence.repetitions
    counted = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
    what = f"the {_unit(pair[0])}"
    claim = _claimed(factor, pair, findings)
    if claim is None and any(metric.name == "rate_at_slo" for metric in pair[0].metrics):
        return f"No claim ({counted}): {_found(evidence, factor, pair[0])}."
    words = _with(evidence, factor, pair)
    begun, sure = (f"No claim ({counted}): {words}", "")
    if claim is not None:
        begun = f"W{words[1:]}"
        sure = f" (interval {claim.low:.2f} to {claim.high:.2f}, {counted})"
    equal = "" if "cluster" in pair[0].levels else " and equal total memory"
    sentence = f"{begun}{equal}, {_doing(pair[0])} ran at {_rate_ratio(pair):.2f}x {what}{sure}"
    first, later = map(used_cpu, pair)
    if first is None or later is None:
        return sentence + "."
    return f"{sentence}, and the host's CPU was {later:.0f} % busy instead of {first:.0f} %."


def _refused(differences: Sequence[str]) -> str:
    """'the arms differ in store.durability: page_cache and synced, and in 1 more.'"""
    first, *more = differences
    return f"the arms differ in {first}{f', and in {len(more)} more' if more else ''}."


def _found(evidence: Evidence, factor: Factor, one: SettingSummary) -> str:
    """'highest rate with READ p99 <= 20 ms in YCSB core workload B, at equal total memory: 11,423 operations
    per second with 1 VM per host, at least 9,315 with 2 VMs per host', for each level of the factor. 'At
    least' where a search has ended early: the answer is a lower bound there."""
    kin = (one.setting, others(one, factor.name))
    alike = [
        entry for entry in evidence.settings if (entry.setting, others(entry, factor.name)) == kin
    ]
    rates = {
        entry.level(factor.name): f"{'at least ' if _is_bound(evidence, entry) else ''}{value:,.0f}"
        for entry in alike
        if (value := rate(entry)) is not None
    }
    first, *later = [level for level in levels(evidence.settings, factor.name) if level in rates]
    answers = [
        f"{rates[first]} {_unit(one)} with {factor.words(evidence, first)}",
        *(f"{rates[level]} with {factor.words(evidence, level)}" for level in later),
    ]
    equal = "" if factor.name == "cluster" else ", at equal total memory"
    return f"{one.sought} in {one.label.split(',')[0]}{equal}: {', '.join(answers)}"


def _at(evidence: Evidence, entry: SettingSummary) -> str:
    """'at 5000 ops/s', or of a lower bound 'at 5000 or more ops/s'."""
    more = " or more" if _is_bound(evidence, entry) else ""
    return f"at {rate(entry):.4g}{more} {_unit(entry)}"


def _is_bound(evidence: Evidence, entry: SettingSummary) -> bool:
    return bool(evidence.about_searches(entry))


def _rate_ratio(pair: Pair) -> float | None:
    return ratio(*map(rate_points, pair))


def _claimed(factor: Factor, pair: Pair, findings: Sequence[Finding]) -> Finding | None:
    """The finding that decided this comparison of rates, if any."""
    first, later = pair
    wanted = f"{factor.effect}-rate-{later.setting}-{first.topology}-{later.topology}"
    return next((f for f in findings if f.id == wanted and f.verdict != "no claim"), None)


def _with(evidence: Evidence, factor: Factor, pair: Pair) -> str:
    """'with 2 VMs per host instead of 1', 'with hadoop-3.4.2 instead of hadoop-3.4.1'."""
    first, later = (factor.words(evidence, entry.level(factor.name)) for entry in pair)
    number = first.partition(" ")[0]
    return f"with {later} instead of {number if number.isdigit() else first}"


def _doing(entry: SettingSummary) -> str:
    known = (words for start, words in _DOING.items() if entry.setting.startswith(start))
    doing = next(known, entry.label.split(",")[0])
    return f"{doing} ({entry.sought})" if entry.sought else doing


def _place(entry: SettingSummary) -> tuple[bool, bool, int]:
    """The answer of a search first: the study was made for it. That of a fault or of a changing rate last."""
    known = [start for start in _HEADLINES if entry.setting.startswith(start)]
    special = entry.fault is not None or entry.phase is not None
    place = _HEADLINES.index(max(known, key=len)) if known else len(_HEADLINES)
    return entry.sought is None, special, place


def _unit(entry: SettingSummary) -> str:
    return kind_of(entry.workload).rate_words
