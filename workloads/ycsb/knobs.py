"""The study keys `latency_at`, `warm_up_daemons` and `warm_up_client`, and estimates of the warm-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, WithJsonSchema

from density_study.cluster.model.topology import Jit
from density_study.workloads.base.quantity import magnitude, percent, seconds

# Measured: a server's compilers need a minute of a core until they rest; six on two cores took three minutes.
REST_ESTIMATE_S = 60.0
# only C1, one and two servers on two cores: 15 to 21 s.
STEADY_ESTIMATE_S: Mapping[Jit, float] = {"full": 90.0, "c1": 20.0}
# Measured: a client that shared two cores with its cluster kept up with its schedule after this time.
WARM_UP_CLIENT_S = 20.0
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
        return Target(percent=percent(value, _EXAMPLE))
    ops_s = magnitude(value, "1/s", _EXAMPLE)
    if not ops_s >= 1:
        raise ValueError(
            f"{value!r} is below one operation per second; write, for example, {_EXAMPLE}"
        )
    if ops_s > MAX_OPS_S:
        raise ValueError(f"{value!r} exceeds the maximum of {MAX_OPS_S:,} operations per second")
    return Target(ops_s=ops_s)


LatencyTarget = Annotated[Target, BeforeValidator(target_of), WithJsonSchema({"type": "string"})]


def _warm_up(value: object) -> float | Literal["steady"]:
    if value == "steady":
        return "steady"
    return 0.0 if value in ("off", False) else seconds(value)  # YAML reads a bare off as false


_TEXT_OR_OFF = WithJsonSchema({"anyOf": [{"type": "string"}, {"const": False}], "x-unit": "s"})

# Of `warm_up_daemons`: seconds, 0 for `off`, or until the daemons are steady.
WarmUp = Annotated[float | Literal["steady"], BeforeValidator(_warm_up), _TEXT_OR_OFF]


def _whole_or_off(value: object) -> float:
    """YCSB's client takes whole seconds."""
    found_s = 0.0 if value in ("off", False) else seconds(value)
    if found_s != round(found_s):
        raise ValueError(
            f"{value!r} is not a whole number of seconds; write, for example, 20 s, or off"
        )
    return found_s


# Of `warm_up_client`: whole seconds; `off` is 0.
WarmUpClient = Annotated[float, BeforeValidator(_whole_or_off), _TEXT_OR_OFF]


def warm_up_knobs(warm_up: float | Literal["steady"]) -> dict[str, Any]:
    """A study's `warm_up_daemons` as knobs of a test case."""
    if warm_up == "steady":
        return {"until_steady": True}
    return {"warm_up_daemons_s": warm_up}
