"""A study on hosts over SSH: HDFS, YARN and HBase up, measured, torn down; and failures on the way.

Four hosts made of namespaces (`tests.hosts`): a master that is also the client, and three workers,
default ports on each. One of them has no stack yet, so that each run copies and verifies one.
`make test` runs tests/live/ssh/test_over_ssh.py, which is smaller.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.errors import SeveralError
from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.state.journal import Journal
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import StepOutcome, carry_out, close_run, steps_left
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import (
    SECRET,
    check_whole_study,
    controlling,
    lab,
    left_on,
    physical_spec,
)

pytestmark = pytest.mark.timeout(900)

SMALL = """
study: live-physical
question: Does the whole path hold over SSH?
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
workloads:
  - testdfsio: {modes: [random], files: 3, file_size: 16 MiB}
seed: 7
"""
DYING = """
study: dying-physical
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0], regionservers_per_node: [1, 2]}
workloads:
  - ycsb: {records: [5_000], mixes: [read45-insert55], threads: [1, 2], duration: 30 s, warm_up: 2 s,
           warm_up_daemons: off}
seed: 7
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1", "h2", "h3"], cold=("h3",)) as made:
        yield made


@pytest.fixture
def controller(hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SOME_PASSWORD", SECRET)
    with controlling(hosts, tmp_path):
        yield


@pytest.mark.usefixtures("controller")
def test_a_study_over_ssh_from_its_file_to_its_records(hosts: Hosts, tmp_path: Path) -> None:
    check_whole_study(hosts, physical_spec(hosts, SMALL, tmp_path / "spec.yaml"), tmp_path / "runs")


@pytest.mark.usefixtures("controller")
def test_the_study_continues_after_a_dead_regionserver_and_a_dead_host(
    hosts: Hosts, tmp_path: Path
) -> None:
    run = open_run(physical_spec(hosts, DYING, tmp_path / "spec.yaml"), tmp_path / "runs")
    outcomes: list[StepOutcome] = []
    builds = _builds(run)
    try:
        for step in steps_left(run):
            victim = None
            if step.kind == "trial" and not any(o.step.build == step.build and o.step.kind == "trial"
                                                for o in outcomes):  # fmt: skip
                victim = _kill_regionserver if step.build == builds[0] else _power_off
            outcomes.append(_ended(run, step, hosts, victim))
        with pytest.raises(SeveralError, match="host h3"):  # of both builds
            close_run(run)
    finally:
        hosts.boot("h3")
        close_channels()
        run.journal.write("run-ended", outcome="failed", message="")
        reap(tmp_path / "runs")
    _check_what_died(run, builds)
    for name in hosts.names:
        assert left_on(hosts, name) == [], name


@pytest.mark.usefixtures("controller")
def test_the_study_continues_after_a_dead_datanode_and_a_reboot(
    hosts: Hosts, tmp_path: Path
) -> None:
    run = open_run(physical_spec(hosts, DYING, tmp_path / "spec.yaml"), tmp_path / "runs")
    builds = _builds(run)
    begun: set[str] = set()
    try:
        for step in steps_left(run):
            first_trial = step.kind == "trial" and step.build not in begun
            if step.kind == "trial" and step.build == builds[1] and not first_trial:
                hosts.kill("h3")
                hosts.boot("h3")
            if step.kind == "trial":
                begun.add(step.build)
            kills = first_trial and step.build == builds[0]
            ended = _ended(run, step, hosts, _kill_datanode if kills else None)
            assert ended.outcome == "ok" or step.kind == "trial", ended.message
    finally:
        close_run(run)
        close_channels()
    first, second = _records_of(run, builds)
    assert [m.state for m in first] == ["failed", "incomplete"]
    assert "datanode on w1 died" in " ".join(first[0].reasons), first[0].reasons
    assert [m.state for m in second] == ["complete", "incomplete"]
    # the old connection breaks, or a new one finds no daemon
    (reason,) = second[1].reasons
    assert "on w3" in reason or "host 'h3'" in reason, reason
    for name in hosts.names:
        assert left_on(hosts, name) == [], name


def _builds(run: Run) -> list[str]:
    return list(dict.fromkeys(step.build for step in run.plan.steps))


def _records_of(run: Run, builds: list[str]) -> list[list[Manifest]]:
    """Of each build, in their planned order."""
    records = closed_records(run.records)
    pairs = [(step.build, records[str(step.trial)]) for step in run.plan.trials]
    return [[manifest for build, manifest in pairs if build == name] for name in builds]


def _check_what_died(run: Run, builds: list[str]) -> None:
    first, second = _records_of(run, builds)
    assert [m.state for m in first] == ["failed", "incomplete"]
    assert "regionserver-1 on w1 died" in first[0].reasons[0]
    assert "not intact" in first[1].reasons[0]
    assert [m.state for m in second] == ["incomplete", "incomplete"]
    assert "host 'h3'" in second[0].reasons[0]


def _ended(run: Run, step: Step, hosts: Hosts, victim: Any) -> StepOutcome:
    """The step; `victim` is killed during its trial."""
    import threading
    import time

    def strike() -> None:
        began = len(_lines(run))
        while not any(e.get("state") == "running" for e in _lines(run)[began:]):
            time.sleep(0.2)
        time.sleep(2)
        victim(hosts)

    thread = threading.Thread(target=strike, daemon=True)
    if victim:
        thread.start()
    return carry_out(run, step)


def _lines(run: Run) -> list[dict[str, Any]]:
    return list(Journal(run.root / "journal.jsonl").read())


def _kill_regionserver(hosts: Hosts) -> None:
    hosts.on("h1", "pkill", "-9", "-f", "HRegionServer")


def _kill_datanode(hosts: Hosts) -> None:
    hosts.on("h1", "pkill", "-9", "-f", "datanode.DataNode")


def _power_off(hosts: Hosts) -> None:
    hosts.kill("h3")
