"""Turnaround of a candidate: the simulation repeated over draws of the uncertain inputs."""

from __future__ import annotations

import numpy as np

from analysis.capacity.inputs.array import Floats
from analysis.capacity.sizing.candidate import Candidate
from analysis.capacity.sizing.stage_graph import Service, turnarounds_s

GENOMES = 200
DRAWS = 48


def turnaround_s(candidate: Candidate, hosts: int, percentile: float, draws: int = DRAWS) -> Floats:
    """The percentile of turnaround with `hosts` up (draws,). Infinite where work arrives faster than it
    is done (rho >= 1): the queue then grows without bound, and its length depends on the simulation's."""
    overloaded = np.zeros(candidate.demand.question.draws, dtype=bool)
    for name, (rho, _) in candidate.rhos(hosts).items():
        if not name.startswith("storage"):
            overloaded |= rho >= 1
    rng = np.random.default_rng([candidate.demand.question.seed, 5])
    stages = candidate.demand.profile.stages
    seconds = [candidate.stage_s(stage, hosts) for stage in stages]
    shares = [candidate.stage_share(stage, hosts) for stage in stages]
    found = np.full(draws, np.inf)
    for draw in np.flatnonzero(~overloaded[:draws]):
        services = [
            Service(
                stage.name, stage.after, float(time_s[draw]), float(share[draw]),
                lane=stage.core_hours is None,
            )
            for stage, time_s, share in zip(stages, seconds, shares, strict=True)
        ]  # fmt: skip
        per_s = float(candidate.demand.genomes_per_s[draw])
        found[draw] = np.percentile(turnarounds_s(services, per_s, GENOMES, rng), percentile)
    return found
