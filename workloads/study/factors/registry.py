"""The list of all factors: ours, and those that other packages add by an entry point."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from density_study.cluster.plugins import unusable, values_of
from density_study.workloads.study.factors.cluster import CLUSTER
from density_study.workloads.study.factors.configuration import CONFIGURATION
from density_study.workloads.study.factors.disk_type import DISK_TYPE
from density_study.workloads.study.factors.factor import Factor
from density_study.workloads.study.factors.hosts import HOSTS
from density_study.workloads.study.factors.network import NETWORK
from density_study.workloads.study.factors.oversubscribe import OVERSUBSCRIBE
from density_study.workloads.study.factors.regionservers_per_node import REGIONSERVERS_PER_NODE
from density_study.workloads.study.factors.stack import STACK
from density_study.workloads.study.factors.store import STORE
from density_study.workloads.study.factors.tier import TIER
from density_study.workloads.study.factors.vms_per_host import VMS_PER_HOST

OURS: tuple[Factor[Any], ...] = (
    CLUSTER,  # first: what existing clusters differ in otherwise is only declared
    VMS_PER_HOST,
    DISK_TYPE,
    REGIONSERVERS_PER_NODE,
    HOSTS,
    STORE,
    STACK,
    CONFIGURATION,
    TIER,  # after configurations, which it changes
    NETWORK,
    OVERSUBSCRIBE,
)
"""In the order of findings. Levels with names stand in this order in a topology's name."""


@cache
def factors() -> Mapping[str, Factor[Any]]:
    """Every factor by name, ours first. InputError if an entry point cannot be loaded or repeats a name."""
    found = {factor.name: factor for factor in OURS}
    for point, factor in values_of("factor", Factor):
        if factor.name in found:
            raise unusable("factor", f"{factor.name!r} is registered twice", point)
        found[factor.name] = factor
    return MappingProxyType(found)


def known_factor(name: str) -> str:
    """The name, if it is a factor's. ValueError otherwise, which lists those that are."""
    if name not in factors():
        raise ValueError(f"no factor {name!r}; write {', '.join(factors())}")
    return name


def held_equal(compared: str) -> tuple[str, ...]:
    """The factors on which the variants of a comparison agree: all others. Density and disk type of existing
    clusters are facts about them, which differ along with the cluster."""
    along = factors()[compared].carries
    return tuple(
        factor.name
        for factor in factors().values()
        if factor.name not in (compared, *along) and compared not in factor.carries
    )
