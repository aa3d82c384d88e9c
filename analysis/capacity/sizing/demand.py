"""Rates and disk space that a cluster must have. Rates by the forced flow law (Denning and Buzen 1978):

    lambda_r = sum over stages s of D[s, r] * N * peak / (86400 * availability)

with D[s, r] the demand of a genome's stage for resource r, and N genomes per day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.plan.words import Resource

DAY_S = 86400.0
HOUR_S = 3600.0


@dataclass(frozen=True)
class Demand:
    """drawn: every ranged value of the profile, by its name, (draws,)."""

    profile: Profile
    question: Question
    drawn: Mapping[str, Floats]

    @classmethod
    def of(cls, profile: Profile, question: Question) -> Demand:
        rng = np.random.default_rng([question.seed, 1])
        drawn = {name: value.draws(rng, question.draws) for name, value in profile.ranges()}
        drawn["availability"] = np.minimum(drawn["availability"], 1.0)  # a log-normal may exceed 1
        for stage in profile.stages:
            name = f"{stage.name}.cpu_efficiency"
            if name in drawn:
                drawn[name] = np.minimum(drawn[name], 1.0)
        return cls(profile, question, drawn)

    @cached_property
    def genomes_per_s(self) -> Floats:
        """Arrival rate in the busiest hour, in the time that the cluster is available."""
        rate = self.question.genomes_per_day / DAY_S
        # the mean rate must fit into the hours that remain after outages
        return rate * self.drawn["peak"] / self.drawn["availability"]

    def resources(self) -> tuple[Resource, ...]:
        """The resources that the profile uses, in its order."""
        used = [resource for stage in self.profile.stages for resource in stage.demands]
        if self.profile.query is not None:
            used.append("hbase_scan")
        return tuple(dict.fromkeys(used))

    def per_s(self, resource: Resource) -> Floats:
        """MiB or operations per second (draws,)."""
        genome = np.zeros(self.question.draws)
        for stage in self.profile.stages:
            if resource in stage.demands:
                genome = genome + self.drawn[f"{stage.name}.{resource}"]
        rate: Floats = genome * self.genomes_per_s
        if resource == "hbase_scan" and self.profile.query is not None:
            rate = rate + self.queries_per_s * self.drawn["query.scans"]
        return rate

    @cached_property
    def queries_per_s(self) -> Floats:
        return self.drawn["query.per_s"] * self.drawn["peak"] / self.drawn["availability"]

    def kept_gib(self, access: str, copies: int) -> Floats:
        """GiB of disk for data in HBase (`random`) or in files (`sequential`) over the horizon (draws,)."""
        # gib * (genomes per day * min(days retained, horizon) + cohort at start) * copies
        storage = self.profile.storage
        total: Floats = np.zeros(self.question.draws)
        for kept in storage.kept:
            if kept.access == access:
                days = np.minimum(self.drawn[f"storage.{kept.name}.days"], storage.horizon_days)
                genomes = self.question.genomes_per_day * days + storage.genomes_at_start
                gib = self.drawn[f"storage.{kept.name}.gib"]
                total = total + gib * genomes * copies
        return total

    def scratch_gib(self, stay_s: Floats) -> Floats:
        """GiB of scratch space, not replicated, for the genomes in progress, at least one (draws,). stay_s:
        mean time of a genome in the cluster (draws,)."""
        # Little's law, L = lambda W: J. Little, Operations Research 9 (1961).
        in_progress = np.maximum(1.0, self.question.genomes_per_day / DAY_S * stay_s)  # L
        result: Floats = self.drawn["storage.scratch_gib"] * in_progress * self.drawn["peak"]
        return result
