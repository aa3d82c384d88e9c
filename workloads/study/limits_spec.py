"""The key `existing.limits`: what a study may do to the work of others on their cluster."""

from __future__ import annotations

from math import inf
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from density_study.cluster.model.existing import Limits
from density_study.workloads.base.quantity import Percent, magnitude, milliseconds, written_in
from density_study.workloads.base.values import Frozen

PACED_OPS_S = 1000.0
"""A cluster that serves others must not be saturated unless somebody asks for it."""


OpsRate = Annotated[
    float | None,
    BeforeValidator(lambda value: None if value in ("off", False) else _ops_s(value)),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"const": False}], "x-unit": "1/s"}),
]


def _ops_s(value: object) -> float:
    found = magnitude(value, "1/s", "1000/s, or off")
    if not 1 <= found < inf:
        raise ValueError(f"{value!r} is not a rate; write, for example, 1000/s, or off")
    return found


class LimitsSpec(Frozen):
    """What the study may do to the work of others on the cluster."""

    rate: OpsRate = Field(
        PACED_OPS_S,
        description="Operations per second of all clients together, loads and warm-up included. `off`: as "
        "fast as the cluster lets them, which others notice.",
    )
    others_p99: Annotated[float, BeforeValidator(milliseconds), written_in("ms")] | None = Field(
        None,
        description="A trial stops when a RegionServer shows a higher 99th percentile for a table of others, "
        "for example `50 ms`.",
    )
    hdfs_free: Percent | None = Field(
        10.0, description="A trial stops when HDFS has less of its capacity left: 10%."
    )

    @property
    def limits(self) -> Limits:
        return Limits(self.rate, self.others_p99, self.hdfs_free)
