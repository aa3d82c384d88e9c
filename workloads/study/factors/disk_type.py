"""`factors.disk_type`: kinds of disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from density_study.cluster.model.host import DiskType
from density_study.workloads.study.factors.factor import FASTER, Factor, Level


class DiskTypes(Factor[DiskType]):
    """The type of the disks that the variant's workers use."""

    name = "disk_type"
    effect = "disk"
    key = (
        tuple[Literal["flash", "hdd"], ...] | None,
        Field(
            None,
            min_length=1,
            description="Disk types to compare. Default: all disk types of the hosts.",
        ),
    )
    is_named = False
    expected = FASTER
    has_baseline = False
    otherwise = ("hdd", "flash")

    def ordered(self, levels: Sequence[Level]) -> tuple[Level, ...]:
        return tuple(disk_type for disk_type in self.otherwise if disk_type in levels)


DISK_TYPE = DiskTypes()
