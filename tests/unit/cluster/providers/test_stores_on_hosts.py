"""Stores other than HBase on hosts over SSH: what each host gets, and what is rendered for it."""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath

import pytest

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Target
from density_study.cluster.model.store import (
    MachineProgram,
    Store,
    default_store,
    store_named,
    stores,
)
from density_study.cluster.model.versions import Versions
from density_study.cluster.providers import stacks
from density_study.cluster.providers.ssh import build
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.stack import Java, Stack, store_software
from density_study.cluster.stores.cassandra.store import cassandra_files
from density_study.cluster.stores.kudu.store import kudu_argv
from density_study.cluster.stores.store import store_of
from tests.support.topologies import blueprint, local, physical, with_variant

OF_NODES: dict[str, tuple[str, ...]] = {
    "hbase": ("hadoop", "hbase"),
    "hdfs-files": ("hadoop", "hbase"),
    "accumulo": ("hadoop", "hbase", "accumulo"),
    "cassandra": ("cassandra",),
    "kudu": ("kudu",),
}


@pytest.mark.parametrize("name", stores())
def test_a_host_gets_the_stacks_that_its_nodes_need(name: str) -> None:
    assert store_named(name).stacks == OF_NODES.get(name, ())
    assert store_named(name).client_stacks == (
        ("ycsb",) if name == "hbase" else ("ycsb", "ycsb-stores")
    )


def test_programs_are_copied_with_their_hashes(tmp_path: Path) -> None:
    home = tmp_path / "kudu-1"
    (home / "lib").mkdir(parents=True)
    (home / "lib/kudu.jar").write_bytes(b"jar")
    (home / "unpacked/bin").mkdir(parents=True)
    (home / "unpacked/bin/kudu").write_bytes(b"program")
    (home / "unpacked/bin/kudu").chmod(0o755)
    (home / "manifest.json").write_text(
        json.dumps({"jars": [{"name": "kudu.jar", "sha256": "0" * 64}]})
    )
    copy = StackCopy(Stack("kudu", "1", home, ""), PurePath("/work/kudu-1"), "/jdk", archive="")
    program = hashlib.sha256(b"program").hexdigest()
    assert copy.sums.splitlines() == sorted(
        [f"{'0' * 64}  lib/kudu.jar", f"{program}  unpacked/bin/kudu"]
    )
    with tarfile.open(copy.write_tar(tmp_path)) as tar:
        files = {entry.name: entry.mode & 0o777 for entry in tar if entry.isfile()}
    assert files.keys() == {"lib/kudu.jar", "unpacked/bin/kudu", "SHA256SUMS"}
    assert files["unpacked/bin/kudu"] == 0o755


def test_hosts_with_unequal_servers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        host: {"name": "Redis", "version": version, "sha256": "a" * 64, "program": "/usr/bin/r"}
        for host, version in (("h1", "7.0.15"), ("h2", "8.0.0"))
    }
    monkeypatch.setattr(build, "on_all", lambda targets, _: {host: found[host] for host in targets})
    wanted = MachineProgram(("r",), "r", "")
    targets = {host: Target(host, "192.0.2.1", 22, "me", "known_hosts") for host in found}
    assert build.same_program({"h1": targets["h1"]}, wanted) == found["h1"]
    with pytest.raises(
        InputError, match=r"Redis 8\.0\.0.*on other hosts: .*Redis 7\.0\.15"
    ) as caught:
        build.same_program(targets, wanted)
    assert caught.value.where == "host 'h2'"


class Hosts:
    """Machines whose Java is not the controller's."""

    def java(self, feature: int | None = None) -> Java:
        return Java(Path(f"/hosts/jdk-{feature or 21}"), f"{feature or 21}.0.99")

    def refusal(self, flags: Sequence[str], feature: int | None = None) -> str:
        raise AssertionError("no flags are given")

    def program(self, wanted: MachineProgram) -> Mapping[str, str]:
        raise AssertionError("no Redis is wanted")


def _made_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, *_: object) -> Stack:
        return Stack(name, "1", Path("/cache") / name, "f" * 64)

    monkeypatch.setattr(stacks, "ensure", made)
    monkeypatch.setattr(stacks, "ensure_all", lambda names, _: tuple(map(made, names)))
    monkeypatch.setattr(stacks, "ensure_archives", None)  # those of hosts are made there
    monkeypatch.setattr(stacks, "classpath", lambda _: ())
    monkeypatch.setattr(store_software, "ensure", made)
    monkeypatch.setattr(store_software, "classpath", lambda _: ())


