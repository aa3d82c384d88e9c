"""A duet on hosts over SSH: both clusters share the hosts' addresses, and leave nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import controlling, lab, left_on, physical_spec

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = """
study: live-duet-ssh
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors:
  vms_per_host: [0]
  configuration:
    cached: {}
    uncached: {hbase-site: {hfile.block.cache.size: 0}}
stack: {replication: 1, jit: c1}
workloads:
  - ycsb: {records: [5_000], mixes: [c], threads: [4], duration: 12 s, warm_up: 2 s, warm_up_client: 3 s,
           warm_up_daemons: off}
duet: 3 s
questions: []
repetitions: 1
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        yield made


def test_two_clusters_share_hosts_over_ssh(hosts: Hosts, tmp_path: Path) -> None:
    spec = physical_spec(hosts, SPEC, tmp_path / "spec.yaml")
    doubled = spec.read_text().replace("2400 MiB", "4800 MiB").replace("1920 MiB", "3840 MiB")
    spec.write_text(doubled)
    with controlling(hosts, tmp_path):
        run = open_run(spec, tmp_path / "runs")
        try:
            for step in steps_left(run):
                ended = carry_out(run, step)
                assert ended.outcome == "ok", ended.message
        finally:
            close_run(run)
        first, second = closed_records(run.records).values()
        assert (first.state, second.state) == ("complete", "complete")
        assert first.turns and second.turns
        assert sum(end - begin for begin, end in first.turns.own) == pytest.approx(12, abs=0.1)
        for one in (first, second):  # the warm-up of the clients is before their turns
            assert one.window is not None
            assert one.window.end_epoch_s - one.window.start_epoch_s == pytest.approx(15, abs=0.1)
        assert {monitor.host for monitor in first.monitors} == set(hosts.names)
        for name in hosts.names:
            assert left_on(hosts, name) == [], name
