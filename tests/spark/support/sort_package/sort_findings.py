"""The package's finding: a module of its own, since `density_study.analysis` imports the workloads."""

from __future__ import annotations

from collections.abc import Iterator

from density_study.analysis.findings.question import Evidence, FindingKind, Question, Rule
from density_study.analysis.findings.variants import points_of


def questions(evidence: Evidence) -> Iterator[Question]:
    """The densest variant over the first one, by a rule of its own."""
    first, later = (evidence.test_cases[at].metrics[0] for at in (0, -1))
    yield Question(
        id="sort-floor",
        family="sort-floor",
        subject="Sort",
        measure="sorted rows",
        variants="densest over least dense",
        rule=Rule(low=1.5),
        first=points_of(first),
        later=points_of(later),
    )


FLOOR = FindingKind(questions)
