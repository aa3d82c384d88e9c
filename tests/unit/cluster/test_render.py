"""Rendering: settings that daemons share, and values that must never reach a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from xml.etree import ElementTree as ET

import pytest

from density_study.cluster.model.dividing.sizing import SMALLEST
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.ports import FIRST_PORT
from density_study.cluster.model.topology import Jit, Topology
from density_study.cluster.model.versions import Versions
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.render.rendered import Rendered, owner
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local, physical, with_variant


def settings(rendered: Rendered, path: str) -> dict[str, str]:
    root = ET.fromstring(rendered.files[path])
    return {entry.findtext("name", ""): entry.findtext("value", "") for entry in root}


def test_xml_is_sorted_and_escaped() -> None:
    text = configuration_xml({"b": "<&>\"'", "a": "x y"})
    assert text.index("<name>a<") < text.index("<name>b<")
    assert [entry.findtext("value") for entry in ET.fromstring(text)] == ["x y", "<&>\"'"]


def test_daemons_and_clients_agree_on_service_addresses() -> None:
    rendered = render(blueprint(physical()))
    paths = [p for p in rendered.files if p.endswith(("core-site.xml", "hbase-site.xml"))]
    assert len(paths) == 2 * 4
    roots = {settings(rendered, p)["fs.defaultFS"] for p in paths if "core" in p}
    assert roots == {"hdfs://" + rendered.endpoints.one("namenode.rpc")}
    quorum = {
        (s["hbase.zookeeper.quorum"], s["hbase.zookeeper.property.clientPort"])
        for s in (settings(rendered, p) for p in paths if "hbase" in p)
    }
    assert quorum == {tuple(rendered.endpoints.one("zookeeper.client").split(":"))}


def test_no_daemon_binds_to_all_addresses() -> None:
    for topology in (local(), physical()):
        rendered = render(blueprint(topology))
        assert not [path for path, text in rendered.files.items() if "0.0.0.0" in text]


def test_workers_have_equal_containers_and_one_core_per_container() -> None:
    rendered = render(blueprint(local()))
    yarn = settings(rendered, "nodes/w1/yarn-site.xml")
    assert int(yarn["yarn.nodemanager.resource.memory-mb"]) == 2 * SMALLEST.container_mib
    assert yarn["yarn.nodemanager.resource.cpu-vcores"] == "2"
    mapred = settings(rendered, "client/mapred-site.xml")
    sizes = (
        "mapreduce.map.memory.mb",
        "mapreduce.reduce.memory.mb",
        "yarn.app.mapreduce.am.resource.mb",
    )
    assert {mapred[size] for size in sizes} == {str(SMALLEST.container_mib)}


@pytest.mark.parametrize(
    ("hadoop", "storage_type", "policy"),
    [("3.3.6", "DISK", "HOT"), ("3.4.0", "SSD", "ALL_SSD"), ("3.10.0", "SSD", "ALL_SSD")],
)
def test_the_default_policy_of_every_version_finds_volumes(
    hadoop: str, storage_type: str, policy: str
) -> None:
    topology = with_variant(local(), versions=Versions(hadoop))
    assert topology.variant.disk_type == "flash"
    rendered = render(blueprint(topology))
    (volume,) = settings(rendered, "nodes/w1/hdfs-site.xml")["dfs.datanode.data.dir"].split(",")
    assert volume.startswith(f"[{storage_type}]file:")
    assert settings(rendered, "nodes/m1/hdfs-site.xml")["dfs.storage.default.policy"] == policy


def test_containers_inherit_tag_and_node() -> None:
    yarn = settings(render(blueprint(local())), "nodes/w1/yarn-site.xml")
    passed = yarn["yarn.nodemanager.env-whitelist"].split(",")
    assert {"STUDY_TAG", "STUDY_NODE", "JAVA_HOME"} <= set(passed)


def test_only_nodes_with_a_shared_address_differ_in_ports() -> None:
    key, delay = (
        "yarn.scheduler.include-port-in-node-name",
        "yarn.scheduler.capacity.node-locality-delay",
    )
    here, there = render(blueprint(local())), render(blueprint(physical()))
    assert settings(here, "nodes/m1/yarn-site.xml")[key] == "true"
    assert settings(here, "nodes/m1/capacity-scheduler.xml")[delay] == "-1"
    assert key not in settings(there, "nodes/big/yarn-site.xml")
    assert delay not in settings(there, "nodes/big/capacity-scheduler.xml")


def test_every_daemon_reports_metrics_of_the_last_second() -> None:
    """The default is ten seconds: a ready master would long report that it is not ready."""
    built = blueprint(physical())
    for node in (*built.topology.workers, built.topology.master):
        text = render(built).files[f"nodes/{node.name}/hadoop-metrics2.properties"]
        assert "*.period=1" in text.splitlines()


def test_each_host_is_a_rack() -> None:
    rendered = render(blueprint(physical()))
    assert rendered.files["nodes/big/racks"] == "192.0.2.11 /h1\n192.0.2.12 /h2\n"
    table = settings(rendered, "nodes/big/core-site.xml")["net.topology.table.file.name"]
    assert table == "/runs/b1/conf/nodes/big/racks"


def test_a_client_on_the_masters_node_gets_no_daemon_settings() -> None:
    client = settings(render(blueprint(physical())), "client/hdfs-site.xml")
    assert "dfs.namenode.name.dir" not in client


def test_clients_on_workers_get_no_daemon_settings() -> None:
    placed = physical()
    assert not any(path.startswith("clients/") for path in render(blueprint(placed)).files)
    made = blueprint(replace(placed, worker_stacks=("ycsb",)))
    rendered = render(made)
    first, other = (
        settings(rendered, f"{path}/hbase-site.xml") for path in ("client", "clients/h1")
    )
    assert {key for key in first if first[key] != other[key]} == {"hbase.tmp.dir"}
    assert first.keys() == other.keys()
    for worker in made.topology.workers:
        assert owner(f"clients/{worker.name}/hbase-site.xml", made.topology) == worker
        folder = made.places.client_conf_of(made.topology, worker)
        assert folder == made.places.conf / "clients" / worker.name
        assert f"clients/{worker.name}/log4j.properties" in rendered.files


@pytest.mark.parametrize("topology", [local(), physical()])
def test_a_client_learns_within_seconds_that_there_is_no_history_server(topology: Topology) -> None:
    rendered = render(blueprint(topology))
    core = settings(rendered, "client/core-site.xml")
    mapred = settings(rendered, "client/mapred-site.xml")
    host, _, port = mapred["mapreduce.jobhistory.address"].rpartition(":")
    assert host == topology.client.address
    assert 0 < int(port) < FIRST_PORT
    tries = int(core["ipc.client.connect.max.retries"])
    retries = int(mapred["yarn.app.mapreduce.client.max-retries"])
    assert retries >= 1  # at 0, Hadoop never connects, not even to the ApplicationMaster
    assert retries * tries * int(core["ipc.client.connect.retry.interval"]) <= 5000


def test_only_clients_fail_fast() -> None:
    for topology in (local(), physical()):
        rendered = render(blueprint(topology))
        paths = [p for p in rendered.files if p.startswith("nodes/") and p.endswith("-site.xml")]
        properties = {p: settings(rendered, p) for p in paths}
        assert not [
            p for p, s in properties.items() if "yarn.app.mapreduce.client.max-retries" in s
        ]
        tries = {s["ipc.client.connect.max.retries"] for p, s in properties.items() if "core" in p}
        assert tries == {"100"}


def test_regionservers_of_one_node_differ_only_in_ports() -> None:
    rendered = render(blueprint(physical()))
    first, second = (
        d.command.argv for d in rendered.daemons if d.node == "h2" and d.role == "regionserver"
    )
    differing = {pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]}
    assert {a.split("=")[0] for a, _ in differing} == {
        "-Dstudy.log", "hbase.regionserver.port", "hbase.regionserver.info.port"
    }  # fmt: skip


def test_a_zookeeper_of_its_own_has_none_of_hbases_jars() -> None:
    plain, own = blueprint(local()), ("/opt/zookeeper/lib/z.jar", "/opt/zookeeper")
    rendered = render(replace(plain, homes=replace(plain.homes, zookeeper_classpath=own)))
    for found, stack in ((render(plain), "hbase"), (rendered, "zookeeper")):
        (argv,) = (one.command.argv for one in found.daemons if one.name == "zookeeper")
        assert f"@/runs/b1/conf/nodes/m1/{stack}.classpath" in argv
        assert any("SharedArchiveFile" in word for word in argv) == (stack == "hbase")
    assert "/opt/hbase" not in rendered.files["nodes/m1/zookeeper.classpath"]
    assert "nodes/m1/zookeeper.classpath" not in render(plain).files
    assert Versions(zookeeper="3.9.5").with_brought(("hadoop", "hbase"))[-1] == "zookeeper"


def test_the_conf_folder_is_last_on_the_class_path() -> None:
    text = render(blueprint(local())).files["nodes/w1/hbase.classpath"]
    assert text == '-cp "/opt/hbase/lib/c.jar:\\\n/opt/hbase:\\\n/runs/b1/conf/nodes/w1"\n'


def test_the_collector_does_not_depend_on_density() -> None:
    flags = {
        flag
        for workers in (1, 2)
        for daemon in render(blueprint(local(workers))).daemons
        for flag in daemon.command.argv
        if daemon.role == "regionserver" and flag.startswith("-XX:+Use")
    }
    assert flags == {"-XX:+UseG1GC"}


@pytest.mark.parametrize(
    ("timeout_scale", "jit", "wanted"),
    [(1.0, "full", False), (12.0, "full", True), (1.0, "c1", True)],
)
def test_jit_options_change_only_in_emulated_guests_and_where_the_study_says_so(
    timeout_scale: float, jit: Jit, wanted: bool
) -> None:
    limited = "-XX:TieredStopAtLevel=1"
    one = blueprint(replace(physical(), jit=jit))
    rendered = render(replace(one, timeout_scale=timeout_scale))
    assert {limited in daemon.command.argv for daemon in rendered.daemons} == {wanted}
    mapred = settings(rendered, "client/mapred-site.xml")
    for kind in ("map", "reduce"):
        assert (limited in mapred[f"mapreduce.{kind}.java.opts"]) == wanted


def test_emulated_guests_have_fewer_requests_and_longer_timeouts() -> None:
    rendered = render(replace(blueprint(physical()), timeout_scale=12.0))
    (hmaster,) = (d for d in rendered.daemons if d.role == "hmaster")
    assert "dfs.client.retry.policy.spec=1000,500" in hmaster.command.argv  # 500 s, not 100 s
    heartbeat = "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms"
    assert settings(rendered, "nodes/big/yarn-site.xml")[heartbeat] == "1000"


def test_each_file_belongs_to_its_node() -> None:
    topology = physical()
    assert owner("nodes/h2/core-site.xml", topology).name == "h2"
    assert owner("client/core-site.xml", topology).name == "big"


def test_only_the_namenode_waits_for_the_format() -> None:
    rendered = render(blueprint(local()))
    assert [d.name for d in rendered.daemons if d.starts_after] == ["namenode"]
    assert rendered.prepare.name == "format"
    assert rendered.prepare.command.argv[-3:] == ("-format", "-force", "-nonInteractive")


def renamed(name: str) -> Topology:
    topology = local()
    return replace(topology, nodes=(*topology.nodes[:-1], replace(topology.nodes[-1], name=name)))


@pytest.mark.parametrize("name", ["", "../w", "w 1", "w<1>", "w/1", "w\n1", "ü", "x" * 64])
def test_a_node_name_must_be_a_valid_file_name(name: str) -> None:
    with pytest.raises(InputError) as caught:
        render(blueprint(renamed(name)))
    assert caught.value.where == "nodes"


@pytest.mark.parametrize("path", ["/a b", "/a,b", "/a:b", "relative", "/a/../b", "/a*"])
def test_a_path_that_hadoop_would_split_is_refused(path: str) -> None:
    good = blueprint(local())
    data = {**good.places.data, "w1": PurePath(path)}
    with pytest.raises(InputError) as caught:
        render(replace(good, places=replace(good.places, data=data)))
    assert caught.value.where == "disk of node 'w1'"


@pytest.mark.parametrize("tag", ["s", "s//r", "/s/r", "s/../r", "s/r;x", "s/r/"])
def test_a_tag_is_names_joined_by_slashes(tag: str) -> None:
    with pytest.raises(InputError):
        render(replace(blueprint(local()), tag=tag))


@pytest.mark.parametrize("address", ["", "a b", "host:1", "-x"])
def test_an_address_is_a_host_without_a_port(address: str) -> None:
    topology = local()
    nodes = (*topology.nodes[:-1], replace(topology.nodes[-1], address=address))
    with pytest.raises(InputError) as caught:
        render(blueprint(replace(topology, nodes=nodes)))
    assert caught.value.where == "node 'w2'"
