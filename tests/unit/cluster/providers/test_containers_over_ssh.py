"""Containers of one host among several: what is asked of it, in which order, and what is removed there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any

import pytest

from density_study.cluster.machine import containers as on_host
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import NumaNode
from density_study.cluster.model.errors import FaultsError, InputError, SeveralError, StudyError
from density_study.cluster.model.host import ContainerHost, Disk, Host, Login, Role, Target
from density_study.cluster.model.network import Network
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.container import over_ssh, removal
from density_study.cluster.providers.container.container import check_shares, containers, network_of
from density_study.cluster.providers.container.making import Maker
from density_study.cluster.providers.container.names import bridge_name, container_id, link_name
from density_study.cluster.providers.container.over_ssh import ContainerOverSshProvider
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.state.journal import Journal
from tests.support.topologies import layout_of

TAG = "s/r/b1"
SITE = Site(Path("/runs/s/r/builds/b1"), TAG)
WORK = Path("/var/tmp/density-study-root/builds") / TAG
FACTS = {"cgroup_version": 1, "cpus": [], "devices": {}}


def topology() -> Topology:
    hosts = []
    everything: tuple[Role, ...] = ("master", "worker", "client")
    for name, number, roles in (("h1", 0, everything), ("h2", 64, everything[1:2])):
        addresses = tuple(f"198.18.41.{number + n}" for n in range(2, 8))
        carries = ContainerHost(addresses, f"198.18.41.{number}/26", f"198.18.41.{number + 1}")
        disk, login = Disk("/mnt", "flash"), Login("root", 22, "/known_hosts")
        at = f"192.0.2.{number + 1}"
        hosts.append(Host(name, at, 2, 6144, (disk,), roles, None, login, containers=carries))
    layout = layout_of("container-ssh")
    return place(tuple(hosts), [Variant(2, 1, "flash", network=Network(mtu=9000))], layout)[0]


class Asked:
    """A host that does nothing, and the journal's acts so far at each request."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.requests: list[tuple[str, tuple[Any, ...]]] = []
        self.intended: list[list[str]] = []

    def __call__(self, name: str, *arguments: Any) -> Any:
        assert name in HOST_COMMANDS
        self.requests.append((name, arguments))
        self.intended.append([intent.act for intent in self.journal.intents()])
        return [7, 8] if name == "start-container" else {}


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


@pytest.fixture
def asked(journal: Journal) -> Asked:
    """Of h2, which carries w3 and w4."""
    there, act = topology(), Asked(journal)
    made = containers(SITE, there, {"h1": (), "h2": ()}, WORK, WORK, (WORK.parents[3],))
    maker = Maker(SITE, journal, act, FACTS, ("python3",), there.variant.network, "h2")
    here = [one for one in made if one.node.host == "h2"]
    names = {node.address: node.name for node in there.nodes}
    maker.make(here, network_of(there.hosts[1]), names, {"198.18.41.0/26": "192.0.2.1"})
    return act


def test_every_act_on_a_host_is_in_the_journal_before(asked: Asked, journal: Journal) -> None:
    assert [name for name, _ in asked.requests] == [
        *("make-bridge", "add-route"),
        *("make-container-network", "shape-container", "start-container") * 2,
    ]
    intents = ["make-bridge", "make-route", "make-netns", "make-container"]
    assert [len(acts) for acts in asked.intended] == [1, 2, 3, 3, 4, 5, 5, 6]
    assert asked.intended[4] == intents
    assert {intent.host for intent in journal.intents()} == {"h2"}


def test_a_container_knows_every_node_and_its_way_out(asked: Asked) -> None:
    requests = dict(reversed(asked.requests))
    assert requests["make-bridge"][2] == "198.18.41.65/26"
    name = container_id(TAG, "h2", "w3")
    assert name.endswith("-h2.w3")
    assert requests["make-container-network"][1:] == (
        *(name, link_name(TAG, "w3"), bridge_name(TAG)),
        *("198.18.41.66/26", "198.18.41.65", 0),
    )
    assert requests["shape-container"][3] == {"mtu": 9000}
    _, _, bundle, files = requests["start-container"]
    assert bundle == str(WORK / "containers" / "w3")
    known = files["hosts"].splitlines()
    assert {"198.18.41.2 m1", "198.18.41.4 w1", "198.18.41.67 w4", "198.18.41.65 host"} < set(known)
    assert f'"{WORK}"' in files["config.json"]
    assert '"/mnt/density-study/s/r/b1/w3"' in files["config.json"]


def test_only_what_the_journal_names_on_a_host_is_removed_there(
    asked: Asked, journal: Journal
) -> None:
    asked.requests.clear()
    removal.remove(asked, TAG, journal, "h2")
    names = [container_id(TAG, "h2", node) for node in ("w3", "w4")]
    links = [*(link_name(TAG, node) for node in ("w3", "w4")), bridge_name(TAG)]
    routes = [["198.18.41.0/26", "192.0.2.1"]]
    assert asked.requests == [("remove-containers", (TAG, names, links, routes))]
    removal.remove(asked, TAG, journal, "h1")
    assert removal.find(asked, TAG, journal) == []
    assert removal.find(asked, "s/r/b2", journal, "h2") == []
    assert len(asked.requests) == 1


def test_every_host_that_cannot_carry_containers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def on(target: Target) -> Any:
        def refuse(*_: Any) -> None:
            raise InputError("no cgroups.", target.host, "mount them.")

        return refuse

    monkeypatch.setattr(over_ssh, "check_programs", lambda _: None)
    monkeypatch.setattr(over_ssh, "_on", on)
    with pytest.raises(FaultsError) as caught:
        over_ssh._check_hosts(topology())
    assert [fault.where for fault in caught.value.faults] == ["h1", "h2"]


