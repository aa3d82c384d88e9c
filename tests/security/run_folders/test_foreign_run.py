"""A foreign run's folder in the runs folder is listed and left alone: each order in it is ignored."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.providers.existing import tables
from density_study.cluster.state import own_runs, presence
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.plain_file import NotPlainError
from density_study.jobs.analysis_lock import analysing
from tests.security.run_folders.crafted import (
    Canaries,
    build,
    craft,
    intent,
    study,
    sweep_all,
    write,
)

STUDY, RUN = "stranger", "20260101T000000Z"
TAG = f"{STUDY}/{RUN}"
is_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces and containers need root")


def left_alone(runs: Path) -> str:
    """The line that `study reap` prints of the one run in the folder."""
    result = study("reap", "--runs", runs, "--json")
    (line,) = json.loads(result.stdout)["left_alone"]
    assert line["tag"] == TAG and "--claim" in line["why"]
    return str(line["why"])


@pytest.mark.parametrize(
    "command", ["dry-run", pytest.param("reap", marks=pytest.mark.thorough), "rm"]
)
@pytest.mark.parametrize("whose", ["foreign", "own"])
def test_no_program_runs_on_a_class_path_in_the_run(
    runs: Path, command: str, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An own run's configuration is asked: else this would prove nothing of foreign ones."""
    class_paths: list[str] = []

    def asked(argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        class_paths.append(argv[argv.index("-cp") + 1])
        return subprocess.CompletedProcess(argv, 1, "", "no")

    monkeypatch.setattr(tables.subprocess, "run", asked)
    monkeypatch.setattr(tables, "ensure", lambda name: name)
    monkeypatch.setattr(tables, "classpath", lambda _: ("a.jar",))
    root = craft(
        runs / TAG, build(TAG, "existing"), intent("make-namespace", f"{TAG}/b1", path="n")
    )
    conf = root / "builds/b1/conf/client"
    conf.mkdir(parents=True)
    (conf / "hbase-site.xml").write_text("<configuration/>")
    (conf / "access.json").write_text('{"kerberos": null, "access": {}}')
    if whose == "own":
        own_runs.register(root)
    arguments: dict[str, list[Any]] = {
        "dry-run": ["reap", "--runs", runs, "--dry-run"],
        "reap": ["reap", "--runs", runs],
        "rm": ["rm", root, "--runs", runs, "--yes"],
    }
    study(*arguments[command])
    assert set(class_paths) == ({f"a.jar:{conf}"} if whose == "own" else set())
    assert root.is_dir()


def test_former_contents_of_files_are_not_written(runs: Path, canaries: Canaries) -> None:
    victim = canaries.folder / ".bashrc"
    link = runs.parent / "rps_flow_cnt"
    link.symlink_to(victim)
    former = {str(link): "pwned", str(victim): "pwned"}
    craft(runs / TAG, build(TAG, "container"), intent("set-flow-table", f"{TAG}/b1", former=former))
    study("reap", "--runs", runs)
    canaries.check()
    left_alone(runs)


def test_a_build_is_one_folder_of_the_run(runs: Path, canaries: Canaries) -> None:
    etc = os.path.relpath(canaries.folder / "etc", runs / TAG / "builds")
    (runs / TAG / "builds").mkdir(parents=True)
    craft(
        runs / TAG,
        intent("build", f"{TAG}/b1", build=etc, provider="libvirt", ports=[]),
        intent("build", f"{TAG}/{etc}", build=etc, provider="libvirt", ports=[]),
    )
    study("reap", "--runs", runs)
    canaries.check()


@pytest.mark.parametrize("tag", ["victim", "victim/r1", "victim/r1/b1", ""])
def test_processes_of_other_runs_live(runs: Path, canaries: Canaries, tag: str) -> None:
    root = runs / TAG
    craft(root, {"event": "run-opened", "study": STUDY, "run": RUN, "tag": tag, "owner": None})
    write(root, {"event": "run-ended", "outcome": "failed", "message": ""}, build(tag, "local"))
    sweep_all(runs, [root])
    canaries.check()


@is_root
def test_namespaces_and_containers_of_others_stay(runs: Path, canaries: Canaries) -> None:
    name = f"canary-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    container = Path("/run/runc") / name
    container.mkdir(parents=True)
    try:
        craft(
            runs / TAG,
            build(TAG, "container"),
            intent("make-netns", f"{TAG}/b1", node="w1", path=name),
            intent("make-container", f"{TAG}/b1", node="w1", path=name),
            intent("make-route", f"{TAG}/b1", path="127.0.0.0/8", via="127.0.0.1"),
        )
        study("reap", "--runs", runs)
        assert container.is_dir() and Path("/run/netns", name).exists()
    finally:
        subprocess.run(["ip", "netns", "delete", name], check=True)
        container.rmdir()
    canaries.check()


def test_empty_folders_stay(runs: Path, canaries: Canaries) -> None:
    hollow = str(canaries.folder / "hollow" / "low")
    craft(
        runs / TAG,
        build(TAG, "local"),
        intent("make-dir", f"{TAG}/b1", path=hollow),
        intent("make-io-group", f"{TAG}/b1", path=hollow),
    )
    study("reap", "--runs", runs)
    canaries.check()


def test_no_login_to_hosts_that_a_journal_names(runs: Path) -> None:
    connections: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)

        def accept() -> None:
            try:
                while True:
                    connection, address = server.accept()
                    connections.append(address)
                    connection.close()
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        target = {
            "host": "h1", "address": "127.0.0.1", "port": server.getsockname()[1], "user": "root",
            "known_hosts": "/dev/null",
        }  # fmt: skip
        reach = {"event": "reach", "tag": f"{TAG}/b1", "node": "w1", "target": target}
        craft(runs / TAG, build(TAG, "physical"), reach)
        study("reap", "--runs", runs, "--dry-run")
        study("reap", "--runs", runs)
    assert connections == []
    left_alone(runs)


