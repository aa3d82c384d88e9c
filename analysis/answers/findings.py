"""`answers`: the findings of a run, without the numbers that answer nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pydantic import Field

from density_study.analysis.findings.claims import is_whole
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Finding, verdict_words
from density_study.workloads.base.values import Frozen

DECIDED = ("confirmed", "refuted")


class Answer(Frozen):
    """A comparison of two variants. `ratio` is the later variant over the first."""

    statement: str
    subject: str | None = Field(None, description="the test case: 'YCSB data load'")
    measure: str | None = Field(None, description="what was compared: 'throughput'")
    between: str | None = Field(
        None, description="the variants: '2 VMs per host over the bare host'"
    )
    among: str | None = Field(None, description="what both have in common: 'flash'")
    question: str | None = Field(None, description="the study's question that it is part of")
    verdict: str = Field(description="confirmed; refuted; inconclusive; measured, not tested")
    why: str
    ratio: float | None = Field(None, description="null unless the verdict is confirmed or refuted")
    low: float | None = Field(
        None, description="lower end of the 95 % interval; null: no interval, or not comparable"
    )
    high: float | None = None
    n: tuple[int, ...] = Field((), description="units of each variant")
    unit: str = Field("build", description="what n counts")


def answers(findings: Iterable[Finding], about: str = "") -> Iterator[Answer]:
    """Yield the findings as answers. `about`: only findings that contain all of these words, in any field and
    case."""
    words = about.casefold().split()
    for finding in findings:
        answer = _answer(finding)
        text = answer.model_dump_json().casefold()
        if all(word in text for word in words):
            yield answer


def main_answer(findings: Sequence[Finding]) -> str:
    """The first decided comparison and its interval, and how many of the study's questions are decided. The
    report's headline also has ratios of undecided ones."""
    asked = [one for one in findings if one.question and not is_whole(one)]
    if not asked:
        return "Nothing is tested." if findings else "Nothing is compared."
    first = next((one for one in answers(findings) if one.verdict in DECIDED), None)
    if first is None:
        return f"None of {len(asked)} comparisons is decided."
    ends = ""
    if first.ratio is not None and first.low is not None and first.high is not None:
        ends = f", {digits(first.ratio)}, interval {digits(first.low)} to {digits(first.high)}"
    counted = f"decided are {sum(one.is_decided for one in asked)} of {len(asked)} comparisons"
    return f"{first.verdict.capitalize()}: {first.statement.rstrip('.')}{ends}; {counted}."


def _answer(finding: Finding) -> Answer:
    tested = finding.is_decided or finding.p_adjusted is not None
    comparable = tested or finding.hindrance == "none"
    whole = finding.low is not None and finding.high is not None
    return Answer(
        statement=finding.statement,
        subject=finding.subject,
        measure=finding.measure,
        between=finding.variants,
        among=finding.among,
        question=finding.question,
        verdict=verdict_words(finding.verdict),
        why=finding.why,
        ratio=finding.effect if finding.is_decided and whole else None,
        low=finding.low if comparable and whole else None,
        high=finding.high if comparable and whole else None,
        n=finding.n,
        unit=finding.unit,
    )
