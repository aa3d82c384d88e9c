"""`Decisions`: what rehearsals with different seeds decide, compared with what is true of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.summary.summary import Finding, SettingSummary
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.hypotheses import Hypotheses

OPEN = "no claim"
Decide = Callable[[tuple[SettingSummary, ...]], Sequence[Finding]]


@dataclass
class Decision:
    """One comparison. `truth`: its verdict without noise; "no claim" where nothing differs, or where no
    number of repetitions could decide it. `family`: the comparisons that it shares its correction with."""

    statement: str
    family: str | None
    truth: str
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def right(self) -> float:
        """Share of rehearsals with the true verdict. Where nothing is to be claimed: that claim nothing."""
        return self.verdicts[self.truth] / self.verdicts.total()

    @property
    def wrong(self) -> float:
        """Share of rehearsals with a claim that is not true."""
        claims = sum(n for verdict, n in self.verdicts.items() if verdict not in (OPEN, self.truth))
        return claims / self.verdicts.total()


@dataclass(frozen=True)
class Decisions:
    """`false_reports`: rehearsals with at least one claim that is not true."""

    times: int
    by_id: Mapping[str, Decision]
    false_reports: int

    @property
    def decidable(self) -> tuple[Decision, ...]:
        return tuple(one for one in self.by_id.values() if one.truth != OPEN)


def decisions(drawing: Drawing, decide: Decide, seeds: Sequence[int]) -> Decisions:
    """Of a rehearsal with each seed."""
    found = {
        one.id: Decision(one.statement, one.family, one.verdict) for one in decide(drawing.truth())
    }
    false_reports = 0
    for seed in seeds:
        wrong = False
        for one in decide(drawing.settings(seed)):
            known = found.setdefault(one.id, Decision(one.statement, one.family, OPEN))
            known.verdicts[one.verdict] += 1
            wrong |= one.verdict not in (OPEN, known.truth)
        false_reports += wrong
    return Decisions(len(seeds), found, false_reports)


def decider(plan: Plan, asked: Hypotheses) -> Decide:
    """What the analysis of a run of this plan decides from its settings."""
    isolation = next(iter(plan.topologies.values())).isolation
    for topology in plan.topologies.values():
        isolation = topology.isolation if topology.isolation != "host" else isolation

    def decide(settings: tuple[SettingSummary, ...]) -> Sequence[Finding]:
        evidence = Evidence(settings, plan.repetitions, isolation)
        return findings(evidence, asked)

    return decide
