"""The talk's claims C1 to C9 (Shvachko and Sundar, ApacheCon NA 2013), each with its numeric rule.

The rules are in claims.toml, and were fixed before any data. Each part of a claim is a
separate finding. A claim is confirmed if all of its parts are,
refuted if any part is, and otherwise there is no claim.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from density_study.analysis.findings import claim_questions as ask
from density_study.analysis.findings.decide import MEASURED
from density_study.analysis.findings.question import Evidence, Question
from density_study.analysis.summary.summary import Finding, FindingVerdict

_QUESTIONS: dict[str, Callable[[Evidence], Iterable[Question]]] = {
    "C1": ask.c1,
    "C2": ask.c2,
    "C3": ask.c3,
    "C4": ask.c4,
    "C5": ask.c5,
    "C6": ask.c6,
    "C7": ask.c7,
    "C8": ask.c8,
    "C9": ask.c9,
}

_WHOLE = "claim of the talk"


@dataclass(frozen=True)
class Claim:
    """parts: (name, rule in words, the variants that a study must have to decide it) of each inequality."""

    id: str
    statement: str
    parts: list[tuple[str, str, str]]

    @property
    def rule(self) -> str:
        return "; ".join(words for _, words, _ in self.parts)


_DECLARED = Path(__file__).with_name("claims.toml").read_text(encoding="utf-8")
CLAIMS = tuple(Claim(id_, **declared) for id_, declared in tomllib.loads(_DECLARED).items())


def questions(evidence: Evidence) -> Mapping[str, tuple[Question, ...]]:
    """The parts of each claim that the run has variants for, by claim."""
    return {claim.id: tuple(_QUESTIONS[claim.id](evidence)) for claim in CLAIMS}


def is_whole(finding: Finding) -> bool:
    """Whether this is a claim as a whole, which has parts but no ratio of its own."""
    return finding.measure == _WHOLE


def can_judge(finding: Finding) -> bool:
    """Whether the run has the variants that a claim as a whole compares."""
    return finding.hindrance != "missing"


def conclusion(
    id_: str, asked: Sequence[Question], parts: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The claim, then its decided parts."""
    claim = next(one for one in CLAIMS if one.id == id_)
    seen = {question.part for question in asked}
    missing = [needs for name, _, needs in claim.parts if name not in seen]
    verdict, why = _verdict(missing, parts)
    whole = Finding(
        id=claim.id,
        statement=f"{claim.id}: {claim.statement}",
        subject=claim.id,
        measure=_WHOLE,
        family=claim.id,
        question=next((part.question for part in parts), None),
        rule=claim.rule,
        verdict=verdict,
        why=why,
        hindrance="missing" if missing and verdict == "inconclusive" else "unknown",
    )
    return whole, *parts


def _verdict(missing: Sequence[str], parts: Sequence[Finding]) -> tuple[FindingVerdict, str]:
    """The verdict with its most serious reason: a refuted part, missing variants, an undecided part."""
    for part in parts:
        if part.verdict == "refuted":
            return "refuted", f"{part.statement}: {part.why}"
    if missing:
        return "inconclusive", f"this study lacks the variants: {'; '.join(missing)}"
    if any(part.verdict == "measured" for part in parts):
        return "measured", MEASURED
    undecided = [part for part in parts if part.verdict == "inconclusive"]
    if undecided:
        return "inconclusive", (
            f"{len(undecided)} of {len(parts)} parts are inconclusive, for example: {undecided[0].why}"
        )
    return "confirmed", f"all {len(parts)} parts are confirmed"
