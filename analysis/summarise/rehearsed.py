"""What the report of a rehearsal says differently: that it is one, and that it claims nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from density_study.analysis.summary.summary import Finding, SummaryWarning, verdict_words
from density_study.cluster.providers.simulated import SIMULATED, is_rehearsal


def withheld(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """No claim, and in its reason what a run with these numbers would say."""
    return tuple(one if one.verdict == "inconclusive" else _withheld(one) for one in found)


def _withheld(one: Finding) -> Finding:
    would = verdict_words(one.verdict)
    also = one.why if one.verdict == "measured" else f"{would}, {one.why}"
    why = f"{SIMULATED}: a run with these numbers would be {also}"
    return one.model_copy(update={"verdict": "inconclusive", "why": why})


def would_report(headline: str) -> str:
    """The headline of a rehearsal, from that of a run with its numbers."""
    return f"Simulated: a run with these numbers would report: {headline}"


def simulated_warnings(
    provider: str, disclosures: Iterable[Mapping[str, Any]]
) -> tuple[SummaryWarning, ...]:
    """Empty for a run that was measured."""
    if not is_rehearsal(provider):
        return ()
    effects, noise = next(
        ((one.get("effects"), one.get("noise")) for one in disclosures if one.get("noise")),
        (None, None),
    )
    words = ", ".join(f"{100 * spread:g} % of {part}" for part, spread in (noise or {}).items())
    return (
        SummaryWarning(
            code="simulated",
            message="Simulated: the cluster is a queueing model, and nothing on this page was measured. "
            f"Effects: {effects}. Noise: {words}.",
            remedy="Use it to judge the design of the study: how long it takes, and what it would decide. "
            "`study run` measures.",
        ),
    )
