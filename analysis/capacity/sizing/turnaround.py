"""Turnaround of a candidate: the simulation repeated over draws of the uncertain inputs."""

from __future__ import annotations

import numpy as np

from analysis.capacity.inputs.array import Floats
from analysis.capacity.sizing.candidate import Candidate
from analysis.capacity.sizing.stage_graph import turnarounds_s

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
    found = []
    for draw, (per_s, stages) in enumerate(candidate.services(hosts, draws)):
        if overloaded[draw]:
            found.append(np.inf)
        else:
            times = turnarounds_s(stages, per_s, GENOMES, rng)
            found.append(float(np.percentile(times, percentile)))
    return np.array(found)
