"""What containers need of this machine: each thing that is missing is named, with a remedy."""

from __future__ import annotations

import json
import os
import re
import subprocess
from types import SimpleNamespace

import pytest

from density_study.cluster.machine import cgroups
from density_study.cluster.machine import container_needs as needs
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.container import names

NETWORKS = ["198.18.41.0/24"]
RUNC = "runc version 1.1.5+ds1\nspec: 1.0.2-dev\n"
ROUTES = [{"dst": "default", "dev": "eth0"}, {"dst": "192.0.2.0/24", "dev": "eth0"}]


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has everything."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "missing", lambda _: [])
    monkeypatch.setattr(os, "access", lambda *_: True)
    answers(monkeypatch, RUNC, ROUTES)


def answers(monkeypatch: pytest.MonkeyPatch, runc: str, routes: list[dict[str, str]]) -> None:
    def run(argv: list[str], *_: object, **__: object) -> subprocess.CompletedProcess[str]:
        text = runc if argv[0] == "runc" else json.dumps(routes)
        return subprocess.CompletedProcess(argv, 0, text, "")

    monkeypatch.setattr(needs, "run", run)


def refused(told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        needs.check_machine(NETWORKS, False)
    assert caught.value.remedy


def test_a_machine_with_everything_is_accepted() -> None:
    needs.check_machine(NETWORKS, False)


def test_only_root_makes_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    refused("need root")


@pytest.mark.parametrize("told", ["runc version 1.0.0~rc93\n", ""])
def test_an_older_runc_is_refused(monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    answers(monkeypatch, told, ROUTES)
    refused(r"runc 1\.1 or later is needed")


def test_missing_controllers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        cgroups, "missing", lambda wanted: [one for one in wanted if one == "memory"]
    )
    refused("no cgroup controller memory")


def test_cgroups_that_cannot_be_written_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    refused("cannot make cgroups")


@pytest.mark.parametrize("dst", ["198.18.41.0/24", "198.18.0.0/15", "198.18.41.7"])
def test_a_network_that_is_in_use_is_refused(monkeypatch: pytest.MonkeyPatch, dst: str) -> None:
    answers(monkeypatch, RUNC, [*ROUTES, {"dst": dst, "dev": "eth1"}])
    refused(f"reaches {dst} by eth1")


def test_of_a_run_whose_folder_was_deleted_the_commands_that_remove_it_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tag = "causes/20261126T213244Z/b1-v3-flash"
    bridge, network = names.bridge_name(tag), names.container_id(tag, "here", "w1")
    answers(monkeypatch, RUNC, [*ROUTES, {"dst": "198.18.41.0/24", "dev": bridge}])
    with pytest.raises(InputError) as caught:
        needs.check_machine(NETWORKS, False)
    pattern = re.search(r"grep -o '([^']*)'", caught.value.remedy)
    assert pattern and re.findall(pattern[1], f"{network} (id: 2)") == [network]
    assert f"ip link delete {bridge}" in caught.value.remedy


def ways(monkeypatch: pytest.MonkeyPatch, forwards: str, **way: str) -> None:
    """Of a machine to every other one."""

    def run(argv: list[str], *_: object, **__: object) -> subprocess.CompletedProcess[str]:
        found = [{"dst": argv[-1], **way}] if "get" in argv else ROUTES
        return subprocess.CompletedProcess(argv, 0, json.dumps(found), "")

    monkeypatch.setattr(needs, "run", run)
    file = SimpleNamespace(read_text=lambda: f"{forwards}\n")
    monkeypatch.setattr(needs, "FORWARDS", file)


def test_a_host_that_forwards_on_one_link_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    ways(monkeypatch, "1", dev="eth0")
    needs.check_routes(NETWORKS, ["192.0.2.7"], True)
    ways(monkeypatch, "0", dev="eth0")
    needs.check_routes(NETWORKS, ["192.0.2.7"], False)  # the controller has no containers


@pytest.mark.parametrize(
    ("forwards", "way", "told"),
    [
        ("0", {"dev": "eth0"}, "does not forward packets"),
        ("1", {"dev": "eth0", "gateway": "192.0.2.1"}, r"by the router 192\.0\.2\.1"),
    ],
)
def test_a_host_that_cannot_route_is_refused(
    monkeypatch: pytest.MonkeyPatch, forwards: str, way: dict[str, str], told: str
) -> None:
    ways(monkeypatch, forwards, **way)
    with pytest.raises(InputError, match=told) as caught:
        needs.check_routes(NETWORKS, ["192.0.2.7"], True)
    assert caught.value.remedy
