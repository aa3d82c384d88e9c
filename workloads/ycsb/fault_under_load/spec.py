"""`FaultSpec`: the key `fault` of `ycsb`."""

from __future__ import annotations

from typing import Self

from pydantic import ConfigDict, Field, model_validator

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.fault import DiskLimits, Fault, Killed, Place
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.knobs import LatencyTarget, Target
from density_study.workloads.ycsb.mixes import CoreMix

RECOVERY_S = 10.0
"""Least time that a trial leaves to recover in."""


class FaultSpec(Frozen):
    """A trial on each build during which something is done to the cluster under load, at a fixed rate: how
    long until the rate is back, how many operations failed, and whether every acknowledged row is still
    there. It is the last trial of its build. It has one of kill, cut and slow_disk."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    kill: Killed | None = Field(
        None,
        description="kill -9 of a daemon of the last worker node, or of the only HMaster; node or host: "
        "all daemons of the last worker node, or of all nodes of the last host of workers, at once",
    )
    cut: Place | None = Field(
        None,
        description="the last host of workers (node means the same there) is cut off from all other hosts; "
        "provider physical",
    )
    slow_disk: DiskLimits | None = Field(
        None, description="the disk of the last worker node is slowed down; provider local, as root"
    )
    at: Seconds = Field(description="when, after the ramp-up: 60 s")
    for_: Seconds | None = Field(
        None, alias="for", description="how long a cut, or a slow disk, lasts: 30 s"
    )
    rate: LatencyTarget = Field(
        Target(percent=50.0), description="rate: 50% of the measured saturation, or 500/s"
    )
    mix: CoreMix | None = Field(
        None, description="mix to run; default: the first of `mixes` besides the load"
    )
    duration: Seconds | None = Field(
        None, description="length of the run, ramp-up included. Default: the workload's `duration`"
    )

    @model_validator(mode="after")
    def _is_one_fault(self) -> Self:
        if sum(one is not None for one in (self.kill, self.cut, self.slow_disk)) != 1:
            raise FaultyKeyError("a fault has one of kill, cut and slow_disk", "kill")
        if (self.kill is None) != (self.for_ is not None):
            raise FaultyKeyError(
                "what is killed stays away: leave `for` out"
                if self.kill
                else "write how long it lasts, like for: 30 s",
                "for",
            )
        return self

    @property
    def fault(self) -> Fault:
        return Fault(
            kill=self.kill, cut=self.cut, slow_disk=self.slow_disk, at_s=self.at, for_s=self.for_
        )

    @property
    def over_s(self) -> float:
        """When it is over, after the ramp-up: from then on the cluster can recover."""
        return self.at + (self.for_ or 0.0)
