"""Where nothing keeps other users of the machine away, they are named before a study starts."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import needed
from density_study.cluster.lifecycle.needed import exposed
from density_study.cluster.machine.other_users import bridge_guard, private_network
from density_study.cluster.machine.other_users.people import other_people
from density_study.cluster.model.host import Disk, Host
from density_study.workloads.planning.plan import Plan, make_plan
from tests.support.drafts import study


def account(name: str, uid: int, shell: str = "/bin/bash") -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, uid, "", f"/home/{name}", shell))


@pytest.mark.parametrize(
    ("accounts", "named"),
    [
        ([], ""),
        ([account("ann", 1001)], "ann (may log in)"),
        ([account("mail", 8), account("web", 1002, "/usr/sbin/nologin")], ""),
        ([account("nobody", 65534)], ""),
        ([account(f"u{n}", 1001 + n) for n in range(7)], "u4 (may log in) and 2 more"),
    ],
)
def test_accounts_of_people_count(
    accounts: list[pwd.struct_passwd], named: str, tmp_path: Path
) -> None:
    found = other_people(tmp_path, accounts)
    assert found.endswith(named) and bool(found) == bool(named)


@pytest.mark.skipif(os.geteuid() != 0, reason="root gives a file to another user")
def test_a_user_without_an_account_here_counts_by_its_processes(tmp_path: Path) -> None:
    (tmp_path / "4711").mkdir()
    os.chown(tmp_path / "4711", 23456, 23456)
    assert other_people(tmp_path, []) == "23456 (has processes)"


def planned(tmp_path: Path) -> Plan:
    roles = ("master", "worker", "client")
    host = Host("here", "127.0.0.1", 2, 6144, (Disk(str(tmp_path), "flash"),), roles)
    return make_plan(study(), [host])


def test_they_are_warned_of_where_they_reach_the_daemons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path)
    monkeypatch.setattr(needed, "other_people", lambda: "ann (may log in)")
    monkeypatch.setattr(private_network, "obstacle", lambda: "")
    assert exposed(plan.topologies.values()) == ""
    monkeypatch.setattr(private_network, "obstacle", lambda: "Operation not permitted")
    assert "ann (may log in) could use its daemons" in exposed(plan.topologies.values())
    monkeypatch.setattr(needed, "other_people", lambda: "")
    assert exposed(plan.topologies.values()) == ""


def test_rules_close_a_bridge_to_all_but_one_user() -> None:
    rules = bridge_guard.rules("t", "ds0123456789ab", 0)
    assert 'oifname "ds0123456789ab" meta skuid != 0 reject' in rules
    assert 'oifname "ds0123456789ab" iifname != "ds0123456789ab" drop' in rules