def test_every_host_whose_cores_cannot_be_dealt_out_is_named() -> None:
    there = topology()
    hosts = tuple(
        replace(host, containers=replace(host.containers, cpus="pinned"))  # type: ignore[type-var]
        for host in there.hosts
    )
    one_core = (NumaNode(0, ((0,),)),)
    with pytest.raises(FaultsError) as caught:
        check_shares(replace(there, hosts=hosts), {"h1": one_core, "h2": one_core})
    assert ["h1" in fault.where for fault in caught.value.faults] == [True, False]


def test_every_host_that_reaches_no_others_containers_is_named(
    monkeypatch: pytest.MonkeyPatch, journal: Journal
) -> None:
    there = topology()
    made = containers(SITE, there, {"h1": (), "h2": ()}, WORK, WORK, (WORK.parents[3],))
    monkeypatch.setattr(over_ssh, "_on", lambda _: lambda *_: ["198.18.41.2"])
    monkeypatch.setattr(over_ssh, "act", lambda *_: [])
    reach = {node.name: Target(node.host, "192.0.2.1", 22, "root", "") for node in there.nodes}
    with pytest.raises(SeveralError) as caught:
        over_ssh._prove_reach(SshBuild(SITE, journal, reach, WORK), made)
    assert sorted(fault.what for fault in caught.value.faults) == [
        f"containers at 198.18.41.2 do not answer to {host}." for host in ("h1", "h2")
    ]


@pytest.mark.parametrize(
    "look", [lambda: on_host.unreached("c", ["192.0.2.1"]), lambda: on_host._leads(TAG, "n", "v")]
)
def test_a_program_that_fails_has_not_found_nothing(
    look: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = CompletedProcess([], 1, "", "Cannot open network namespace")
    monkeypatch.setattr(on_host, "run", lambda *_: done)
    with pytest.raises(StudyError, match="Cannot open network namespace"):
        look()


def test_a_container_that_hangs_keeps_nothing_else_there(
    monkeypatch: pytest.MonkeyPatch, journal: Journal
) -> None:
    """runc waits for a process that waits for its disk."""
    names = [container_id(TAG, "h2", node) for node in ("w3", "w4")]
    found = dict.fromkeys(("container", "cgroup", "network namespace"), names)
    monkeypatch.setattr(on_host, "_found", lambda *_: {**found, "network interface": []})
    ran: list[Sequence[str]] = []

    def run(argv: Sequence[str], **_: Any) -> None:
        ran.append(argv)
        if argv[-1] == names[0]:
            raise TimeoutExpired(argv, 60.0)

    monkeypatch.setattr(on_host.subprocess, "run", run)
    with pytest.raises(SeveralError, match=f"runc delete --force {names[0]}: it did not end"):
        on_host.remove(TAG, names, [], [])
    assert [argv[0] for argv in ran] == ["runc", "runc", "ip", "ip"]


def test_a_machines_table_of_flows_is_in_the_journal_before_and_put_back_at_last(
    journal: Journal,
) -> None:
    there, former = topology(), {"/proc/table": "0"}
    made = containers(SITE, there, {"h1": (), "h2": ()}, WORK, WORK, (WORK.parents[3],))

    class WithTable(Asked):
        def __call__(self, name: str, *arguments: Any) -> Any:
            answer = super().__call__(name, *arguments)
            known = {"flow-table": former, "files-changed": ["table of flows"]}
            return known.get(name, answer)

    asked = WithTable(journal)
    maker = Maker(SITE, journal, asked, FACTS, ("python3",), Network(rfs=4096), "h1")
    here = [one for one in made if one.node.host == "h1"]
    maker.make(here, network_of(there.hosts[0]), {}, {})
    names = [name for name, _ in asked.requests]
    assert names[:4] == ["make-bridge", "flow-table", "make-container-network", "shape-container"]
    assert "set-flow-table" in asked.intended[2]
    (intent,) = journal.intents("set-flow-table", TAG)
    assert (intent.host, intent.former) == ("h1", former)
    asked.requests.clear()
    assert removal.find(asked, TAG, journal, "h1") == ["changed table of flows on host h1"]
    removal.remove(asked, TAG, journal, "h1")
    assert asked.requests[-1] == ("restore-files", (former,))
    asked.requests.clear()
    removal.remove(asked, TAG, journal, "h2")
    assert asked.requests == []


def test_what_is_left_says_where(asked: Asked, journal: Journal) -> None:
    def act(name: str, *_: Any) -> dict[str, list[str]]:
        assert name == "find-containers"
        return {"container": ["one"], "route": ["198.18.41.0/26 via 192.0.2.1"]}

    assert removal.find(act, TAG, journal, "h2") == [
        "container one on host h2",
        "route 198.18.41.0/26 via 192.0.2.1 on host h2",
    ]


def test_an_address_that_refuses_answers() -> None:
    assert on_host.unreached("", ["127.0.0.1"]) == []
    assert on_host.unreached("", ["256.0.0.1"]) == ["256.0.0.1"]


def test_the_bare_hosts_of_containers_over_ssh_are_physical() -> None:
    assert isinstance(provider_named("container-ssh"), ContainerOverSshProvider)
    layout = layout_of("container-ssh")
    bare = place(topology().hosts, [Variant(0, 1, "flash"), Variant(2, 1, "flash")], layout)[0]
    assert (bare.provider.name, bare.isolation) == ("physical", "host")
    assert {node.address for node in bare.nodes} == {"192.0.2.1", "192.0.2.65"}
