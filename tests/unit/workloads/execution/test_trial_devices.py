"""Which monitors run in a trial, and which daemons each machine's devices watch."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.state.journal import Journal
from density_study.workloads.execution import trial
from density_study.workloads.execution.monitoring import daemons_of
from density_study.workloads.execution.run import Run
from density_study.workloads.monitors import MONITORS
from density_study.workloads.planning.plan import Step
from tests.support.drafts import plan, study
from tests.support.made_runs.fake_trial import Monitors, Runner

CHOSEN = {"monitor.also": ["network", "gc"], "monitor.overhead_trials": 1}


class Seen(Monitors):
    kinds: ClassVar[set[str]] = set()

    def __init__(self, _context: Any, _period_s: float, kinds: Any, _machines: Any) -> None:
        Seen.kinds = set(kinds)


def kinds_in(step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    run = Run(tmp_path, study(**CHOSEN), plan(**CHOSEN), Journal(tmp_path / "journal.jsonl"))
    cluster: Any = SimpleNamespace(
        topology=run.plan.topology_of(step.build), site=run.site(step.build), processes=(), phases=(),
        disclosure={}, endpoints=Endpoints(),
    )  # fmt: skip
    monkeypatch.setattr(trial, "kind_of", lambda _: SimpleNamespace(runner=lambda: Runner()))
    monkeypatch.setattr(trial, "Monitors", Seen)
    transport: Any = SimpleNamespace(dead=lambda _: [])
    trial.run_trial(run, step, cluster, transport)
    return Seen.kinds


def test_a_trial_has_the_studys_devices_and_a_pair_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = {
        (step.overhead_of, step.devices, step.monitored): step for step in plan(**CHOSEN).trials
    }
    expected: dict[Any, set[str]] = {
        (None, None, True): {*MONITORS, "network", "gc"},
        (None, None, False): set(),
        ("network", ("network",), True): {*MONITORS, "network"},
        ("network", (), True): set(MONITORS),
        ("gc", ("gc",), True): {*MONITORS, "gc"},
        ("gc", (), True): set(MONITORS),
    }
    assert set(steps) == set(expected)
    for key, step in steps.items():
        assert kinds_in(step, tmp_path / str(step.index), monkeypatch) == expected[key], key


def test_daemons_of_an_existing_cluster_are_asked_by_the_clients_machine() -> None:
    client = SimpleNamespace(name="c1", host="here")
    cluster: Any = SimpleNamespace(
        topology=SimpleNamespace(nodes=[client], client=client),
        endpoints=Endpoints({"others.jmx": {"n1/namenode": "a", "n2/datanode": "b"}}),
    )
    machines: Any = [SimpleNamespace(name=name) for name in ("here", "n2")]
    assert daemons_of(cluster, machines) == {
        "here": {"n1/namenode": "a", "n2/datanode": "b"},
        "n2": {},
    }


def _cluster(nodes: dict[str, str], daemons: dict[str, str]) -> Any:
    return SimpleNamespace(
        topology=SimpleNamespace(
            nodes=[SimpleNamespace(name=node, host=host) for node, host in nodes.items()]
        ),
        endpoints=Endpoints({"jmx": daemons}),
    )


def test_a_daemon_is_watched_by_its_guest_or_its_host() -> None:
    cluster = _cluster(
        {"m1": "h1", "w1": "h1", "w2": "h2"},
        {"m1/namenode": "a", "w1/datanode": "b", "w1/regionserver-1": "c", "w2/datanode": "d"},
    )
    machines: Any = [SimpleNamespace(name=name) for name in ("h1", "h2", "w1.h1")]
    assert daemons_of(cluster, machines) == {
        "h1": {"m1/namenode": "a"},
        "w1.h1": {"w1/datanode": "b", "w1/regionserver-1": "c"},
        "h2": {"w2/datanode": "d"},
    }
