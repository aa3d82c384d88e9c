"""`factors.vms_per_host`: densities."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from density_study.cluster.model.plain import counted
from density_study.workloads.study.factors.factor import FASTER, Factor, Level


class VmsPerHost(Factor[int]):
    """Nodes on each host; 0 is the bare host."""

    name = "vms_per_host"
    key = (
        tuple[Annotated[int, Field(strict=True, ge=0, le=64)], ...],
        Field(
            min_length=1,
            description="Densities: nodes per host. `local`: from 1. `physical`: `[0]`, the bare host. "
            "`libvirt` and `container`: from 0.",
        ),
    )
    is_named = False
    effect = "density"
    expected = FASTER
    about = "density"
    has_baseline = False

    def words(self, level: Level, noun: str) -> str:
        """'2 VMs per host', '1 worker per host', 'the bare host'."""
        count = int(level or 0)
        if count == 0:
            return "the bare host"
        return f"{counted(count, noun)} per host"


VMS_PER_HOST = VmsPerHost()
