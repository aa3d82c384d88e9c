"""The second barrier: an own run whose folder or journal was changed leads to nothing outside."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.own_acts import check_acts
from density_study.cluster.machine import containers, network_link, packet_cpus
from density_study.cluster.machine.io_limits import group
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.state import own_runs
from density_study.cluster.state.journal import JOURNAL, Journal
from tests.security.run_folders.crafted import Canaries, build, craft, intent, opened, study, write

STUDY, RUN = "own", "20260101T000000Z"
TAG = f"{STUDY}/{RUN}"
BUILD = f"{TAG}/b1"
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root")


def target(root: Path, **changed: Any) -> dict[str, Any]:
    plain = {"host": "h1", "address": "192.0.2.1", "port": 22, "user": "study",
             "known_hosts": str(root.parent / "known_hosts")}  # fmt: skip
    return {"event": "reach", "tag": BUILD, "node": "h1", "target": {**plain, **changed}}


FOREIGN: dict[str, Callable[[Path, Path], dict[str, Any]]] = {
    "build above": lambda root, home: intent("build", f"{TAG}/../x", build="../x", provider="local"),
    "build elsewhere": lambda root, home: intent("build", BUILD, build="b2", provider="local"),
    "empty build": lambda root, home: intent("build", f"{TAG}/", build="", provider="local"),
    "a build that no folder can be called": lambda root, home: intent(
        "build", f"{TAG}/{'x' * 5000}", build="x" * 5000, provider="libvirt"
    ),
    "another run": lambda root, home: intent("build", "victim/r1/b1", build="b1", provider="local"),
    "a provider": lambda root, home: intent("build", BUILD, build="b1", provider="os:system"),
    "a whole study": lambda root, home: intent("make-dir", STUDY, path=f"/d/density-study/{STUDY}"),
    "a folder": lambda root, home: intent("make-dir", BUILD, path=str(home / "hollow" / "low")),
    "a folder above": lambda root, home: intent(
        "make-dir", BUILD, path=f"{home}/density-study/{BUILD}/w1/../../../.."
    ),
    "a relative folder": lambda root, home: intent("make-dir", BUILD, path=f"density-study/{BUILD}/w1"),
    "another's folder": lambda root, home: intent(
        "make-dir", BUILD, path=str(home / "density-study/victim/r1/b1/node")
    ),
    "a folder on a host": lambda root, home: intent("make-dir", BUILD, path="/etc", host="h1"),
    "a folder with NUL": lambda root, home: intent("make-dir", BUILD, path="/a\0b"),
    "a cgroup": lambda root, home: intent("make-io-group", BUILD, path=str(home / "hollow" / "low")),
    "another's cgroup": lambda root, home: intent(
        "make-io-group", BUILD, path=str(group("victim/r1/b1", "/d"))
    ),
    "a namespace": lambda root, home: intent("make-netns", BUILD, node="w1", path="production"),
    "another's namespace": lambda root, home: intent(
        "make-netns", BUILD, node="w1", path=container_id("victim/r1/b1", "here", "w1")
    ),
    "a namespace above": lambda root, home: intent(
        "make-netns", BUILD, node="w1", path=container_id(BUILD, "../../x", "w1")
    ),
    "a file": lambda root, home: intent(
        "set-flow-table", BUILD, former={str(home / ".bashrc"): "0"}
    ),
    "text for the table": lambda root, home: intent(
        "set-flow-table", BUILD, former={str(packet_cpus.FLOW_TABLE): "echo pwned"}
    ),
    "a file of a network": lambda root, home: intent(
        "set-network", BUILD, host="h1",
        former={"device": "eth0", "mtu": 1500, "files": {str(home / ".bashrc"): "0"}},
    ),
    "an option as a device": lambda root, home: intent(
        "set-network", BUILD, host="h1", former={"device": "-all", "mtu": 1500, "files": {}}
    ),
    "words for a card": lambda root, home: intent(
        "set-network", BUILD, host="h1",
        former={"device": "eth0", "mtu": 1500, "files": {}, "coalescing": {"rx-usecs": "1; id"}},
    ),
    "no former state": lambda root, home: intent("set-network", BUILD, host="h1", former={}),
    "an unknown address": lambda root, home: target(root, address="192.0.2.99"),
    "an option as an address": lambda root, home: target(root, address="-oProxyCommand=id"),
    "a port": lambda root, home: target(root, port=0),
    "a user": lambda root, home: target(root, user="../../home/x"),
    "host keys": lambda root, home: target(root, known_hosts="/dev/null"),
    "a private key": lambda root, home: target(root, identity=str(home / "etc/ssh/ssh_host_key")),
    "a libvirt": lambda root, home: intent("make-domain", BUILD, uri="qemu:///system?command=id"),
    "a proof": lambda root, home: {"event": "destroyed", "tag": TAG, "build": "", "proof": {}},
}  # fmt: skip


def own(root: Path, *lines: dict[str, Any]) -> Path:
    craft(root, *lines)
    (root / "plan.json").write_text(json.dumps({"format": 1, "hosts": [{"address": "192.0.2.1"}]}))
    own_runs.register(root)
    return root


@pytest.mark.parametrize("name", FOREIGN)
def test_an_act_that_the_run_cannot_have_done_is_found(
    runs: Path, canaries: Canaries, name: str
) -> None:
    root = own(runs / TAG, build(TAG, "local"), FOREIGN[name](runs / TAG, canaries.folder))
    with pytest.raises(StudyError, match="this run cannot have") as caught:
        check_acts(root, TAG, Journal(root / JOURNAL))
    assert caught.value.remedy


@pytest.mark.thorough
@pytest.mark.parametrize("name", FOREIGN)
def test_an_act_that_the_run_cannot_have_done_stops_reap_before_it_begins(
    runs: Path, canaries: Canaries, name: str
) -> None:
    root = own(runs / TAG, build(TAG, "local"), FOREIGN[name](runs / TAG, canaries.folder))
    (root / "builds" / "b1").mkdir(parents=True)
    before = (root / JOURNAL).read_bytes()
    result = study("reap", "--runs", runs, "--json")
    assert result.exit_code == 1, result.output
    (failed,) = json.loads(result.stdout)["failed"]
    assert failed["tag"] == TAG and "Remedy" in failed["why"]
    assert (root / JOURNAL).read_bytes() == before
    canaries.check()


def test_acts_of_the_run_are_accepted(runs: Path) -> None:
    root = own(
        runs / TAG,
        intent("lease-host", TAG, host="h1"),
        build(TAG, "container"),
        target(runs / TAG),
        intent("make-dir", BUILD, path=f"/disk/density-study/{BUILD}/w1"),
        intent("make-dir", BUILD, path=str(runs / TAG / "builds/b1/data/w1")),
        intent("make-dir", BUILD, path=f"/tmp/x/tickets/{BUILD}/client"),
        intent("make-dir", BUILD, path=f"/var/tmp/density-study-study/builds/{BUILD}", host="h1"),
        intent("make-dir", BUILD, path="/study/w1", host="w1"),
        intent("make-dir", BUILD, path="/study-2/w1", host="w1"),
        intent("make-io-group", BUILD, path=str(group(BUILD, "/disk"))),
        intent("make-io-group", BUILD, path=str(group(BUILD, "/disk.slow"))),
        intent("make-netns", BUILD, node="w1", path=container_id(BUILD, "here", "w1")),
        intent("set-flow-table", BUILD, former={str(packet_cpus.FLOW_TABLE): "0"}),
    )
    check_acts(root, TAG, Journal(root / JOURNAL))


def test_a_folder_behind_a_link_is_not_the_builds(runs: Path, canaries: Canaries) -> None:
    disk = runs.parent / "disk"
    (disk / "density-study").mkdir(parents=True)
    (disk / "density-study" / STUDY).symlink_to(canaries.folder)
    path = disk / "density-study" / BUILD / "w1"
    path.mkdir(parents=True)
    root = own(runs / TAG, build(TAG, "local"), intent("make-dir", BUILD, path=str(path)))
    with pytest.raises(StudyError, match="is a link"):
        check_acts(root, TAG, Journal(root / JOURNAL))


@pytest.mark.parametrize("tag", ["victim", "victim/r1", STUDY, "", f"{STUDY}/other"])
def test_the_tag_is_that_of_the_folder(runs: Path, canaries: Canaries, tag: str) -> None:
    root = own(runs / TAG, build(TAG, "local"))
    line = {"event": "run-opened", "study": STUDY, "run": RUN, "tag": tag}
    write(root, line, {"event": "run-ended", "outcome": "ok", "message": ""})
    result = study("reap", "--runs", runs)
    assert result.exit_code == 1
    canaries.check()


LINKED = ["journal.jsonl", "plan.json", "study.yaml", "owner.lock", "opening.lock", "step.lock", "builds",
          "builds/b1", "builds/b1/conf", "builds/b1/conf/client/access.json", "records", "records/t.open",
          "builds/b1/ssh"]  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    [
        "link",
        pytest.param("pipe", marks=pytest.mark.thorough),
        pytest.param("writable", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("name", LINKED)
def test_a_link_or_a_pipe_among_its_files_stops_every_act(
    runs: Path, canaries: Canaries, name: str, kind: str
) -> None:
    root = own(runs / TAG, build(TAG, "local"))
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "writable":
        if path.parts[-1] in ("owner.lock", "opening.lock", "step.lock", "records", "t.open"):
            pytest.skip("nothing is believed that is in it")
        if not path.exists():
            path.mkdir() if "." not in path.name else path.write_text("{}")
        path.chmod(0o777)
    else:
        if path.is_file():
            path.unlink()
        path.symlink_to(canaries.folder / ".bashrc") if kind == "link" else os.mkfifo(path)
    result = study("reap", "--runs", runs, "--json")
    if result.stdout:
        found = json.loads(result.stdout)
        assert found["reaped"] == [], found
    study("rm", root, "--runs", runs, "--yes")
    assert root.is_dir()
    canaries.check()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_folder_of_another_user_is_left_alone(runs: Path) -> None:
    root = own(runs / TAG, build(TAG, "local"))
    os.chown(root, 12345, -1)
    for command in (["reap", "--runs", runs, "--json"], ["rm", root, "--runs", runs, "--yes"]):
        study(*command)
    (left,) = json.loads(study("reap", "--runs", runs, "--json").stdout)["left_alone"]
    assert "uid 12345" in left["why"] and root.is_dir()


def test_a_replaced_plan_is_not_carried_out(runs: Path) -> None:
    root = craft(runs / TAG, build(TAG, "local"))
    own_runs.register(root, "the plan")
    (root / "plan.json").write_text("the plan")
    assert own_runs.refusal(root) == "" and own_runs.has_known_plan(root)
    (root / "plan.json").write_text("another plan")
    assert "plan.json is not the one" in own_runs.refusal(root)
    own_runs.claim(root)
    assert own_runs.refusal(root) == "" and not own_runs.has_known_plan(root)


def test_a_claim_is_refused_for_a_folder_of_strangers(runs: Path, canaries: Canaries) -> None:
    root = craft(runs / TAG, build(TAG, "existing"))
    link = root / "builds" / "b1"
    link.parent.mkdir()
    link.symlink_to(canaries.folder)
    result = study("reap", "--claim", root, "--runs", runs)
    assert result.exception is not None and "cannot be claimed" in str(result.exception)
    assert not own_runs.is_registered(root)
    link.unlink()
    assert study("reap", "--claim", RUN, "--runs", runs).exit_code == 0
    assert own_runs.is_registered(root)
    other = runs / STUDY / "other"
    write_other = craft(other, opened(TAG, {}) | {"owner": None})
    with pytest.raises(StudyError, match="that of the run"):
        from density_study.cluster.lifecycle.reap import claim

        claim(write_other)


def test_only_test_cases_of_packets_are_put_back(tmp_path: Path) -> None:
    victim = tmp_path / "rps_flow_cnt"
    victim.write_text("alias\n")
    for former in ({str(victim): "0"}, {"/sys/class/net/../../kernel/x/queues/rx-0/rps_cpus": "0"}):
        with pytest.raises(StudyError, match="not a file that decides"):
            packet_cpus.restore(former)
    with pytest.raises(StudyError, match="not a file that decides"):
        network_link.restore({"device": "lo", "mtu": 65536, "files": {str(victim): "0"}})
    assert victim.read_text() == "alias\n"


@pytest.mark.parametrize("name", ["production", "study-0123456789ab-here.w1", "../x", "-f"])
def test_only_containers_of_the_build_are_removed(name: str) -> None:
    with pytest.raises(StudyError, match="not the name of anything"):
        containers.remove(BUILD, [name], [], [])
    with pytest.raises(StudyError, match="not the name of anything"):
        containers.remove(BUILD, [], [name], [])


@is_root
def test_only_the_routes_of_the_build_are_removed() -> None:
    """In a network namespace of the test's own."""
    name = f"routes-{os.getpid()}"
    code = f"""
from density_study.cluster.machine import containers
containers.run(["ip", "link", "set", "lo", "up"], "")
containers.run(["ip", "addr", "add", "192.0.2.1/24", "dev", "lo"], "")
containers.run(["ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.2"], "")
routes = [["198.51.100.0/24", "192.0.2.2"], ["203.0.113.0/24", "192.0.2.2"]]
containers.add_route("{BUILD}", *routes[1])
assert containers.remove("{BUILD}", [], [], routes)["route"] == ["203.0.113.0/24 via 192.0.2.2"]
assert containers.find("{BUILD}", [], [], routes)["route"] == []
print(containers.run(["ip", "route", "show", "198.51.100.0/24"], "").stdout)
"""
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        argv = ["ip", "netns", "exec", name, os.sys.executable, "-c", code]  # type: ignore[attr-defined]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
    assert "198.51.100.0/24 via 192.0.2.2" in done.stdout, done.stderr
