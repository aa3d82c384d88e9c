"""Made-up catalogues for the tests of sizing."""

from __future__ import annotations

from typing import Any

import numpy as np

from density_study.analysis.capacity.inputs.catalogue import Accelerators, Catalogue

HDD = {"disk_type": "hdd", "count": 8, "size_gib": 14901, "mib_s": 220}
SITE = {"usd_per_kwh": 0.16, "pue": 1.4}


def speed(value: float, half_width: float = 0.04) -> dict[str, Any]:
    low, high = value * (1 - half_width), value * (1 + half_width)
    return {"value": value, "low": low, "high": high, "tag": "assumed", "source": "test"}


def host(name: str, core_speed: float, capex_usd: float, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "cores": 32, "cpu_speed": speed(core_speed), "ram_gib": 256, "disks": [HDD],
        "capex_usd": capex_usd, "kw": 0.4, **more,
    }  # fmt: skip


def offers(*hosts: dict[str, Any], **more: Any) -> Catalogue:
    return Catalogue.model_validate(
        {
            "format": 1, "catalogue": "test", "date": "2026-11-21", "price_basis": "made-up",
            "measured_on": {"name": "m", "cores": 16}, "site": SITE, "hosts": hosts, **more,
        }
    )  # fmt: skip


def slow_and_fast() -> Catalogue:
    """The slow type is cheaper, but its critical path alone takes longer than 18 hours."""
    fast = host("fast", 1.2, 16000, cpu_speed=speed(1.2, 0.0417), kw=0.5)
    slow = host("slow", 0.6, 6000, cpu_speed=speed(0.6, 0.0333))
    return offers(slow, fast)


def one_slow_disk(**more: Any) -> Catalogue:
    """128 cores, and one disk of 10 MiB/s."""
    disk = {"disk_type": "hdd", "count": 1, "size_gib": 2_000_000, "mib_s": 10}
    fat = host("fat", 1.0, 20000, cores=128, ram_gib=1024, disks=[disk])
    return offers({**fat, "cpu_speed": speed(1.0, 0.01)}, **more)


def random_offers(rng: np.random.Generator) -> Catalogue:
    """Two or three host types."""
    hosts = []
    for number in range(int(rng.integers(2, 4))):
        size = int(rng.choice((1, 2, 4)))
        disk = {**HDD, "count": int(rng.integers(4, 17)), "mib_s": float(rng.integers(150, 260))}
        hosts.append(
            host(
                f"type-{number}", float(rng.uniform(0.7, 1.4)), float(rng.uniform(3000, 9000)) * size,
                cores=16 * size, ram_gib=128 * size, disks=[disk], kw=0.25 * size,
                network_gbit_s=float(rng.choice((10, 25))),
            )
        )  # fmt: skip
    measured = {"name": "m", "cores": 16, "disks": [{**HDD, "mib_s": 180}], "network_gbit_s": 10}
    measured["disks"] = [{"disk_type": "hdd", "count": 8, "mib_s": 180}]
    return offers(*hosts, measured_on=measured)


def random_accelerated(rng: np.random.Generator) -> Catalogue:
    """Two or three host types with one to eight A100."""
    made = random_offers(rng)
    hosts = tuple(
        one.model_copy(
            update={
                "accelerators": (Accelerators(kind="A100", count=int(rng.choice((1, 2, 4, 8)))),),
                "cores": one.cores * 2,
                "ram_gib": one.ram_gib * 2,
                "capex_usd": (one.capex_usd or 0) + float(rng.uniform(8000, 20000)),
            }
        )
        for one in made.hosts
    )
    return made.model_copy(update={"hosts": hosts})
