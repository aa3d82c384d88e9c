"""Generated measurements with known truth: many clusters, noise like real repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.capacity.points import Point

Shape = Literal["form", "power", "usl", "wiggle", "amdahl", "gustafson", "coherency", "plateau"]
SHARPNESS = 8.0
"""Of a plateau's edge."""


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
        return float(self.base_s * self._of_hosts(n) * per_density)

    def _of_hosts(self, n: float) -> float:
        serial, linear = self.serial, self.linear
        if self.shape == "power":
            return float(n ** -(0.5 + serial))
        if self.shape == "usl":
            return (1 + serial * (n - 1) + linear * n * (n - 1)) / n
        if self.shape == "coherency":  # the USL, with a peak that may be at 18 hosts
            return (1 + serial * (n - 1) + (2e-4 + 3 * linear) * n * (n - 1)) / n
        if self.shape == "amdahl":
            return serial + (1 - serial) / n
        if self.shape == "gustafson":
            return 1 / (2 * serial + (1 - 2 * serial) * n)
        if self.shape == "plateau":
            edge = 24 + 8.3 * np.log10(serial)  # of 3 to 18 hosts
            return float((n**-SHARPNESS + edge**-SHARPNESS) ** (1 / SHARPNESS))
        bend = 0.05 * np.sin(2 * np.log(n) + 40 * serial) if self.shape == "wiggle" else 0.0
        return float((serial + 1 / n + linear * n) * np.exp(bend))


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
    builds: float = 0.0,
) -> tuple[Point, ...]:
    """Points of every cluster. outliers: share of repetitions that took up to three times as long.
    builds: sd of what the repetitions of one cell have in common, over that of a repetition."""
    dice = np.random.default_rng(seed)
    points = []
    for truth in clusters:
        for n in hosts:
            for v in densities:
                build = truth.noise * builds * dice.standard_normal() if builds else 0.0
                for repetition in range(1, repetitions + 1):
                    error = build + truth.noise * dice.standard_normal()
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
