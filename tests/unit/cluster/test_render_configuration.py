"""A configuration reaches the files and command lines that it names, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from xml.etree import ElementTree as ET

from density_study.cluster.model.configuration import BlockCache, Configuration, Jvm
from density_study.cluster.model.host import Disk, MemoryFolder
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import Versions
from density_study.cluster.render.rendered import Rendered
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local, with_variant

MINE = Configuration(
    properties={
        "hbase-site": {"hfile.block.cache.size": "0.2", "hbase.regionserver.handler.count": "60"},
        "hdfs-site": {"dfs.datanode.handler.count": "20"},
    },
    jvm={
        "regionserver": Jvm(512, "ZGC", ("-XX:+AlwaysPreTouch",)),
        "namenode": Jvm(collector="Parallel"),
    },
)


def topology(configuration: Configuration, servers: int = 1) -> Topology:
    plain = local(1, servers)
    nodes = tuple(
        replace(node, memory_mib=node.memory_mib + 4096) if "worker" in node.roles else node
        for node in plain.nodes
    )
    return with_variant(replace(plain, nodes=nodes), configuration=configuration)


def rendered(configuration: Configuration, servers: int = 1) -> Rendered:
    return render(blueprint(topology(configuration, servers)))


def site(files: Rendered, path: str) -> dict[str, str]:
    root = ET.fromstring(files.files[path])
    return {entry.findtext("name", ""): entry.findtext("value", "") for entry in root}


def argv(files: Rendered, name: str) -> tuple[str, ...]:
    return next(daemon.command.argv for daemon in files.daemons if daemon.name == name)


def test_properties_replace_our_own_and_are_added_on_every_node_and_for_clients() -> None:
    files = rendered(MINE)
    for place in ("nodes/m1", "nodes/w1", "client"):
        hbase, hdfs = site(files, f"{place}/hbase-site.xml"), site(files, f"{place}/hdfs-site.xml")
        assert hbase["hfile.block.cache.size"] == "0.2"
        assert hbase["hbase.regionserver.handler.count"] == "60"
        assert hdfs["dfs.datanode.handler.count"] == "20"


def test_only_what_is_set_differs_from_our_own_configuration() -> None:
    plain, mine = rendered(Configuration()), rendered(MINE)
    assert {p for p in plain.files if plain.files[p] != mine.files[p]} == {
        f"{place}/{name}-site.xml"
        for place in ("nodes/m1", "nodes/w1", "client")
        for name in ("hbase", "hdfs")
    }
    changed = {d.name for d in plain.daemons if d.command.argv != argv(mine, d.name)}
    assert changed == {"regionserver-1", "namenode"}


def test_heap_collector_and_flags_of_a_kind_of_daemon() -> None:
    files = rendered(MINE)
    server = argv(files, "regionserver-1")
    assert {"-Xmx512m", "-XX:+UseZGC", "-XX:+AlwaysPreTouch"} <= set(server)
    assert "-XX:+UseParallelGC" in argv(files, "namenode")
    for daemon in files.daemons:
        assert len([word for word in daemon.command.argv if word.endswith("GC")]) == 1


def test_an_off_heap_cache_is_taken_from_the_heap_and_allowed_as_direct_memory() -> None:
    cached = Configuration(block_cache=BlockCache("off-heap", 512))
    plain, server = (argv(rendered(one), "regionserver-1") for one in (Configuration(), cached))
    heap, less = (int(words[2].removeprefix("-Xmx").removesuffix("m")) for words in (plain, server))
    assert less == heap - 512
    assert f"-XX:MaxDirectMemorySize={heap}m" in server
    assert not [word for word in plain if "MaxDirectMemorySize" in word]
    assert "hbase.bucketcache.ioengine=offheap" in server
    assert "hbase.bucketcache.size=512" in server
    assert not [w for w in argv(rendered(cached), "hmaster") if "bucketcache" in w]


def test_each_regionserver_has_a_cache_file_of_its_own() -> None:
    files = rendered(Configuration(block_cache=BlockCache("flash", 1024)), servers=2)
    engines = [
        word
        for name in ("regionserver-1", "regionserver-2")
        for word in argv(files, name)
        if word.startswith("hbase.bucketcache.ioengine=")
    ]
    folder = (
        "hbase.bucketcache.ioengine=file:/data/density-study/s/r/b1/w1/block-cache-regionserver"
    )
    assert engines == [f"{folder}-1", f"{folder}-2"]


def test_a_cache_file_lies_on_the_disk_that_was_made_for_it() -> None:
    variant = topology(Configuration(block_cache=BlockCache("flash", 1024)))
    variant = replace(
        variant,
        nodes=tuple(replace(node, cache_disk=Disk("/fast", "flash")) for node in variant.nodes),
    )
    built = blueprint(variant)
    places = replace(built.places, cache={"w1": PurePath("/fast/w1")})
    words = argv(render(replace(built, places=places)), "regionserver-1")
    assert "hbase.bucketcache.ioengine=file:/fast/w1/block-cache-regionserver-1" in words
    assert ("w1", PurePath("/fast/w1")) in places.all_data(variant.nodes)


def test_a_mapped_file_and_emulated_persistent_memory_are_named_as_hbase_does() -> None:
    mapped = argv(
        rendered(Configuration(block_cache=BlockCache("flash", 512, True))), "regionserver-1"
    )
    folder = "/data/density-study/s/r/b1/w1/block-cache-regionserver-1"
    assert f"hbase.bucketcache.ioengine=mmap:{folder}" in mapped
    assert not [word for word in mapped if "MaxDirectMemorySize" in word]
    variant = topology(Configuration(block_cache=BlockCache("pmem", 512)))
    variant = replace(
        variant, nodes=tuple(replace(node, cache_disk=MemoryFolder()) for node in variant.nodes)
    )
    built = blueprint(variant)
    places = replace(built.places, cache={"w1": PurePath("/dev/shm/w1")})
    words = argv(render(replace(built, places=places)), "regionserver-1")
    assert "hbase.bucketcache.ioengine=pmem:/dev/shm/w1/block-cache-regionserver-1" in words
    assert not [word for word in words if "MaxDirectMemorySize" in word]
    plain = argv(rendered(Configuration()), "regionserver-1")
    heap, less = (int(w[2].removeprefix("-Xmx").removesuffix("m")) for w in (plain, words))
    assert less == heap - 512  # memory of the host, like off-heap


def test_a_cache_of_hdfs_lies_in_its_folder_and_reports_every_second() -> None:
    variant = topology(Configuration(hdfs_cache_mib=512))
    built = blueprint(variant)
    places = replace(built.places, cache={"w1": PurePath("/dev/shm/w1")})
    cached, plain = render(replace(built, places=places)), rendered(Configuration())
    pmem, report = "dfs.datanode.pmem.cache.dirs", "dfs.cachereport.intervalMsec"
    refresh = "dfs.namenode.path.based.cache.refresh.interval.ms"
    for place, more in (
        ("nodes/w1", {pmem: "/dev/shm/w1", report: "1000"}),
        ("nodes/m1", {refresh: "1000"}),
        ("client", {}),
    ):
        before, after = (site(one, f"{place}/hdfs-site.xml") for one in (plain, cached))
        assert after == before | more
    assert "dfs.datanode.max.locked.memory" not in site(cached, "nodes/w1/hdfs-site.xml")
    heap, less = (
        int(argv(one, "regionserver-1")[2].removeprefix("-Xmx").removesuffix("m"))
        for one in (plain, cached)
    )
    assert less == heap - 512


def test_a_java_that_a_study_names_has_a_class_archive_of_its_own() -> None:
    variant = with_variant(local(1), versions=Versions(java=17))
    (archive,) = {
        word.rpartition("/")[2]
        for daemon in render(blueprint(variant)).daemons
        for word in daemon.command.argv
        if word.startswith("-XX:SharedArchiveFile=")
    }
    assert archive == "classes-17.jsa"
