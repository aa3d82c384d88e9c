"""`factors.regionservers_per_node`: the control group for density."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from density_study.workloads.study.factors.factor import BUSIER, Factor, Level


class RegionServersPerNode(Factor[int]):
    """RegionServers on each worker."""

    name = "regionservers_per_node"
    key = (
        tuple[Annotated[int, Field(strict=True, ge=1, le=64)], ...],
        Field(
            (1,),
            min_length=1,
            description="Control group for density: several RegionServers on one node. With `libvirt` and "
            "`container`, on the bare host.",
        ),
    )
    is_named = False
    effect = "control"
    expected = BUSIER
    has_baseline = False

    def words(self, level: Level, noun: str) -> str:
        return f"{level} RegionServer{'s' if level != 1 else ''} per node"


REGIONSERVERS_PER_NODE = RegionServersPerNode()
