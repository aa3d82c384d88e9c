"""`Repetitions`: the key `repetitions`, a number, or bounds between which the study stops once its
comparisons are precise enough."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_serializer, model_validator

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.values import Frozen
from density_study.workloads.study.schedule import Share

MAX_REPETITIONS = 1000
LEAST_PRECISE = 5
"""Fewest builds per variant that support a claim (method 2)."""
Count = Annotated[int, Field(strict=True, ge=1, le=MAX_REPETITIONS)]


class Repetitions(Frozen):
    """Repetitions. Each one builds every topology once, in random order. A claim needs at least 5. A number,
    or bounds: then repetitions are added until every comparison is decided or precise enough."""

    model_config = ConfigDict(
        json_schema_extra={"type": ["integer", "object"], "minimum": 1, "maximum": MAX_REPETITIONS}
    )

    at_least: Count = Field(LEAST_PRECISE, description="Repetitions before the first look.")
    at_most: Count = Field(30, description="Repetitions at which the study ends in any case.")
    until: Share | None = Field(
        None,
        description="How far the interval of every throughput ratio may reach from it: `5%`. Required with "
        "bounds.",
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
                f"write a whole number, not {value!r}, or bounds: {{at_least: 5, at_most: 30, until: 5%}}"
            )
        return value

    @model_validator(mode="after")
    def _has_order(self) -> Self:
        if self.until is None:
            if self.at_least != self.at_most:
                raise FaultyKeyError("bounds need `until`, for example until: 5%", "until")
            return self
        if self.at_least < LEAST_PRECISE:
            raise FaultyKeyError(
                f"an interval needs {LEAST_PRECISE} repetitions or more", "at_least"
            )
        if self.at_most <= self.at_least:
            raise FaultyKeyError(f"it must be more than at_least, {self.at_least}", "at_most")
        return self

    @model_serializer
    def _as_written(self) -> int | dict[str, Any]:
        """As in a study file, because plans are read by the same rules."""
        if self.until is None:
            return self.at_most
        until = f"{100 * self.until:.15g}%"
        return {"at_least": self.at_least, "at_most": self.at_most, "until": until}

    def __str__(self) -> str:
        if self.until is None:
            return f"{self.at_most} repetition{'s' if self.at_most > 1 else ''}"
        return f"{self.at_least} to {self.at_most} repetitions, until ±{100 * self.until:g} %"

    @property
    def is_fixed(self) -> bool:
        return self.until is None
