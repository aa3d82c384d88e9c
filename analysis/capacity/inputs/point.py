"""`Point`: one measured value, and the grouping of points into curves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Literal, NoReturn, TypeVar

from pydantic import Field

from density_study.cluster.model.errors import InputError, each_of
from density_study.workloads.base.values import Frozen

Quantity = Literal["time", "rate", "latency", "utilization"]
Variant = tuple[str, str, int]  # group, disk type, VMs per host: identifies a curve over hosts
Place = tuple[str, str, int, int]  # group, disk type, hosts, VMs per host
MOST_FAULTS = 20  # that are named at once
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Point(Frozen):
    """`value` in the unit of its quantity: seconds, things a second, or percent of the hosts' cores."""

    group: str
    hosts: int = Field(ge=1)
    vms_per_host: int = Field(ge=0, description="0: the bare host")
    disk_type: str
    quantity: Quantity
    value: float = Field(gt=0)
    unit: str = Field(description="canonical: s, ops/s, MiB/s, percent")
    repetition: int
    load: float | None = Field(
        None, description="operations or bytes per second, achieved meanwhile"
    )
    share: float | None = Field(None, description="share of the highest value of the same build")
    busy: float | None = Field(
        None, description="share of the hosts' cores used meanwhile, by anything"
    )
    percentile: float | None = None
    operation: str = ""
    source: str = ""

    @property
    def variant(self) -> Variant:
        return (self.group, self.disk_type, self.vms_per_host)

    @property
    def place(self) -> Place:
        return (self.group, self.disk_type, self.hosts, self.vms_per_host)

    @property
    def work_time_s(self) -> float:
        """Seconds per unit: a time unchanged, a rate inverted. Smaller is better."""
        return 1.0 / self.value if self.quantity == "rate" else self.value


def check_units(points: Iterable[Point], where: str) -> None:
    """InputError if a group mixes units, such as times and rates, or MiB/s and ops/s."""
    groups = grouped(sizes(points), lambda point: point.group).items()
    units = {group: sorted({point.unit for point in those}) for group, those in groups}
    refuse(
        InputError(
            f"group {group!r} mixes units: {', '.join(several)}.",
            where,
            "one group has one unit; give a group of its own to each kind of number.",
        )
        for group, several in units.items()
        if len(several) > 1
    )


def refuse(faults: Iterable[InputError]) -> None:
    """The only fault, or the first MOST_FAULTS as one error. Nothing without a fault."""

    def raised(fault: InputError) -> NoReturn:
        raise fault

    each_of(faults, raised, MOST_FAULTS)


def sizes(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points for curves over hosts and densities: times and rates."""
    return tuple(point for point in points if point.quantity in ("time", "rate"))


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by their key, in order of first appearance."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
