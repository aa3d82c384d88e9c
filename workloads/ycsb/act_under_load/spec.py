"""`ActSpec`: an element of the key `act` of `ycsb`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field, WithJsonSchema

from density_study.cluster.stores.store import act_names
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.knobs import LatencyTarget, Target
from density_study.workloads.ycsb.mixes import CoreMix


def _known(name: str) -> str:
    if name not in act_names():
        raise ValueError(f"write one of {', '.join(act_names())}")
    return name


ActName = Annotated[
    str, AfterValidator(_known), WithJsonSchema({"type": "string", "enum": list(act_names())})
]


class ActSpec(Frozen):
    """A trial on each build during which an operator's act begins under load, at a fixed rate: how long until
    the rate is back, how many operations failed, and the longest latency. A store leaves out what it does not
    have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    do: ActName = Field(
        description=f"what begins, where the store has it: {', '.join(act_names())}. A balanced table begins "
        "on one server; a split is of each region; the last worker's DataNode is decommissioned"
    )
    at: Seconds = Field(description="when it begins, after the ramp-up: 60 s")
    rate: LatencyTarget = Field(
        Target(percent=50.0), description="rate: 50% of the measured saturation, or 500/s"
    )
    mix: CoreMix | None = Field(
        None, description="mix to run; default: the first of `mixes` besides the load"
    )
    duration: Seconds | None = Field(
        None, description="length of the run, ramp-up included. Default: the workload's `duration`"
    )

    @property
    def fault(self) -> Fault:
        return Fault(act=self.do, at_s=self.at)
