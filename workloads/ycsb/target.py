"""`Target`: the rate a latency trial is held to, symbolic (`70%` of what was measured) or absolute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

from workloads.base.quantity import magnitude

MAX_OPS_S = 10**9
_EXAMPLE = "70% (of the measured saturation) or 2000/s"


@dataclass(frozen=True)
class Target:
    """Exactly one of the two. percent: of the measured saturation. ops_s: operations a second."""

    percent: float | None = None
    ops_s: float | None = None


def target_of(value: object) -> Target:
    """ "70%" or "2000/s". ValueError names what is wrong and shows an example."""
    if isinstance(value, Target):
        return value
    if isinstance(value, str) and value.strip().endswith("%"):
        return Target(percent=_percent(value))
    ops_s = magnitude(value, "1/s", _EXAMPLE)
    if not ops_s >= 1:
        raise ValueError(f"{value!r} is less than one operation a second; write it like {_EXAMPLE}")
    if ops_s > MAX_OPS_S:
        raise ValueError(f"{value!r} is more than {MAX_OPS_S:,} operations a second")
    return Target(ops_s=ops_s)


def _percent(value: str) -> float:
    try:
        percent = float(value.strip().removesuffix("%"))
    except ValueError:
        percent = float("nan")
    if not 0 < percent <= 100:
        raise ValueError(
            f"{value!r} is no percentage above 0 and up to 100; write it like {_EXAMPLE}"
        )
    return percent


LatencyTarget = Annotated[Target, BeforeValidator(target_of), WithJsonSchema({"type": "string"})]
