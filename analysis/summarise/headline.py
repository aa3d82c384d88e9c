"""The headline: one sentence with the run's main result, computed from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.findings import comparisons, rate
from analysis.findings.arms import Pair, rate_points, ratio, used_cpu
from analysis.summary.summary import Finding, SettingSummary
from workloads.spec.registry import kind_of

# Prefixes of setting ids, by preference for the headline. Any other setting comes last.
_HEADLINES = (
    "ycsb-scan95-insert5",
    "ycsb-read45-insert55",
    "ycsb",
    "genomics-region-scan",
    "genomics",
    "testdfsio-random",
    "testdfsio",
)
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
}


def headline(
    settings: Sequence[SettingSummary],
    repetitions: int,
    isolation: str,
    trials: int,
    findings: Sequence[Finding] = (),
) -> str:
    """The best density if there is one; otherwise the highest density compared with the lowest,
    and whether that difference is a claim."""
    for finding in findings:
        if finding.family == "best-density" and finding.verdict == "reproduced":
            return f"{finding.statement} ({finding.why})."
    found = [pair for pair in comparisons(settings) if _rate_ratio(pair) is not None]
    if found:
        preferred = min(found, key=lambda pair: _place(pair[0]))
        return _compared(preferred, repetitions, isolation, findings)
    alone = [entry for entry in settings if rate(entry) is not None]
    if not alone:
        if not any(entry.n_builds for entry in settings):
            return f"No result: none of the {trials} trials is valid."
        return "No result: no trial has its main rate."
    entry = min(alone, key=_place)
    return (
        f"No comparison: no setting has valid trials at two densities. {entry.label} ran at "
        f"{rate(entry):.4g} {_unit(entry)} on {entry.topology}."
    )


def _compared(pair: Pair, repetitions: int, isolation: str, findings: Sequence[Finding]) -> str:
    counted = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
    what = f"the {_unit(pair[0])}"
    claim = _claimed(pair, findings)
    begun, sure = (f"No claim ({counted}): {_with(pair, isolation)}", "")
    if claim is not None:
        begun = f"W{_with(pair, isolation)[1:]}"
        sure = f" (interval {claim.low:.2f} to {claim.high:.2f}, {counted})"
    sentence = (
        f"{begun} and equal total memory, {_doing(pair[0])} ran "
        f"at {_rate_ratio(pair):.2f}x {what}{sure}"
    )
    first, later = map(used_cpu, pair)
    if first is None or later is None:
        return sentence + "."
    return f"{sentence}, and the host's CPU was {later:.0f} % busy instead of {first:.0f} %."


def _rate_ratio(pair: Pair) -> float | None:
    return ratio(*map(rate_points, pair))


def _claimed(pair: Pair, findings: Sequence[Finding]) -> Finding | None:
    """The finding that decided this comparison of rates, if any."""
    first, later = pair
    wanted = f"density-rate-{later.setting}-{first.topology}-{later.topology}"
    return next((f for f in findings if f.id == wanted and f.verdict != "no claim"), None)


def _with(pair: Pair, isolation: str) -> str:
    noun = "worker" if isolation == "process" else "VM"
    first, later = (entry.vms_per_host for entry in pair)
    if first == 0:
        return f"with {later} {noun}{'s' if later > 1 else ''} per host instead of the bare host"
    return f"with {later} {noun}s per host instead of {first}"


def _doing(entry: SettingSummary) -> str:
    known = (words for start, words in _DOING.items() if entry.setting.startswith(start))
    return next(known, entry.label)


def _place(entry: SettingSummary) -> int:
    known = (i for i, start in enumerate(_HEADLINES) if entry.setting.startswith(start))
    return next(known, len(_HEADLINES))


def _unit(entry: SettingSummary) -> str:
    return kind_of(entry.workload).rate_words
