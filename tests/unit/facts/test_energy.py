"""Power of hosts, and energy for each unit of work: by hand."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.workloads.base.rows import OPS_S, metric
from density_study.workloads.monitors.facts.energy import energy_metrics
from tests.unit.facts.made_rows import made_rows

THROUGHPUT = metric("throughput", OPS_S, 50.0)


def found(*rates: dict[str, Any], hosts: tuple[str, ...] = ("h1", "h2"), silent: str = "") -> Any:
    """h1 with two domains of 60 W and 15 W, h2 with one of 25 W; 500 W each in the ramp-up."""
    domains = {"h1": {"package-0": 60.0, "package-0/dram": 15.0}, "h2": {"package-0": 25.0}}
    series = [
        {"trial": "t", "host": host, "device": "energy", "source": source, "name": "power",
         "unit": "W", "second": second, "value": 500.0 if second < 2 else watts + second - 3}
        for host, by_source in domains.items() if host != silent
        for source, watts in by_source.items()
        for second in range(5)
    ]  # fmt: skip
    monitors = [{"trial": "t", "kind": "energy", "host": host} for host in hosts]
    rows = made_rows({"warm_up_s": 2.0}, {"monitors": monitors, "device_series": series})
    return [
        (one["name"], one.get("scope"), one["unit"], one["value"])
        for one in energy_metrics(rows, rates)
    ]


def test_joules_of_an_operation_are_watts_of_all_hosts_over_the_rate() -> None:
    assert found(THROUGHPUT, metric("latency", "ms", 3.0)) == [
        ("power", "host:h1", "W", pytest.approx(75.0)),
        ("power", "host:h2", "W", pytest.approx(25.0)),
        ("energy_per_operation", None, "J", pytest.approx(2.0)),
    ]
    assert found(metric("throughput_job", "MiB/s", 20.0))[-1] == (
        "energy_per_mib", None, "J/MiB", pytest.approx(5.0)
    )  # fmt: skip


def test_a_host_that_did_not_tell_makes_the_whole_unknown() -> None:
    assert found(THROUGHPUT, silent="h2")[1:] == [
        ("power", "host:h2", "W", None), ("energy_per_operation", None, "J", None)
    ]  # fmt: skip


def test_without_the_device_nothing_is_told() -> None:
    assert found(THROUGHPUT, hosts=()) == []
