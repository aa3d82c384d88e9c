"""A study in containers: its rules, and its hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import assumed_hosts, planned_hosts
from density_study.workloads.study.study_file import parse_study

TEXT = """\
study: boxes
provider: container
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [0, 2]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""


def test_the_bare_host_has_a_control_variant_and_containers_have_addresses(tmp_path: Path) -> None:
    study = parse_study(TEXT, "s.yaml").study
    plan = make_plan(study, planned_hosts(study, tmp_path))
    shape = {t.name: (t.provider.name, t.isolation) for t in plan.topologies.values()}
    assert shape == {
        "v0-flash": ("local", "host"),
        "v0-r2-flash": ("local", "host"),
        "v2-flash": ("container", "container"),
    }
    (host,) = plan.topologies["v2-flash"].hosts
    assert host.containers is not None
    assert (host.containers.host_address, host.containers.cpus) == ("198.18.41.1", "quota")
    nodes = plan.topologies["v2-flash"].nodes
    assert [node.address for node in nodes] == [f"198.18.41.{n}" for n in (2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("factors", "ssh: {user: study}\nfactors", "only root makes containers"),
        ("factors", "ssh: {user: root}\nfactors", "loopback address"),
        ("[0, 2]", "[0]", "contains no container"),
        ("[0, 2]", "[2], regionservers_per_node: [2]", "a container has one RegionServer"),
        ("name: here", "name: here, address: 192.0.2.1", "runs on this machine only"),
        ("container\n", "local\ncontainers: {cpus: all}\n", "needs provider container"),
        ("factors", "containers: {network: 198.18.41.0/28}\nfactors", ""),
        ("[0, 2]", "[12]}\ncontainers: {network: 198.18.41.0/28", "too small for 14 containers"),
        ("factors", "containers: {network: 8.8.8.0/24}\nfactors", "is not private"),
        (
            "factors",
            "containers: {network: 198.18.41.0/30}\nfactors",
            "not between a /16 and a /28",
        ),
    ],
)
def test_faults_are_named(old: str, new: str, told: str) -> None:
    text = TEXT.replace(old, new, 1)
    if not told:
        parse_study(text, "s.yaml")
        return
    with pytest.raises(InputError, match=told):
        parse_study(text, "s.yaml")


HOSTS = """[
  {name: here, address: 192.0.2.1, memory: 6 GiB, roles: [master, worker, client]},
  {name: there, address: 192.0.2.2, memory: 6 GiB}]
ssh: {user: root}"""


def test_hosts_over_ssh_divide_the_network(tmp_path: Path) -> None:
    text = TEXT.replace("[{name: here, memory: 6 GiB, roles: [master, worker, client]}]", HOSTS)
    study = parse_study(text, "s.yaml").study
    plan = make_plan(study, assumed_hosts(study))
    shape = {t.name: (t.provider.name, t.isolation) for t in plan.topologies.values()}
    assert shape["v0-flash"] == ("physical", "host")
    assert shape["v2-flash"] == ("container-ssh", "container")
    topology = plan.topologies["v2-flash"]
    parts = {host.name: host.containers for host in topology.hosts}
    assert {name: part and part.network for name, part in parts.items()} == {
        "here": "198.18.41.0/25",
        "there": "198.18.41.128/25",
    }
    addresses = {node.name: node.address for node in topology.nodes}
    assert addresses == {
        **{"m1": "198.18.41.2", "c1": "198.18.41.3", "w1": "198.18.41.4", "w2": "198.18.41.5"},
        **{"w3": "198.18.41.130", "w4": "198.18.41.131"},
    }
    small = text.replace("factors", "containers: {network: 198.18.41.0/28}\nfactors")
    parse_study(small, "s.yaml")
    with pytest.raises(InputError, match="too small for 6 containers on each of 2 hosts"):
        parse_study(small.replace("[0, 2]", "[4]"), "s.yaml")
