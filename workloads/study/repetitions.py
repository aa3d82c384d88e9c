"""`Repetitions`: the key `repetitions`, a number, or bounds between which each question ends once it is
answered, or the study stops once its comparisons are precise enough."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_serializer, model_validator

from density_study.cluster.model.plain import counted
from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.schedule import Share

MAX_REPETITIONS = 1000
LEAST_PRECISE = 5
"""Fewest builds per variant that support a claim (method 2)."""
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_REPETITIONS)]


class Repetitions(Frozen):
    """Repetitions. Each one builds every topology once, in random order. A claim needs at least 5. A number,
    or bounds: then each question of the study ends once it is answered; with `until`, repetitions are added
    until every comparison is decided or precise enough."""

    model_config = ConfigDict(
        json_schema_extra={"type": ["integer", "object"], "minimum": 1, "maximum": MAX_REPETITIONS}
    )

    at_least: Count = Field(LEAST_PRECISE, description="Repetitions before the first look.")
    at_most: Count = Field(30, description="Repetitions at which the study ends in any case.")
    planned: Count | None = Field(
        None,
        description="The last repetition that is planned. Those up to `at_most` are a reserve: they run if "
        "the first `at_least` show so much noise that a question needs them. A `budget` chooses it.",
    )
    until: Share | None = Field(
        None,
        description="How far the interval of every throughput ratio may reach from it: `5%`. Without it, "
        "each question ends once it is answered, and its test cases are no longer run.",
    )

    @model_validator(mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            if not 1 <= value <= MAX_REPETITIONS:
                raise ValueError(f"it must be 1 to {MAX_REPETITIONS:,}, not {value:,}")
            return {"at_least": value, "at_most": value}
        if not isinstance(value, dict | cls):
            raise ValueError(
                f"write a whole number, not {value!r}, or bounds: {{at_least: 5, at_most: 10}}"
            )
        return value

    @model_validator(mode="after")
    def _has_order(self) -> Self:
        if self.is_fixed:
            if self.until is not None:
                raise FaultyKeyError(f"it must be more than at_least, {self.at_least}", "at_most")
            return self
        if self.at_least < LEAST_PRECISE:
            raise FaultyKeyError(
                f"an interval needs {LEAST_PRECISE} repetitions or more", "at_least"
            )
        if self.at_most < self.at_least:
            raise FaultyKeyError(f"it must be more than at_least, {self.at_least}", "at_most")
        if self.planned and (self.until or not self.at_least <= self.planned <= self.at_most):
            raise FaultyKeyError(
                "it must lie between at_least and at_most, without until", "planned"
            )
        return self

    @model_serializer
    def _as_written(self) -> int | dict[str, Any]:
        """The form of a study file, because plans are read by the same rules."""
        if self.is_fixed:
            return self.at_most
        bounds: dict[str, Any] = {"at_least": self.at_least, "at_most": self.at_most}
        if self.planned is not None:
            bounds["planned"] = self.planned
        return bounds if self.until is None else bounds | {"until": f"{100 * self.until:.15g}%"}

    def __str__(self) -> str:
        if self.is_fixed:
            return counted(self.at_most, "repetition")
        until = "its questions are answered" if self.until is None else f"±{100 * self.until:g} %"
        reserve = (
            f", or up to {self.at_most} after a noisy start" if self.last < self.at_most else ""
        )
        return f"{self.at_least} to {self.last} repetitions, until {until}{reserve}"

    @property
    def last(self) -> int:
        """The last repetition that is planned, without the reserve."""
        return self.planned or self.at_most

    @property
    def is_fixed(self) -> bool:
        return self.at_least == self.at_most
