"""Made-up measurements of a mix with known truth: rates over hosts and densities, and latency under load."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.operations.load import Limit, Load
from density_study.analysis.capacity.operations.sizing import size_operations
from density_study.analysis.capacity.plan.operations import OperationsPlan
from tests.unit.analysis.capacity.offers import host, offers

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


READ = Limit("READ", 99.0, 5e-3)
LOAD = Load(20_000, GROUP, (READ,), draws=200)
SAME = {
    "cpu_speed": {"value": 1, "low": 1, "high": 1, "tag": "assumed", "source": "the measured type"}
}


def one_type(**more: object) -> Catalogue:
    """The measured host's own type."""
    own = {"disk_type": "hdd", "count": 8, "size_gib": 14901, "mib_s": 180}
    measured_on = {"name": "m", "cores": 32, "disks": [{k: own[k] for k in ("disk_type", "count", "mib_s")}],
                   "network_gbit_s": 10}  # fmt: skip
    given = {"disks": [own], "network_gbit_s": 10, **SAME, **more}
    own_type = {**host("same", 1.0, 9000), **given}
    return offers(own_type, measured_on=measured_on)


def sized(load: Load = LOAD, catalogue: Catalogue | None = None) -> OperationsPlan:
    found = size_operations(load, model(), catalogue or one_type())
    assert isinstance(found, OperationsPlan), found
    return found
