"""A table is loaded once on hosts over SSH; the next build gets it from a copy on the client's host."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.state.events import TableCopied, TableNotCopied, TablePutBack
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import controlling, lab, left_on, physical_spec

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

ROWS = 60_000
SPEC = """
study: live-load-once
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0], regionservers_per_node: [1, 2]}
stack: {replication: 1, jit: c1}
workloads:
  - ycsb: {records: [60_000], mixes: [c], threads: [4], regions_per_server: 3, duration: 6 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: steady, load_once: true}
repetitions: 1
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        yield made


def test_the_second_build_loads_nothing_and_nothing_is_left(hosts: Hosts, tmp_path: Path) -> None:
    with controlling(hosts, tmp_path):
        run = open_run(physical_spec(hosts, SPEC, tmp_path / "spec.yaml"), tmp_path / "runs")
        try:
            for step in steps_left(run):
                ended = carry_out(run, step)
                assert ended.outcome == "ok", ended.message
            assert run.journal.events(TableNotCopied) == []
            (copied,), (put,) = run.journal.events(TableCopied), run.journal.events(TablePutBack)
            assert hosts.on("m1", "ls", copied.path).split()
        finally:
            close_run(run)
        assert copied.state.rows == ROWS and put.name == copied.name
        first, later = sorted(closed_records(run.records).values(), key=lambda one: one.order)
        loads = [
            len([*run.records.glob(f"{one.build}-*/logs/ycsb-1.out")]) for one in (first, later)
        ]
        assert loads == [1, 0]
        for name in hosts.names:
            assert left_on(hosts, name) == [], name
