"""`Effects`: what levels of factors do to the speed of workloads on a simulated cluster, as declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import log

from density_study.cluster.model.topology import Topology

MODEL, NONE = "model", "none"
_OF_VARIANT = ("vms_per_host", "regionservers_per_node", "disk_type")


@dataclass(frozen=True)
class Effect:
    """Variants with `level` of `factor` run `workload` (a glob of its mode: read, scan95-insert5) `speed`
    times as fast. `per_level`: once for each VM or server above one, at the levels from two on."""

    factor: str
    level: str
    workload: str
    speed: float
    per_level: bool = False

    def times(self, topology: Topology, mode: str) -> float:
        """The factor on the speed; 1 where the effect does not apply."""
        if not fnmatchcase(mode, self.workload):
            return 1.0
        found = level_of(topology, self.factor)
        if self.per_level:
            return self.speed ** max(int(found) - 1, 0) if found.isdecimal() else 1.0
        return self.speed if found == self.level else 1.0


@dataclass(frozen=True)
class Effects:
    """`name` for people. `alike`: globs of the workloads that every variant runs like the first one, whatever
    the model says; declared effects come on top. `service`: service times of operations instead of the
    shipped ones."""

    name: str = MODEL
    declared: tuple[Effect, ...] = ()
    alike: tuple[str, ...] = ()
    service: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def are_alike(self, mode: str) -> bool:
        return any(fnmatchcase(mode, glob) for glob in self.alike)

    def log_speed(self, topology: Topology, mode: str) -> float:
        return sum(log(effect.times(topology, mode)) for effect in self.declared)


def level_of(topology: Topology, factor: str) -> str:
    """As an effects file writes it; empty if the topology has no level of the factor."""
    if factor in _OF_VARIANT:
        return str(getattr(topology.variant, factor))
    return str(topology.levels.get(factor, ""))
