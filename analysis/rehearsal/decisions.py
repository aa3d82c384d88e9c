"""`Decisions`: what rehearsals with different seeds decide, compared with what is true of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import mean, median
from typing import Any

from density_study.analysis.findings.claims import is_whole
from density_study.analysis.rehearsal.course import Course
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.summary.summary import (
    Finding,
    FindingVerdict,
    TestCaseSummary,
    verdict_words,
)
from density_study.workloads.base.quantity import duration

_CLAIMED: tuple[FindingVerdict, ...] = ("confirmed", "refuted")
_NOTHING: FindingVerdict = "inconclusive"
_ANOTHER = "another"
"""A claim of another statement than the true one: that another density is the best."""
LEAST_OF_A_SHARE = 20
"""Fewer rehearsals have only counts: one of them would be 5 % or more."""
Decide = Callable[[tuple[TestCaseSummary, ...]], Course]


@dataclass
class Decision:
    """One comparison that a question of the study asks for. `truth`: its verdict without noise; "no claim"
    where nothing differs, or where no number of repetitions could decide it."""

    statement: str
    question: str
    truth: FindingVerdict
    is_claim: bool
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def right(self) -> float:
        """Share of rehearsals with the true verdict."""
        return self.verdicts[self.truth] / max(self.verdicts.total(), 1)

    def is_wrong(self, verdict: str) -> bool:
        return verdict in (*_CLAIMED, _ANOTHER) and verdict != self.truth

    def verdict(self, one: Finding) -> str:
        """What one rehearsal decided about the question."""
        other = one.verdict in _CLAIMED and one.statement != self.statement
        return _ANOTHER if other else one.verdict


@dataclass(frozen=True)
class Row:
    """A question. `truth`: what is true of the model, in words. `right`: mean share of rehearsals that decide
    so, None where there is nothing to decide. `wrong`: share of rehearsals with a claim that is not true.
    `rightly` and `wrongly`: both as counts, so that nobody takes a share of one for a rate."""

    question: str
    truth: str
    right: float | None
    wrong: float
    rightly: str
    wrongly: str


@dataclass(frozen=True)
class Decisions:
    """`wrong_in`: rehearsals with a claim that is not true, by question. `wrong`: those with any. `seconds`:
    that of each rehearsal, estimated."""

    by_id: Mapping[str, Decision]
    wrong_in: Mapping[str, int]
    wrong: int
    seconds: tuple[float, ...]

    @property
    def times(self) -> int:
        return len(self.seconds)

    @property
    def rows(self) -> tuple[Row, ...]:
        asked: dict[str, list[Decision]] = {}
        for one in self.by_id.values():
            asked.setdefault(one.question, []).append(one)
        return tuple(self._row(question, members) for question, members in asked.items())

    def _row(self, question: str, members: Sequence[Decision]) -> Row:
        """The row of a question; a claim among its decisions stands for the claim's parts."""
        claims = [one for one in members if one.is_claim]
        among = claims or members
        known = [one for one in among if one.truth in _CLAIMED]
        rightly = sum(one.verdicts[one.truth] for one in known)
        words = claims[0].statement if claims else question
        wrong = self.wrong_in.get(question, 0)
        truth = f"{len(known)} of {len(among)} decidable"
        if claims:
            truth = verdict_words(claims[0].truth) if known else "not decidable"
        return Row(
            words,
            truth,
            mean(one.right for one in known) if known else None,
            wrong / self.times,
            _counts(rightly, sum(one.verdicts.total() for one in known)) if known else "none",
            _counts(wrong, self.times),
        )

    @property
    def sentence(self) -> str:
        return (
            f"{_counts(self.wrong, self.times)} with a wrong claim, "
            f"{duration(median(self.seconds))} each (median)"
        )

    def facts(self) -> dict[str, Any]:
        """The decisions as plain values, for other programs."""
        return {
            "times": self.times,
            "wrong": self.wrong,
            "median_s": median(self.seconds),
            "questions": [asdict(row) for row in self.rows],
            "comparisons": {
                id_: {
                    "statement": one.statement,
                    "truth": one.truth,
                    "verdicts": dict(one.verdicts),
                }
                for id_, one in self.by_id.items()
            },
        }


def decisions(drawing: Drawing, decide: Decide, seeds: Sequence[int]) -> Decisions:
    """For a rehearsal with each seed. What no question asks for is left out: it is measured, not tested."""
    true = decide(drawing.truth()).findings
    known = {one.id: _decision(one, one.verdict) for one in true if one.question}
    wrong_in: Counter[str] = Counter()
    wrong, seconds = 0, []
    for seed in seeds:
        questions, course = set(), decide(drawing.test_cases(seed))
        seconds.append(course.seconds)
        for one in course.findings:
            if not one.question:
                continue
            decision = known.setdefault(one.id, _decision(one, _NOTHING))
            verdict = decision.verdict(one)
            decision.verdicts[verdict] += 1
            if decision.is_wrong(verdict):
                questions.add(decision.question)
        wrong_in.update(questions)
        wrong += bool(questions)
    return Decisions(known, wrong_in, wrong, tuple(seconds))


def _counts(count: int, times: int) -> str:
    share = f" ({count / times:.1%})" if times >= LEAST_OF_A_SHARE else ""
    return f"{count:,} of {times:,}{share}"


def _decision(one: Finding, truth: FindingVerdict) -> Decision:
    return Decision(one.statement, one.question or "", truth, is_whole(one))
