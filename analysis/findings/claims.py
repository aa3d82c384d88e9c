"""The talk's claims C1 to C8 (Shvachko and Sundar, ApacheCon NA 2013), each with its numeric rule.

The rules are in analysis/findings/claim_rules.py and, as a table, in docs/claims.md; both were fixed
before any data. Each part of a claim is a separate finding, adjusted by Holm within the claim. A claim is
reproduced if all of its parts are, contradicted if any part is, and otherwise there is no claim.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.findings.claim_rules import CLAIMS, Claim
from analysis.findings.decide import decide
from analysis.findings.question import Evidence, Question
from analysis.summary.summary import Finding, FindingVerdict


def findings(evidence: Evidence) -> tuple[Finding, ...]:
    """For each claim in order: the claim, then its parts."""
    return tuple(finding for claim in CLAIMS for finding in _claim(claim, evidence))


def _claim(claim: Claim, evidence: Evidence) -> tuple[Finding, ...]:
    questions = tuple(claim.questions(evidence))
    parts = decide(questions, evidence.repetitions)
    verdict, why = _verdict(claim, questions, parts)
    whole = Finding(
        id=claim.id,
        statement=f"{claim.id}: {claim.statement}",
        subject=claim.id,
        measure="claim of the talk",
        family=claim.id,
        rule="; ".join(part.rule_words for part in claim.parts),
        verdict=verdict,
        why=why,
    )
    return whole, *parts


def _verdict(
    claim: Claim, questions: Sequence[Question], parts: Sequence[Finding]
) -> tuple[FindingVerdict, str]:
    """The verdict with its most serious reason: a contradicted part, missing arms, an undecided part."""
    for part in parts:
        if part.verdict == "contradicted":
            return "contradicted", f"{part.statement}: {part.why}"
    seen = {question.part for question in questions}
    missing = [part.needs for part in claim.parts if part.name not in seen]
    if missing:
        return "no claim", f"this study lacks the arms: {'; '.join(missing)}"
    undecided = [part for part in parts if part.verdict == "no claim"]
    if undecided:
        return "no claim", (
            f"{len(undecided)} of {len(parts)} parts are undecided, for example: {undecided[0].why}"
        )
    return "reproduced", f"all {len(parts)} parts are reproduced"
