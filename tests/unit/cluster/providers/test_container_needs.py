"""What containers need of this machine: each thing that is missing is named, with a remedy."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import ContainerHost, Host
from density_study.cluster.providers.container import cgroups, programs

CARRIES = ContainerHost(("198.18.41.2",), "198.18.41.0/24", "198.18.41.1")
HOST = Host("here", "127.0.0.1", 2, 4096, (), containers=CARRIES)
RUNC = "runc version 1.1.5+ds1\nspec: 1.0.2-dev\n"
ROUTES = [{"dst": "default", "dev": "eth0"}, {"dst": "192.0.2.0/24", "dev": "eth0"}]


@pytest.fixture(autouse=True)
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has everything."""
    monkeypatch.setattr(programs, "check_programs", lambda _: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(cgroups, "missing", lambda _: [])
    monkeypatch.setattr(os, "access", lambda *_: True)
    answers(monkeypatch, RUNC, ROUTES)


def answers(monkeypatch: pytest.MonkeyPatch, runc: str, routes: list[dict[str, str]]) -> None:
    def run(argv: list[str], *_: object, **__: object) -> subprocess.CompletedProcess[str]:
        text = runc if argv[0] == "runc" else json.dumps(routes)
        return subprocess.CompletedProcess(argv, 0, text, "")

    monkeypatch.setattr(programs, "run", run)


def refused(told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        programs.check_machine(HOST)
    assert caught.value.remedy


def test_a_machine_with_everything_is_accepted() -> None:
    programs.check_machine(HOST)


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
