"""The supply of a resource by a cluster of measured hosts: rates by draw and host count.

A resource is provided by the first group of the model that matches one of the profile's patterns, or by
the group that the user maps to it. Host counts range from the smallest measured one to 1.5 times the
largest: counts above the largest are forecasts with wider intervals, and all other counts are refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.curves.surface import (
    FARTHEST,
    NotMeasuredError,
    Surface,
    surfaces_of,
)
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.plan.words import UNIT_OF, Resource
from density_study.cluster.model.errors import InputError

MAX_PLACES = 48  # draws take the eigenvalues of a (places, places) matrix per hypothesis


@dataclass(frozen=True)
class MeasuredSupply:
    """rates (draws, k): units per second with hosts (k,) up. measured: the largest measured count."""

    group: str
    hosts: Floats
    rates: Floats
    measured: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SupplyCatalog:
    """All supplies of a model, computed on demand and cached."""

    model: Model
    profile: Profile
    question: Question
    surfaces: Mapping[tuple[str, str], Surface]
    _made: dict[tuple[Resource, int, str], MeasuredSupply]

    @classmethod
    def of(cls, model: Model, profile: Profile, question: Question) -> SupplyCatalog:
        """InputError if --measured-by names an unknown resource or group."""
        for resource, group in question.mapped:
            for name, noun, known in (
                (resource, "a resource", tuple(UNIT_OF)),
                (group, "a group of the model", model.groups),
            ):
                if name not in known:
                    remedy = f"name one of {', '.join(known)}."
                    raise InputError(f"{name!r} is not {noun}.", "--measured-by", remedy)
        return cls(model, profile, question, surfaces_of(model.points), {})

    def group(self, resource: Resource) -> str | None:
        """The measured group that provides a resource; None if there is none."""
        mapped = dict(self.question.mapped).get(resource)
        if mapped is not None:
            return mapped
        for pattern in self.profile.measured_by.get(resource, ()):
            for group in sorted({group for group, _ in self.surfaces}):
                if fnmatchcase(group.lower(), pattern.lower()):
                    return group
        return None

    def supply(self, resource: Resource, vms_per_host: int, disk_type: str) -> MeasuredSupply:
        """NotMeasuredError if the points do not support it."""
        key = (resource, vms_per_host, disk_type)
        if key not in self._made:
            self._made[key] = self._make(*key)
        return self._made[key]

    def _make(self, resource: Resource, vms_per_host: int, disk_type: str) -> MeasuredSupply:
        group = self.group(resource)
        if group is None:
            known = ", ".join(self.model.groups)
            raise NotMeasuredError(
                f"no measured group provides {resource} ({UNIT_OF[resource]}): measure one, or map one of "
                f"{known} to it with --measured-by {resource}=GROUP"
            )
        surface = self.surfaces.get((group, disk_type))
        if surface is None:
            disk_types = ", ".join(sorted({m for g, m in self.surfaces if g == group}))
            raise NotMeasuredError(
                f"{group} was measured only on {disk_types}, not on {disk_type}: measure it there"
            )
        return measured_supply(surface, vms_per_host, self.question.seed, self.question.draws)


def measured_supply(surface: Surface, vms_per_host: int, seed: int, draws: int) -> MeasuredSupply:
    """Rates of a surface at a density. NotMeasuredError if its points do not support them."""
    counts = surface.host_counts
    hosts = np.arange(counts[0], int(counts[-1] * FARTHEST) + 1, dtype=float)
    places = _places(hosts)
    forecast = surface.forecast(places, vms_per_host)
    # Each surface has its own rng, shared by its densities, so that their errors are correlated.
    name = zlib.crc32(f"{surface.group}/{surface.disk_type}".encode())
    times = forecast.prediction.draws(np.random.default_rng([seed, name]), draws)
    rates = 1.0 / times if len(places) == len(hosts) else _filled(hosts, places, times)
    return MeasuredSupply(surface.group, hosts, rates, counts[-1], forecast.notes)


def _places(hosts: Floats) -> Floats:
    """All host counts, or a geometric selection of many: curves are linear in logarithms between them."""
    if len(hosts) <= MAX_PLACES:
        return hosts
    return np.unique(np.round(np.geomspace(hosts[0], hosts[-1], MAX_PLACES)))


def _filled(hosts: Floats, places: Floats, times: Floats) -> Floats:
    """Rates (draws, k) at all hosts, from work times (draws, places)."""
    # linear in log-log: exact for a power law, and never negative
    at, logs = np.log(hosts), np.log(times)
    result: Floats = np.exp(-np.stack([np.interp(at, np.log(places), row) for row in logs]))
    return result
