"""`FaultSpec`: the key `fault` of `ycsb`."""

from __future__ import annotations

from pydantic import Field

from density_study.workloads.base.fault import Fault, Killed
from density_study.workloads.base.quantity import Seconds
from density_study.workloads.base.values import Frozen
from density_study.workloads.ycsb.knobs import LatencyTarget, Target
from density_study.workloads.ycsb.mixes import CoreMix

RECOVERY_S = 10.0
"""Least time that a trial leaves to recover in."""


class FaultSpec(Frozen):
    """A trial on each build during which a daemon is killed (kill -9) under load, at a fixed rate: how long
    until the rate is back, how many operations failed, and whether acknowledged rows are still there. It is
    the last trial of its build."""

    kill: Killed = Field(
        description="the daemon to kill: of the last worker node, or the only HMaster"
    )
    at: Seconds = Field(description="when, after the ramp-up: 60 s")
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
        return Fault(kill=self.kill, at_s=self.at)
