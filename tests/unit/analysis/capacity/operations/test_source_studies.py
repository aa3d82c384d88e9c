"""The sums of the studies that the planner repeats: their figures as points, their answer as the plan."""

from __future__ import annotations

from itertools import product

import pytest

from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.operations.load import Limit, Load
from density_study.analysis.capacity.operations.sizing import size_operations
from density_study.analysis.capacity.plan.operations import OperationsPlan
from density_study.analysis.capacity.plan.plan import Excuse
from tests.unit.analysis.capacity.offers import host, offers
from tests.unit.analysis.capacity.operations.measured import SAME

COUNTS = (1, 2, 4, 8)
RHO = 0.8  # the highest utilization of a plan


def model(ops_s: float, latency_s: float) -> Model:
    """Each host carries `ops_s` at a utilization of 0.8, with a READ p99 of `latency_s` there."""
    same = {"group": "a", "vms_per_host": 0, "disk_type": "flash", "unit": "ops/s"}
    saturated = ops_s / RHO
    found = [
        Point.model_validate(
            {**same, "hosts": hosts, "quantity": "rate", "value": hosts * saturated * factor,
             "repetition": number}
        )
        for hosts, (number, factor) in product(COUNTS, ((1, 0.999), (2, 1.0), (3, 1.001)))
    ]  # fmt: skip
    latencies = {0.2: 0.55, 0.4: 0.6, 0.6: 0.72, RHO: 1.0}
    found += [
        Point.model_validate(
            {**same, "hosts": 4, "quantity": "latency", "value": latency_s * share, "unit": "s",
             "repetition": 1, "load": rho * 4 * saturated, "percentile": 99.0, "operation": "READ"}
        )
        for rho, share in latencies.items()
    ]  # fmt: skip
    return fit(found, ["figures of the study"])


def rented(usd_per_hour: float) -> Catalogue:
    flash = {"disk_type": "flash", "count": 2, "size_gib": 3576, "mib_s": 2000}
    own = {"disks": [flash], "network_gbit_s": 10, "capex_usd": None, "kw": 0.0,
           "usd_per_hour": usd_per_hour, **SAME}  # fmt: skip
    measured = {"name": "m", "cores": 32, "network_gbit_s": 10,
                "disks": [{"disk_type": "flash", "count": 2, "mib_s": 2000}]}  # fmt: skip
    return offers({**host("same", 1.0, 1.0), **own}, measured_on=measured)


def test_a_terabyte_a_second_takes_four_thousand_instances() -> None:
    """250,000/s of 1 kB at 158 us are 0.25 GB/s of one instance: 1 TB/s takes 4,000, besides one that may
    fail in each cluster."""
    load = Load(1e9, "a", (Limit("READ", 99.0, 160e-6),), split=True, draws=200)
    found = size_operations(load, model(250e3, 158e-6), rented(1.0))
    assert isinstance(found, OperationsPlan), found
    up = found.hosts - found.clusters
    assert up == pytest.approx(4000, rel=0.06)
    assert found.latency_ms["READ p99"].q50 <= 0.160


def test_a_million_a_second_costs_what_the_study_paid() -> None:
    """1,000,000/s for 1.68 USD an hour: four hosts of 0.42, and one more that may fail."""
    load = Load(1e6, "a", draws=200)
    found = size_operations(load, model(250e3, 1e-3), rented(0.42))
    assert isinstance(found, OperationsPlan), found
    assert found.hosts in (5, 6)
    assert found.usd_per_hour == pytest.approx(found.hosts * 0.42)
    assert (found.hosts - 1) * 0.42 == pytest.approx(1.68, abs=0.43)


def test_a_latency_below_what_was_measured_is_refused() -> None:
    load = Load(1e9, "a", (Limit("READ", 99.0, 50e-6),), split=True, draws=200)
    assert isinstance(size_operations(load, model(250e3, 158e-6), rented(1.0)), Excuse)
