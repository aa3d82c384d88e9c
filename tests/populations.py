"""Generated measurements with known truth: many clusters, noise like real repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.capacity.points import Point

Shape = Literal["form", "power", "usl", "wiggle"]


@dataclass(frozen=True)
class Truth:
    """One cluster: the true seconds of work time at each host count, and how noisy a repeat is."""

    name: str
    base_s: float
    serial: float
    linear: float
    shape: Shape
    noise: float

    def time_s(self, hosts: float, vms_per_host: int = 1) -> float:
        n = float(hosts)
        per_density = (
            1 + 0.18 * (vms_per_host - 1) + 0.02 * vms_per_host * (vms_per_host - 1)
        ) / vms_per_host
        if self.shape == "power":
            return float(self.base_s * n ** -(0.5 + self.serial) * per_density)
        if self.shape == "usl":
            return float(
                self.base_s
                * (1 + self.serial * (n - 1) + self.linear * n * (n - 1))
                / n
                * per_density
            )
        bend = 0.05 * np.sin(2 * np.log(n) + 40 * self.serial) if self.shape == "wiggle" else 0.0
        return float(
            self.base_s * (self.serial + 1 / n + self.linear * n) * np.exp(bend) * per_density
        )


def truths(count: int, seed: int, noise: float = 0.04, shape: Shape = "form") -> tuple[Truth, ...]:
    """Clusters whose noise differs by half again either way, as that of real repeats does."""
    dice = np.random.default_rng(seed)
    return tuple(
        Truth(
            name=f"cluster-{number}",
            base_s=float(10 ** dice.uniform(2, 4)),
            serial=float(10 ** dice.uniform(-2.5, -0.7)),
            linear=float(10 ** dice.uniform(-4.5, -3.0)) if dice.random() < 0.6 else 0.0,
            shape=shape,
            noise=float(noise * np.exp(0.5 * dice.standard_normal())),
        )
        for number in range(count)
    )


def measured(
    clusters: Sequence[Truth],
    hosts: Sequence[int],
    seed: int,
    densities: Sequence[int] = (1,),
    repetitions: int = 5,
    outliers: float = 0.0,
) -> tuple[Point, ...]:
    """Points of every cluster. outliers: share of repetitions that took up to three times as long."""
    dice = np.random.default_rng(seed)
    points = []
    for truth in clusters:
        for n in hosts:
            for v in densities:
                for repetition in range(1, repetitions + 1):
                    error = truth.noise * dice.standard_normal()
                    if dice.random() < outliers:
                        error += dice.uniform(0.3, 1.1)
                    points.append(_point(truth, n, v, repetition, float(error)))
    return tuple(points)


def _point(truth: Truth, hosts: int, density: int, repetition: int, error: float) -> Point:
    return Point(
        group=truth.name,
        hosts=hosts,
        vms_per_host=density,
        medium="flash",
        quantity="time",
        value=truth.time_s(hosts, density) * float(np.exp(error)),
        unit="s",
        repetition=repetition,
    )
