"""Made-up measurements of a mix with known truth: rates over hosts and densities, and latency under load."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.points import Point

GROUP = "ycsb-a-r1000000-t64"
BASE_OPS_S = 9_000.0
IDLE_MS = 2.0


def rate(hosts: int, density: int) -> float:
    """Amdahl's law over hosts, with a second VM that adds a third."""
    return BASE_OPS_S / (0.02 + 0.98 / hosts) * (1 + (density - 1) / 3)


def latency_ms(rho: float) -> float:
    return IDLE_MS * (1 + 0.8 * rho**2 / (1 - rho))


def points(noise: float = 0.02, counts: tuple[int, ...] = (2, 4, 6)) -> tuple[Point, ...]:
    rng = np.random.default_rng(7)
    found = []
    for hosts, density, repetition in product(counts, (1, 2), (1, 2, 3)):
        value = rate(hosts, density) * float(np.exp(noise * rng.standard_normal()))
        found.append(_point(hosts, density, repetition, "rate", value, "ops/s"))
    for density, rho in product((1, 2), (0.2, 0.4, 0.6, 0.75, 0.9)):
        hosts = counts[len(counts) // 2]
        load = rho * rate(hosts, density)
        seconds = latency_ms(rho) / 1e3 * float(np.exp(noise * rng.standard_normal()))
        point = _point(hosts, density, 1, "latency", seconds, "s")
        more = {"load": load, "percentile": 99.0, "operation": "READ"}
        found.append(point.model_copy(update=more))
    return tuple(found)


@cache
def model() -> Model:
    return fit(points(), ["made.csv"])


def _point(
    hosts: int, density: int, repetition: int, quantity: str, value: float, unit: str
) -> Point:
    return Point.model_validate(
        {
            "group": GROUP, "hosts": hosts, "vms_per_host": density, "disk_type": "hdd",
            "quantity": quantity, "value": value, "unit": unit, "repetition": repetition,
        }
    )  # fmt: skip
