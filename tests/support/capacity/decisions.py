"""Decisions on clusters with known truth: the number of hosts for a rate, by the planner's own
quantile.

`best` is the noise limit: the decision with the true curve, up to the error that the same
measurements leave to a two-parameter fit of the true form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity.curves.surface import surfaces
from density_study.analysis.capacity.sizing.candidate import ResourceSupply, enough_hosts
from density_study.analysis.capacity.sizing.supply import MeasuredSupply
from tests.support.capacity.populations import Truth, measured

DRAWS = 1000
PARAMETERS = 2


@dataclass(frozen=True)
class Decision:
    needed: int
    chosen: int
    best: int

    @property
    def too_few(self) -> bool:
        return self.chosen < self.needed

    @property
    def excess_allowed(self) -> bool:
        return self.chosen - self.needed <= max(1.0, 0.1 * self.needed)


def decisions(
    clusters: Sequence[Truth], hosts: Sequence[int], repetitions: int, questions: int, seed: int
) -> list[Decision]:
    """`questions` rates for each cluster, each needing a count between the smallest and largest
    host."""
    rng = np.random.default_rng(seed)
    points = measured(clusters, hosts, seed + 1, repetitions=repetitions)
    counts = np.arange(min(hosts), max(hosts) + 1, dtype=float)
    candidates = np.arange(min(hosts), int(1.5 * max(hosts)) + 1, dtype=float)
    fitted = surfaces(points)
    result = []
    for truth in clusters:
        true_s = np.array([truth.time_s(n) for n in candidates])
        falling = int(np.argmin(true_s)) + 1  # beyond its best count more hosts do not help
        rates = 1.0 / fitted[truth.name, "flash"].forecast(candidates, 1).prediction.draws(
            rng, DRAWS
        )
        supply = MeasuredSupply(truth.name, candidates, rates, max(hosts), ())
        error = truth.noise * (PARAMETERS / (len(hosts) * repetitions)) ** 0.5
        for _ in range(questions):
            needed = int(rng.choice(counts[1 : max(2, min(len(counts), falling))]))
            place = needed - min(hosts)
            share = rng.uniform(0.02, 0.98)
            rate = share / true_s[place] + (1 - share) / true_s[place - 1]
            result.append(
                Decision(needed, _chosen(supply, rate), _best(true_s, candidates, rate, error, rng))
            )
    return result


def _chosen(supply: MeasuredSupply, rate: float) -> int:
    ones = np.ones(DRAWS)
    need = ResourceSupply("genome_job", supply, ones, np.full(DRAWS, rate), ones).need() - 1
    finite = np.where(np.isfinite(need), need, supply.hosts[-1])
    chosen = enough_hosts(finite)
    assert chosen is not None
    return chosen


def _best(
    true_s: np.ndarray, hosts: np.ndarray, rate: float, error: float, rng: np.random.Generator
) -> int:
    """The count where the curve, off by one draw of the least error, first reaches the rate."""
    noisy_s = true_s * np.exp(error * rng.standard_normal())
    enough = 1.0 / noisy_s >= rate
    return int(hosts[int(enough.argmax())]) if enough.any() else int(hosts[-1])