def test_no_record_names_a_stack_that_its_store_does_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cluster with Cassandra said that it had a ZooKeeper, and native libraries of Hadoop."""
    _made_stacks(monkeypatch)
    versions = Versions(native="0123456789ab", jars="0123456789ab", zookeeper="3.9.5")
    further = {"native", "jars", "zookeeper"}
    disclosed = [
        stacks.ensure_stacks(versions, store, Hosts()).disclose().keys() & further
        for store in (default_store(), store_named("cassandra", "synced"))
    ]
    assert disclosed == [further, set()]


@pytest.mark.parametrize(
    ("store", "java"),
    [(default_store(), "21.0.99"), (store_named("cassandra", "synced"), "17.0.99")],
)
def test_the_java_of_the_hosts_is_used_and_disclosed(
    store: Store, java: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made_stacks(monkeypatch)
    found = stacks.ensure_stacks(store=store, machine=Hosts())
    assert (found.disclose()["java"], found.disclose()["client_java"]) == (java, "21.0.99")
    dirs = found.install_dirs()
    assert (dirs.java, dirs.client_java) == (Path(f"/hosts/jdk-{java[:2]}"), Path("/hosts/jdk-21"))


def on_hosts(name: str) -> Blueprint:
    placed = with_variant(physical(), store=store_named(name, "synced"))
    made = blueprint(placed)
    more = {"h1": (PurePath("/disk2/w"),)}
    return replace(made, places=replace(made.places, more_data=more))


def test_cassandra_uses_every_drive_and_is_settled_from_another_host() -> None:
    made = on_hosts("cassandra")
    worker, other = made.topology.workers
    data = made.data(worker)
    folders = f"data_file_directories: [{data}/cassandra/data, /disk2/w/cassandra/data]"
    assert folders in cassandra_files(made, worker)["cassandra.yaml"]
    assert "/disk2" not in cassandra_files(made, other)["cassandra.yaml"]
    (daemon, _) = store_of(made.topology).parts(made)[1]
    assert "-Djava.rmi.server.hostname=192.0.2.11" in daemon.command.argv
    assert list(store_of(made.topology).listens_on_all(made)) == ["JMX of Cassandra"]


def test_cassandra_on_one_machine_keeps_its_management_to_itself() -> None:
    made = blueprint(with_variant(local(), store=store_named("cassandra", "synced")))
    for daemon in store_of(made.topology).parts(made)[1]:
        assert not any("jmx.remote.port" in one for one in daemon.command.argv)
    assert store_of(made.topology).listens_on_all(made) == {}


def test_kudu_uses_every_drive() -> None:
    made = on_hosts("kudu")
    made = replace(made, homes=replace(made.homes, store=PurePath("/k/bin/kudu-tserver")))
    worker, other = made.topology.workers
    folders = f"--fs_data_dirs={made.data(worker)}/kudu-data,/disk2/w/kudu-data"
    assert folders in kudu_argv(made, worker, "kudu-tserver")
    assert not any("fs_data_dirs" in one for one in kudu_argv(made, other, "kudu-tserver"))


def test_commands_of_daemons_can_be_sent_to_a_host() -> None:
    for name in ("redis-cluster", "cassandra"):
        made = on_hosts(name)
        for daemon in store_of(made.topology).parts(made)[1]:
            assert asdict(daemon.command)["argv"] == daemon.command.argv


def test_compactions_of_one_table_are_counted(tmp_path: Path) -> None:
    log = tmp_path / "tserver.log"
    log.write_text(
        "[x] tablet.files: Compacted 2;user5;user4 for USER created hdfs://a/A0.rf from [F1.rf]\n"
        "[x] tablet.files: Compacted 2<;user9 for SYSTEM created hdfs://a/C1.rf from [F1.rf]\n"
        "[x] tablet.files: Compacting 2<;user9 on i.small for SYSTEM from [F1.rf] size 1 MB\n"
        "[x] tablet.files: Compacted 2a<< for SYSTEM created hdfs://a/C2.rf from [F1.rf]\n"
        "[x] tablet.files: Compacted !0;~ for SYSTEM created hdfs://a/C3.rf from [F1.rf]\n"
        "[x] tablet.files: Flushed 2<;user9 created hdfs://a/F2.rf from [memory]\n"
    )
    texts = ["files: Compacted 2;", "files: Compacted 2<"]
    assert HOST_COMMANDS["count-lines"](str(log), texts) == 2
