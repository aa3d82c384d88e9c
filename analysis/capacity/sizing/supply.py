"""What a cluster of the measured hosts supplies of a resource: rates by draw and host count.

A resource is measured by the first group of the model that one of the profile's patterns names, or the
one the user maps to it. Host counts run from the smallest measured one to half again the largest: a
next count up is a forecast with a wider interval, anything farther is refused, and so is anything below.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from analysis.capacity.curves.model import Model
from analysis.capacity.curves.surface import FARTHEST, NoForecastError, Surface, surfaces
from analysis.capacity.inputs.array import Floats
from analysis.capacity.inputs.profile import UNIT_OF, Profile, Resource
from analysis.capacity.inputs.question import Question
from cluster.model.errors import InputError

MAX_PLACES = 48


@dataclass(frozen=True)
class MeasuredSupply:
    """rates (draws, k): things a second with hosts (k,) up. measured: the largest measured count."""

    group: str
    hosts: Floats
    rates: Floats
    measured: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class NotMeasured:
    """Why there is no supply: shown where a plan would have needed it."""

    reason: str


@dataclass(frozen=True)
class SupplyCatalog:
    """All supplies of a model, made when asked for and kept."""

    model: Model
    profile: Profile
    question: Question
    surfaces: Mapping[tuple[str, str], Surface]
    _made: dict[tuple[Resource, int, str], MeasuredSupply | NotMeasured]

    @classmethod
    def of(cls, model: Model, profile: Profile, question: Question) -> SupplyCatalog:
        """InputError if the user maps what is no resource, or to what is no group."""
        for resource, group in question.mapped:
            if resource not in UNIT_OF:
                raise InputError(
                    f"{resource!r} is no resource.", "--map", f"name one of {', '.join(UNIT_OF)}."
                )
            if group not in model.groups:
                raise InputError(
                    f"{group!r} is no group of the model.",
                    "--map",
                    f"name one of {', '.join(model.groups)}.",
                )
        return cls(model, profile, question, surfaces(model.points), {})

    def group(self, resource: Resource) -> str | None:
        """The measured group that stands for a resource; None if there is none."""
        mapped = dict(self.question.mapped).get(resource)
        if mapped is not None:
            return mapped
        for pattern in self.profile.measured_by.get(resource, ()):
            for group in sorted({group for group, _ in self.surfaces}):
                if fnmatchcase(group.lower(), pattern.lower()):
                    return group
        return None

    def supply(
        self, resource: Resource, vms_per_host: int, medium: str
    ) -> MeasuredSupply | NotMeasured:
        key = (resource, vms_per_host, medium)
        if key not in self._made:
            self._made[key] = self._make(*key)
        return self._made[key]

    def _make(
        self, resource: Resource, vms_per_host: int, medium: str
    ) -> MeasuredSupply | NotMeasured:
        group = self.group(resource)
        if group is None:
            known = ", ".join(self.model.groups)
            return NotMeasured(
                f"no measured group stands for {resource} ({UNIT_OF[resource]}): measure one, or name "
                f"one of {known} by --map {resource}=GROUP"
            )
        surface = self.surfaces.get((group, medium))
        if surface is None:
            media = ", ".join(sorted({m for g, m in self.surfaces if g == group}))
            return NotMeasured(
                f"{group} was measured on {media} only, not on {medium}: measure it there"
            )
        return self._rates(surface, vms_per_host, resource)

    def _rates(
        self, surface: Surface, vms_per_host: int, resource: Resource
    ) -> MeasuredSupply | NotMeasured:
        counts = surface.host_counts
        hosts = np.arange(counts[0], int(counts[-1] * FARTHEST) + 1, dtype=float)
        places = _places(hosts)
        try:
            forecast = surface.forecast(places, vms_per_host)
        except NoForecastError as refused:
            return NotMeasured(str(refused))
        # Every surface has rng of its own, and all its densities the same: what is off is off alike.
        seed = zlib.crc32(f"{surface.group}/{surface.medium}".encode())
        rng = np.random.default_rng([self.question.seed, seed])
        times = forecast.prediction.draws(rng, self.question.draws)
        rates = 1.0 / times if len(places) == len(hosts) else _filled(hosts, places, times)
        return MeasuredSupply(surface.group, hosts, rates, counts[-1], forecast.notes)


def _places(hosts: Floats) -> Floats:
    """All host counts, or of very many some, ever farther apart: between them curves are straight."""
    if len(hosts) <= MAX_PLACES:
        return hosts
    return np.unique(np.round(np.geomspace(hosts[0], hosts[-1], MAX_PLACES)))


def _filled(hosts: Floats, places: Floats, times: Floats) -> Floats:
    """Rates (draws, k) at all hosts, of work times (draws, places)."""
    at, logs = np.log(hosts), np.log(times)
    rates: Floats = np.exp(-np.stack([np.interp(at, np.log(places), row) for row in logs]))
    return rates