def test_removal_does_not_leave_the_study(runs: Path, canaries: Canaries) -> None:
    root = runs / STUDY / "Documents"
    craft(root, {"event": "run-ended", "outcome": "ok", "message": ""})
    (runs / STUDY / ".removed-x").symlink_to(canaries.folder)
    study("rm", "Documents", "--runs", runs, "--yes")
    canaries.check()


@pytest.mark.parametrize("lock", ["opening.lock", "owner.lock"])
def test_locks_are_not_made_through_links(runs: Path, canaries: Canaries, lock: str) -> None:
    root = craft(runs / TAG, build(TAG, "local"))
    (root / lock).symlink_to(canaries.folder / "nologin")
    sweep_all(runs, [root])
    canaries.check()


@pytest.mark.parametrize("name", ["journal.jsonl", "analysis.lock", "owner.lock", "opening.lock"])
def test_nothing_is_written_through_a_hard_link(runs: Path, canaries: Canaries, name: str) -> None:
    """An archive that was unpacked here, or a folder on a shared disk, may have some to this user's files."""
    root = craft(runs / TAG)
    (root / name).unlink(missing_ok=True)
    os.link(canaries.folder / ".bashrc", root / name)
    acts: tuple[Callable[[], object], ...] = (
        lambda: Journal(root / "journal.jsonl").write("note"),
        lambda: presence.stay(root),
        lambda: presence.alone(root).__enter__(),
        lambda: analysing(root).__enter__(),
    )
    refused = 0
    for act in acts:
        try:
            act()
        except NotPlainError as error:
            assert "a hard link" in error.what
            refused += 1
    assert refused == 1
    canaries.check()


def test_a_copy_of_an_own_run_is_not_the_run(runs: Path) -> None:
    root = craft(runs / TAG, build(TAG, "local"))
    own_runs.register(root)
    assert own_runs.is_registered(root)
    elsewhere = runs.parent / "others" / TAG
    shutil.copytree(root, elsewhere)
    assert not own_runs.is_registered(elsewhere)
    shutil.rmtree(root)
    shutil.copytree(elsewhere, root.with_name("aside"))
    root.with_name("aside").rename(root)
    assert not own_runs.is_registered(root), "another folder at its path"
