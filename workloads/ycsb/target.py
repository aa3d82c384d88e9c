"""`Target`: the target rate of a latency trial, relative (`70%` of the measured saturation) or absolute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from workloads.base.quantity import magnitude

MAX_OPS_S = 10**9
_EXAMPLE = "70% (of the measured saturation) or 2000/s"


@dataclass(frozen=True)
class Target:
    """Has exactly one of the two: percent of the measured saturation, or operations per second."""

    percent: float | None = None
    ops_s: float | None = None


def target_of(value: object) -> Target:
    """ "70%" or "2000/s". ValueError describes the fault and shows an example."""
    if isinstance(value, Target):
        return value
    if isinstance(value, str) and value.strip().endswith("%"):
        return Target(percent=_percent(value))
    ops_s = magnitude(value, "1/s", _EXAMPLE)
    if not ops_s >= 1:
        raise ValueError(
            f"{value!r} is below one operation per second; write, for example, {_EXAMPLE}"
        )
    if ops_s > MAX_OPS_S:
        raise ValueError(f"{value!r} exceeds the maximum of {MAX_OPS_S:,} operations per second")
    return Target(ops_s=ops_s)


def _percent(value: str) -> float:
    try:
        percent = float(value.strip().removesuffix("%"))
    except ValueError:
        percent = float("nan")
    if not 0 < percent <= 100:
        raise ValueError(
            f"{value!r} is not a percentage above 0 and up to 100; write, for example, {_EXAMPLE}"
        )
    return percent


LatencyTarget = Annotated[Target, BeforeValidator(target_of), WithJsonSchema({"type": "string"})]
