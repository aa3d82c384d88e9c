"""Which comparisons of a report are tested: those of the study's questions, fixed before the data.

A question is a kind of comparison by name: a claim of the talk (C5), a hypothesis of `expect`, the best
density, or a factor and a measure (stack-rate). All of them share one error budget; whatever else the run
can compare is measured, not tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from density_study.analysis.findings import claims, effects
from density_study.analysis.findings.best_density import FAMILY as BEST_DENSITY
from density_study.analysis.findings.best_density import Candidate, candidates
from density_study.analysis.findings.question import EXPECTED, Evidence, Question
from density_study.analysis.findings.variants import comparable, placed
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.hypotheses import Hypotheses

_RATE = "-rate"
_BY_NAME = frozenset(
    f"{factor.family}{_RATE}" for factor in factors().values() if factor.has_baseline
)


@dataclass(frozen=True)
class Comparisons:
    """Every comparison of a run: `standard` ones and hypotheses, the pairs of `best` densities, the parts of
    each claim. `every` has them in this order, marked. names: those of the study's questions."""

    standard: tuple[Question, ...]
    best: tuple[Candidate, ...]
    claimed: Mapping[str, tuple[Question, ...]]
    every: tuple[Question, ...]
    names: tuple[str, ...]

    @property
    def main(self) -> tuple[Question, ...]:
        return tuple(question for question in self.every if question.main)


def asked(evidence: Evidence, hypotheses: Hypotheses) -> Comparisons:
    """Test cases of unknown density or disk type are compared only where a study compares clusters by
    name."""
    compared = replace(evidence, test_cases=comparable(evidence.test_cases))
    standard = (*effects.questions(compared), *effects.expected(compared, hypotheses.expect))
    known = replace(evidence, test_cases=placed(evidence.test_cases))
    best = tuple(candidates(known, hypotheses.slo))
    claimed = claims.questions(known)
    every = tuple(chain(standard, *(one.pairs for one in best), *claimed.values()))
    # a question even if the data leave no second density to compare: it must not depend on them
    main = names(every, hypotheses.questions, (BEST_DENSITY,) if best else ())
    marked = tuple(
        evidence.in_blocks(replace(question, main=question.name in main)) for question in every
    )
    best = tuple(replace(one, main=BEST_DENSITY in main) for one in best)
    return Comparisons(standard, best, claimed, marked, main)


def names(
    asked: Iterable[Question], declared: Sequence[str] | None, more: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of the study's questions. Where it declares none: its hypotheses, or the throughput of the
    variants that it names; the best density if it has an SLO; and the talk's claims of which it has all
    variants. If there are none of these: the throughput of its other factors. more: kinds without a
    comparison yet."""
    if declared is not None:
        return tuple(declared)
    kinds: dict[str, list[Question]] = {kind: [] for kind in more}
    for question in asked:
        kinds.setdefault(question.family, []).append(question)
    expects = any(kind.startswith(EXPECTED) for kind in kinds)
    own = [
        kind
        for kind in kinds
        if kind.startswith(EXPECTED)
        or kind == BEST_DENSITY
        or (kind in _BY_NAME and not expects)
        or _is_whole(kind, kinds)
    ]
    rates = [kind for kind in kinds if kind.endswith(_RATE)]
    return tuple(kind.removeprefix(EXPECTED) for kind in own or rates)


def _is_whole(kind: str, kinds: Mapping[str, Sequence[Question]]) -> bool:
    """Whether it is a claim of which every part can be decided."""
    claim = next((one for one in claims.CLAIMS if one.id == kind), None)
    free = {question.part for question in kinds[kind] if not question.obstacles}
    return claim is not None and {name for name, *_ in claim.parts} <= free
