"""Ranges outside of which a number of an input is a slip of units: W for kW, percent for a share."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import AfterValidator


@dataclass(frozen=True)
class Range:
    """instead: what a number outside of it may be, for the message."""

    low: float
    high: float
    unit: str
    instead: str

    def slip(self, value: float) -> str:
        """What is wrong with the value; empty if it is plausible."""
        if self.low <= value <= self.high:
            return ""
        return (
            f"{value:g} is not plausible: {self.low:g} to {self.high:g} {self.unit} is expected; is it "
            f"{self.instead}?"
        )

    def check(self, value: float) -> float:
        """ValueError for a slip."""
        if slip := self.slip(value):
            raise ValueError(slip)
        return value


def between(low: float, high: float, unit: str, instead: str) -> AfterValidator:
    """A number from low to high."""
    return AfterValidator(Range(low, high, unit, instead).check)
