"""Generated measurements with known truth: many clusters, noise like real repeats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from density_study.analysis.capacity.inputs.point import Point

Shape = Literal[
    "form", "power", "usl", "wiggle", "amdahl", "gustafson", "coherency", "plateau", "cliff"
]
SHAPES: tuple[Shape, ...] = get_args(Shape)
PRECISION = 8.0
"""Of a plateau's edge."""
BUILDS = 1.0
"""Mean of the spread of builds, over that of repetitions: public measurements (C3O) have 1.0."""


@dataclass(frozen=True)
class Truth:
    """One cluster: the true seconds of work time at each host count, and the noise of its
    repeats."""

    name: str
    base_s: float
    serial: float
    linear: float
    shape: Shape
    noise: float
    builds: float = 0.0
    """sd of the common error of a cell's repetitions."""
    bursts: float = 0.0
    """Share of cells in which the machines use up their CPU credits after one or two
    repetitions."""

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
            return float((n**-PRECISION + edge**-PRECISION) ** (1 / PRECISION))
        if self.shape == "cliff":  # below 2.5 to 7.5 hosts the data do not fit into memory
            edge = 2.5 + 5 * (np.log10(serial) + 2.5) / 1.8
            slower = float(np.exp(0.2 + 0.4 * (np.log10(self.base_s) - 2)))
            return (serial + 1 / n) * (slower if n < edge else 1.0)
        bend = 0.05 * np.sin(2 * np.log(n) + 40 * serial) if self.shape == "wiggle" else 0.0
        return float((serial + 1 / n + linear * n) * np.exp(bend))


def truths(count: int, seed: int, noise: float = 0.04, shape: Shape = "form") -> tuple[Truth, ...]:
    """Clusters whose noise differs by half again in both directions, as that of real repeats
    does."""
    rng = np.random.default_rng(seed)
    return tuple(
        Truth(
            name=f"cluster-{number}",
            base_s=float(10 ** rng.uniform(2, 4)),
            serial=float(10 ** rng.uniform(-2.5, -0.7)),
            linear=float(10 ** rng.uniform(-4.5, -3.0)) if rng.random() < 0.6 else 0.0,
            shape=shape,
            noise=float(noise * np.exp(0.5 * rng.standard_normal())),
        )
        for number in range(count)
    )


def wild_truths(count: int, seed: int) -> tuple[Truth, ...]:
    """Clusters of all shapes in turn, as noisy as public measurements are: builds differ by about
    as much as repetitions do, some by much more, and every sixth cluster has burstable machines."""
    rng = np.random.default_rng(seed)
    populations = []
    for number in range(count):
        shape = SHAPES[number % len(SHAPES)]
        (cluster,) = truths(1, int(rng.integers(2**31)), 0.025, shape)
        builds = cluster.noise * float(rng.exponential(BUILDS))
        bursts = 0.3 if number % 6 == 5 else 0.0
        populations.append(replace(cluster, name=f"{shape}-{number}", builds=builds, bursts=bursts))
    return tuple(populations)


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
    builds: sd of the common error of a cell's repetitions, over that of a repetition."""
    rng = np.random.default_rng(seed)
    points = []
    for truth in clusters:
        for n in hosts:
            for v in densities:
                spread = truth.builds + truth.noise * builds
                build = spread * rng.standard_normal() if spread else 0.0
                slow_from, slower = _burst(truth, repetitions, rng)
                for repetition in range(1, repetitions + 1):
                    error = build + truth.noise * rng.standard_normal()
                    if repetition > slow_from:
                        error += slower
                    if rng.random() < outliers:
                        error += rng.uniform(0.3, 1.1)
                    points.append(_point(truth, n, v, repetition, float(error)))
    return tuple(points)


def _burst(truth: Truth, repetitions: int, rng: np.random.Generator) -> tuple[int, float]:
    """The number of repetitions of a cell after which the CPU credits end, and the slowdown then,
    in log."""
    if not truth.bursts or rng.random() > truth.bursts:
        return repetitions, 0.0
    return int(rng.integers(1, 3)), float(rng.uniform(0.15, 0.6))


def _point(truth: Truth, hosts: int, density: int, repetition: int, error: float) -> Point:
    return Point(
        group=truth.name,
        hosts=hosts,
        vms_per_host=density,
        disk_type="flash",
        quantity="time",
        value=truth.time_s(hosts, density) * float(np.exp(error)),
        unit="s",
        repetition=repetition,
    )
