"""`RunComparison`: a run held against earlier ones, as comparison.json holds it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from analysis.summary.summary import Finding

FORMAT: Literal[1] = 1
Outcome = Literal["regression", "slower", "faster", "within tolerance", "no claim"]


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(_Frozen):
    """One number of one setting on one topology, later run over earlier ones.

    regression: slower, and by more than the tolerance. slower, faster: a change shown, whose size the
    tolerance allows. within tolerance: the whole interval is. no claim: none of these is shown.
    """

    outcome: Outcome
    finding: Finding


class ChangePoint(_Frozen):
    """From this run on a rate has another level. `ratio`: level after over level before."""

    subject: str
    run: str
    ratio: float
    p: float = Field(description="by permutation, Bonferroni over the series looked at")


class RunComparison(_Frozen):
    format: Literal[1] = FORMAT
    study: str
    baseline: tuple[str, ...] = Field(description="ids of the earlier runs, oldest first")
    run: str
    tolerance: float
    changes: tuple[Change, ...]
    not_compared: tuple[str, ...] = Field(
        description="settings that not every run has, or not alike, and what differs"
    )
    candidate_causes: tuple[str, ...] = Field(description="what else differs, by disclosure")
    change_points: tuple[ChangePoint, ...] = ()

    @property
    def regressions(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.outcome == "regression")

    @property
    def answer(self) -> str:
        """Did the cluster get slower? One sentence."""
        if self.regressions:
            return (
                f"Slower: {len(self.regressions)} of {len(self.changes)} numbers changed for the "
                f"worse by more than {self.tolerance:.3g}."
            )
        if self.changes and all(c.outcome in ("within tolerance", "faster") for c in self.changes):
            return f"Not slower: every number stayed within {self.tolerance:.3g}, or got better."
        return f"Not decided: no change for the worse beyond {self.tolerance:.3g} is shown, nor excluded."
