"""Facts of several clients, on made logs: their lateness, their overlap, and the slowest one's lag."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.jobs.facts.trial import trial_facts
from density_study.workloads.ycsb.facts.intervals import closed_loop, together_checks
from tests.unit.facts.made_rows import made_rows

GO_S = 1_700_000_000.0
Client = tuple[float, int, int]
"""First operation after the common start in s, seconds of work, operations per second."""


def facts(*clients: Client, target: float | None = None, threads: int = 4) -> dict[str, Any]:
    named = {f"ycsb-{number}": client for number, client in enumerate(clients, 1)}
    rows = made_rows({"target_ops_s": target}, {
        "clients": (
            {"client": name, "begin_epoch_s": GO_S, "threads": threads * (2 if name == "ycsb-2" else 1)}
            for name in named
        ),
        "ycsb_histograms": (
            {"client": name, "operation": "READ", "kind": "closed-loop",
             "begun_s": GO_S + late_s + second, "length_s": 1.0, "operations": rate,
             "counted": rate, "measured": second >= 2}
            for name, (late_s, seconds, rate) in named.items() for second in range(seconds)
        ),
    })  # fmt: skip
    return together_checks(rows, closed_loop(rows))


def test_clients_that_share_the_load_evenly() -> None:
    """The second has twice the threads, and does twice the work."""
    found = facts((0.25, 20, 100), (0.5, 20, 200))
    assert found["started_together"]
    assert found["client_late_s"] == pytest.approx(0.5)
    assert found["clients_overlap"] == pytest.approx(19.75 / 20.25)
    assert found["client_lag"] == pytest.approx(1.0)


def test_a_slow_client_lags_and_a_target_is_shared_evenly() -> None:
    assert facts((0, 20, 100), (0, 20, 100))["client_lag"] == pytest.approx(0.5)
    even = facts((0, 20, 100), (0, 20, 100), target=200.0)
    assert even["client_lag"] == pytest.approx(1.0)


def test_an_early_client_is_as_far_off_as_a_late_one() -> None:
    assert facts((-5.0, 20, 9), (0.0, 20, 18))["client_late_s"] == pytest.approx(5.0)


def test_clients_that_never_worked_together_do_not_overlap() -> None:
    assert facts((0.0, 5, 9), (9.0, 5, 18))["clients_overlap"] == 0.0


def test_a_client_without_a_log_leaves_the_facts_unknown() -> None:
    found = facts((0.0, 20, 9), (0.0, 0, 9))
    assert found["started_together"]
    assert (found["client_late_s"], found["clients_overlap"], found["client_lag"]) == (None,) * 3


@pytest.mark.parametrize(("clients", "share"), [(1, None), (2, pytest.approx(0.9))])
def test_one_client_of_a_duet_that_is_busy_flags_its_trial(clients: int, share: Any) -> None:
    """It begins together with the other trial's; as the only one it does not invalidate its own."""
    trial = {"workload": "ycsb", "state_reasons": [], "warm_up_s": 0.0}
    node = {"node": "c", "host": "h", "scope": "client", "roles": ["client"], "cores": 2,
            "host_cores": 2}  # fmt: skip
    ticks = {"node": "c", "host": "h", "user_ticks": 90, "system_ticks": 0, "capacity_ticks": 100}
    started = [{"client": f"ycsb-{n}", "begin_epoch_s": GO_S} for n in range(clients)]
    rows = made_rows(trial, {"clients": started, "nodes": [node], "node_cpu_usage": [ticks]})
    checks = trial_facts(rows).checks
    assert checks["started_together"]
    assert (checks["client_cpu_share"], checks["clients_cpu_share"]) == (pytest.approx(0.9), share)
