"""The headline: one sentence with the run's main result, computed from its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.findings import Comparison, comparisons, rate
from analysis.summary.summary import Finding, SettingSummary
from workloads.spec.registry import kind_of

_HEADLINES = (
    "ycsb-scan95-insert5",
    "ycsb-read45-insert55",
    "ycsb",
    "genomics-region-scan",
    "genomics",
    "testdfsio-random",
    "testdfsio",
)
"""Prefixes of setting ids, by preference for the headline. Any other setting comes last."""
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
    found = [one for one in comparisons(settings) if one.ratio("rate") is not None]
    if found:
        preferred = min(found, key=lambda one: _place(one.first))
        return _compared(preferred, repetitions, isolation, findings)
    alone = [entry for entry in settings if rate(entry) is not None]
    if not alone:
        return f"No result: none of the {trials} trials is valid."
    entry = min(alone, key=_place)
    return (
        f"No comparison: no setting has valid trials at two densities. {entry.label} ran at "
        f"{rate(entry):.4g} {_unit(entry)} on {entry.topology}."
    )


def _compared(
    one: Comparison, repetitions: int, isolation: str, findings: Sequence[Finding]
) -> str:
    counted = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
    what = f"the {_unit(one.first)}"
    claim = _claimed(one, findings)
    begun, sure = (f"No claim ({counted}): {_with(one, isolation)}", "")
    if claim is not None:
        begun = f"W{_with(one, isolation)[1:]}"
        sure = f" (interval {claim.low:.2f} to {claim.high:.2f}, {counted})"
    sentence = (
        f"{begun} and equal total memory, {_doing(one.first)} ran "
        f"at {one.ratio('rate'):.2f}x {what}{sure}"
    )
    first, later = one.values("cpu")
    if first is None or later is None:
        return sentence + "."
    return f"{sentence}, and the host's CPU was {later:.0f} % busy instead of {first:.0f} %."


def _claimed(one: Comparison, findings: Sequence[Finding]) -> Finding | None:
    """The finding that decided this comparison of rates, if any."""
    wanted = f"density-rate-{one.later.setting}-{one.first.topology}-{one.later.topology}"
    return next((f for f in findings if f.id == wanted and f.verdict != "no claim"), None)


def _with(one: Comparison, isolation: str) -> str:
    noun = "worker" if isolation == "process" else "VM"
    later, first = one.later.vms_per_host, one.first.vms_per_host
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
