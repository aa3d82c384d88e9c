"""Power of hosts, and energy for each unit of work: by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from density_study.analysis.validity.judge import judge
from density_study.workloads.base.rows import OPS_S, Facts, metric
from density_study.workloads.monitors.facts.energy import energy_facts
from tests.unit.facts.made_rows import made_rows

THROUGHPUT = metric("throughput", OPS_S, 50.0)
DOMAINS = {"h1": {"package-0": 60.0, "package-0/dram": 15.0}, "h2": {"package-0": 25.0}}
METERS = {"h1": 200.0, "h2": 150.0}


def facts(
    *rates: dict[str, Any],
    domains: Mapping[str, Mapping[str, float]] = DOMAINS,
    meters: Mapping[str, float] | None = None,
    hosts: tuple[str, ...] = ("h1", "h2"),
    trial: Mapping[str, Any] | None = None,
    lost: str = "",
    lasted: int = 3,
) -> Facts:
    """Each domain and meter has 500 W in the ramp-up, then its watts as a mean of three seconds. lost: a
    source that ends after `lasted` of all five."""
    told = [("power", *one) for one in _flat(domains)]
    told += [("host_power", host, "meter", watts) for host, watts in (meters or {}).items()]
    series = [
        {"trial": "t", "host": host, "device": "energy", "source": source, "name": name,
         "unit": "W", "second": second, "value": 500.0 if second < 2 else watts + second - 3}
        for name, host, source, watts in told
        for second in range(lasted if source == lost else 5)
    ]  # fmt: skip
    monitors = [{"trial": "t", "kind": "energy", "host": host} for host in hosts]
    window = {"window_start_epoch_s": 100.0, "window_end_epoch_s": 105.0, "warm_up_s": 2.0}
    rows = made_rows({**window, **(trial or {})}, {"monitors": monitors, "device_series": series})
    return energy_facts(rows, rates)


def _flat(domains: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str, float]]:
    return [(host, source, w) for host, found in domains.items() for source, w in found.items()]


def values(found: Facts) -> list[tuple[Any, ...]]:
    return [(one["name"], one.get("scope"), one["unit"], one["value"]) for one in found.metrics]


def test_joules_of_an_operation_are_watts_of_all_hosts_over_the_rate() -> None:
    found = facts(THROUGHPUT, metric("latency", "ms", 3.0))
    assert values(found) == [
        ("power", "host:h1", "W", pytest.approx(75.0)),
        ("power", "host:h2", "W", pytest.approx(25.0)),
        ("energy_per_operation", None, "J", pytest.approx(2.0)),
    ]
    assert not judge(found.checks).flags
    assert values(facts(metric("throughput_job", "MiB/s", 20.0)))[-1] == (
        "energy_per_mib", None, "J/MiB", pytest.approx(5.0)
    )  # fmt: skip


def test_power_of_whole_hosts_is_not_added_to_that_of_their_packages() -> None:
    assert values(facts(THROUGHPUT, meters=METERS))[-3:] == [
        ("host_power", "host:h1", "W", pytest.approx(200.0)),
        ("host_power", "host:h2", "W", pytest.approx(150.0)),
        ("host_energy_per_operation", None, "J", pytest.approx(7.0)),
    ]
    alone = values(facts(THROUGHPUT, domains={}, meters=METERS))
    assert [one[0] for one in alone] == ["host_power"] * 2 + ["host_energy_per_operation"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"domains": {"h1": DOMAINS["h1"]}}, "packages and memory of h2 is unknown"),
        ({"domains": {}}, "packages and memory of h1, h2 is unknown"),
        ({"lost": "package-0/dram"}, "packages and memory of h1 is unknown"),
        ({"domains": {"h1": DOMAINS["h1"]}, "meters": {"h2": 150.0}},
         "packages and memory of h2; power of the whole machine of h1 is unknown"),
        ({"trial": {"existing": True}}, "packages and memory of the cluster's hosts is unknown"),
    ],
)  # fmt: skip
def test_what_some_hosts_do_not_show_has_no_sum(given: dict[str, Any], why: str) -> None:
    found = facts(THROUGHPUT, **given)
    assert {one[3] for one in values(found) if "per_operation" in one[0]} == {None}
    (flag,) = judge(found.checks).flags
    assert flag.startswith("energy: ") and why in flag


@pytest.mark.parametrize("lasted", [1, 3])
def test_a_meter_that_shows_power_for_some_seconds_is_unknown_and_not_absent(lasted: int) -> None:
    """Its number was left out without a word: the trial looked like one without a meter."""
    found = facts(THROUGHPUT, meters=METERS, lost="meter", lasted=lasted)
    by_name = {(one[0], one[1]): one[3] for one in values(found)}
    assert by_name["energy_per_operation", None] == pytest.approx(2.0)
    assert by_name["host_energy_per_operation", None] is None
    (flag,) = judge(found.checks).flags
    assert "energy: power of the whole machine of h1, h2 is unknown" in flag


def test_a_guest_has_no_power_of_its_own() -> None:
    found = facts(THROUGHPUT, hosts=("h1", "h2", "w1.h1"))
    assert values(found)[-1][3] == pytest.approx(2.0)
    assert not judge(found.checks).flags


def test_without_the_device_there_is_no_number() -> None:
    assert facts(THROUGHPUT, hosts=()) == Facts()
