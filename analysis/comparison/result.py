"""`RunComparison`: a run compared with earlier ones, as comparison.json holds it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from analysis.summary.summary import Finding
from workloads.base.values import Frozen

FORMAT: Literal[1] = 1
Outcome = Literal["regression", "slower", "faster", "within tolerance", "no claim"]


class Change(Frozen):
    """One number of one setting on one topology, later run over earlier ones.

    regression: significantly slower, by more than the tolerance. slower: significantly, but within the
    tolerance. faster: significantly. within tolerance: the whole interval is. no claim: none of these.
    """

    outcome: Outcome
    finding: Finding


class ChangePoint(Frozen):
    """The first run at a new level of a rate. `ratio`: level after over level before."""

    subject: str
    run: str
    ratio: float
    p: float = Field(description="by permutation, Bonferroni over all series")


class RunComparison(Frozen):
    format: Literal[1] = FORMAT
    study: str
    baseline: tuple[str, ...] = Field(description="ids of the earlier runs, oldest first")
    run: str
    tolerance: float
    changes: tuple[Change, ...]
    not_compared: tuple[str, ...] = Field(
        description="settings that are missing or different in some run, and what differs"
    )
    candidate_causes: tuple[str, ...] = Field(
        description="other differences between the runs' disclosures"
    )
    change_points: tuple[ChangePoint, ...] = ()

    @property
    def regressions(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.outcome == "regression")

    @property
    def headline(self) -> str:
        """Did the cluster get slower? One sentence."""
        if self.regressions:
            return (
                f"Slower: {len(self.regressions)} of {len(self.changes)} numbers are worse by more than "
                f"{self.tolerance:.1%}."
            )
        if self.changes and all(c.outcome in ("within tolerance", "faster") for c in self.changes):
            return f"Not slower: every number is within {self.tolerance:.1%} or better."
        return f"Undecided: worse by more than {self.tolerance:.1%} is neither shown nor excluded."
