"""Ranges outside of which a number of a catalogue is a slip of units: W for kW, percent for a share."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import AfterValidator


def between(low: float, high: float, unit: str, slip: str) -> AfterValidator:
    """A number from low to high. slip: what the number may be instead, for the message."""
    return AfterValidator(_checked(low, high, unit, slip))


def _checked(low: float, high: float, unit: str, slip: str) -> Callable[[float], float]:
    def check(value: float) -> float:
        if not low <= value <= high:
            raise ValueError(
                f"{value:g} is not plausible: {low:g} to {high:g} {unit} is expected; is it {slip}?"
            )
        return value

    return check
