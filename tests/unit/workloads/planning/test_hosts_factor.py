"""`factors.hosts`: a curve over hosts in one study."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml

from density_study.analysis.capacity.inputs.run_points import _group
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.placement import used_hosts
from density_study.cluster.providers.provider import machines_of_hosts
from density_study.cluster.providers.simulated.provider import SimulatedTransport
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.factors.hosts import HOSTS
from density_study.workloads.study.study_file import parse_study, read_study

CURVE = Path("workloads/studies/capacity-curve.yaml")


def planned() -> Plan:
    study = read_study(CURVE).study
    return make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))


def test_each_count_has_its_variants_with_so_many_worker_hosts() -> None:
    plan = planned()
    assert set(plan.topologies) == {f"v{v}-flash-{n}-hosts" for v in (1, 2) for n in (2, 3, 4)}
    for name, topology in plan.topologies.items():
        count = int(name.split("-")[2])
        workers = {node.host for node in topology.workers}
        assert workers == {f"worker{number}" for number in range(1, count + 1)}
        assert {host.name for host in topology.hosts if host.roles} == {"control", *workers}
        assert len(topology.workers) == count * topology.variant.vms_per_host


def test_idle_hosts_are_not_watched() -> None:
    for name, topology in planned().topologies.items():
        used = {"control", *(f"worker{number}" for number in range(1, int(name.split("-")[2]) + 1))}
        assert {one.name for one in machines_of_hosts(topology, SimulatedTransport())} == used


def test_a_host_with_another_role_keeps_it() -> None:
    hosts = [Host(f"h{n}", f"192.0.2.{n}", 4, 8192, (), roles) for n, roles in (
        (1, ("master", "worker")), (2, ("worker",)), (3, ("worker", "client")), (4, ("worker",)),
    )]  # fmt: skip
    used = [(host.name, host.roles) for host in used_hosts(hosts, 2)]
    assert used == [
        ("h1", ("master", "worker")),
        ("h2", ("worker",)),
        ("h3", ("client",)),
        ("h4", ()),
    ]
    assert used_hosts(hosts, None) == tuple(hosts)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"factors": {"vms_per_host": [1], "hosts": [2, 5]}},
            "5 worker hosts are requested; 4 have",
        ),
        ({"factors": {"vms_per_host": [1], "hosts": [2, 2]}}, "hosts"),
        ({"factors": {"vms_per_host": [1], "hosts": [1, 2]}}, "replication 2 exceeds the 1 worker"),
    ],
)
def test_counts_that_cannot_be_are_refused(change: dict[str, object], words: str) -> None:
    document = {**yaml.safe_load(CURVE.read_text()), **change}
    with pytest.raises(InputError, match=words):
        parse_study(yaml.safe_dump(document), "curve.yaml")


def test_counts_are_in_words_and_in_the_study_s_group_there_is_none() -> None:
    assert [HOSTS.words(name, "VM") for name in ("1-hosts", "3-hosts")] == ["1 host", "3 hosts"]
    row = pd.Series({"test_case": "ycsb-a-r1000-t8-at50pct", "levels": ["3-hosts", "hadoop-3.4.1"]})
    assert _group(row) == "ycsb-a-r1000-t8 hadoop-3.4.1"
