"""Guests reconciled with their host: by CPU time received from the host, not by the guests' own
count."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.workloads.monitors.facts import monitor_checks
from tests.unit.facts.made_rows import made_rows


def processes(nodes: list[dict[str, Any]], used: dict[str, float]) -> dict[str, Any]:
    """used: CPU use by scope. The host was used by 60 % over the whole window."""
    host = {"host": "h1", "scope": "host:h1", "cpu_used_whole": 60.0}
    metrics = [
        {"name": "cpu_used", "scope": scope, "value": value} for scope, value in used.items()
    ]
    return monitor_checks(made_rows({}, {"nodes": nodes, "host_cpu_usage": [host]}), metrics)


def node(number: int, received: float | None, throttled: float | None = None) -> dict[str, Any]:
    return {"node": f"w{number}", "host": "h1", "scope": f"node:w{number}", "cores": 1, "host_cores": 2,
            "host_cpu_share_percent": received, "throttled_percent": throttled}  # fmt: skip


@pytest.mark.parametrize(
    ("received", "host", "excess"), [((30.0, 25.0), 20.0, -5.0), ((None, None), 60.0, 40.0)]
)
def test_steal_time_is_not_use_of_the_host(
    received: tuple[float | None, float | None], host: float, excess: float
) -> None:
    """Two guests with one vCPU each, on a host with two cores: 100 % and 100 % busy by their own
    count. The host's figures cover the whole window, and are compared with its use of the whole
    window."""
    used = {"node:w1": 100.0, "node:w2": 100.0, "host:h1": host, "guest:w1.h1": 100.0}
    found = processes([node(n, received[n - 1]) for n in (1, 2)], used)
    assert found["cpu_excess"] == pytest.approx(excess)


def test_work_beside_containers_is_foreign() -> None:
    """They are on the host's kernel: what it did beyond their CPU time was done for others."""
    used = {"node:w1": 20.0, "node:w2": 20.0, "host:h1": 70.0}
    found = processes([node(n, 20.0, 5.0) for n in (1, 2)], used)
    assert found["foreign_cpu"] == pytest.approx(20.0)
