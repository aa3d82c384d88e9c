"""`factors.medium`: kinds of disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from density_study.cluster.model.host import Medium as DiskMedium
from density_study.workloads.study.factors.factor import FASTER, Factor, Level


class Medium(Factor[DiskMedium]):
    """The medium of the disks that the arm's workers use."""

    name = "medium"
    key = (
        tuple[Literal["flash", "hdd"], ...] | None,
        Field(None, min_length=1, description="Media to compare. Default: all media of the hosts."),
    )
    is_named = False
    expected = FASTER
    has_baseline = False
    otherwise = ("hdd", "flash")

    def ordered(self, levels: Sequence[Level]) -> tuple[Level, ...]:
        return tuple(medium for medium in self.otherwise if medium in levels)


MEDIUM = Medium()
