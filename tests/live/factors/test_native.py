"""Software of the user: a tarball of Hadoop with native libraries, and a jar with a coprocessor.

No package registry has Apache's tarball. The test packs one, of the jars of Maven Central and a libhadoop.so:
that of io.trino.hadoop:hadoop-apache (nativelib/Linux-amd64), or of what DENSITY_STUDY_NATIVE names.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.host import Disk
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import Versions
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.cluster.stack.brought.bring import bring_hadoop, bring_jars
from tests.live.factors.one_build import SHORT_CIRCUIT, Build, built, variant

TRINO = Path.home() / ".m2/repository/io/trino/hadoop/hadoop-apache"
FETCH = "mvn dependency:get -Dartifact=io.trino.hadoop:hadoop-apache:3.3.5-3"
COPROCESSOR = """
package org.example;
public class Loaded implements org.apache.hadoop.hbase.coprocessor.RegionCoprocessor {}
"""
pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def library() -> bytes:
    if given := os.environ.get("DENSITY_STUDY_NATIVE", ""):
        return (Path(given) / "libhadoop.so").read_bytes()
    for jar in sorted(TRINO.glob("*/*.jar")):
        with zipfile.ZipFile(jar) as archive:
            return archive.read("nativelib/Linux-amd64/libhadoop.so")
    pytest.skip(f"no libhadoop.so here; run {FETCH}, or set DENSITY_STUDY_NATIVE to its folder")


@pytest.fixture(scope="module")
def versions(library: bytes, tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Of a tarball as Apache packs it, after `study stack add hadoop`, and of a jar."""
    folder = tmp_path_factory.mktemp("brought")
    path = folder / "hadoop-3.4.2.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for jar in sorted((ensure("hadoop").home / "lib").iterdir()):
            archive.add(jar, f"hadoop-3.4.2/share/hadoop/common/lib/{jar.name}")
        entry = tarfile.TarInfo("hadoop-3.4.2/lib/native/libhadoop.so.1.0.0")
        entry.size = len(library)
        archive.addfile(entry, io.BytesIO(library))
        entry = tarfile.TarInfo("hadoop-3.4.2/lib/native/libhadoop.so")
        entry.type, entry.linkname = tarfile.SYMTYPE, "libhadoop.so.1.0.0"
        archive.addfile(entry)
    observed = {"hbase.coprocessor.region.classes": "org.example.Loaded"}
    jars = bring_jars([_coprocessor(folder)], observed).jars
    return replace(bring_hadoop(path), jars=jars)


def _coprocessor(folder: Path) -> Path:
    source = folder / "Loaded.java"
    source.write_text(COPROCESSOR)
    path = ":".join(classpath(ensure("hbase")))
    javac = Path(find_java().home) / "bin" / "javac"
    subprocess.run([str(javac), "-cp", path, "-d", str(folder / "out"), str(source)], check=True)
    jar = folder / "loaded.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.write(folder / "out/org/example/Loaded.class", "org/example/Loaded.class")
    return jar


@contextmanager
def own_disk(folder: Path) -> Iterator[Path]:
    """A file system on a device of its own, whose reads nobody else causes."""
    if os.getuid() != 0:
        pytest.skip("sizes of reads were not measured: only root mounts a file system")
    image, place = folder / "disk.img", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(3 * 2**30)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
    try:
        # as Linux has it for disks; a loop device of this kernel reads 2.5 MiB ahead without anybody's help
        _device(place, "queue/read_ahead_kb").write_text("128")
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def on_disk(placed: Topology, place: Path) -> Topology:
    nodes = tuple(
        replace(node, disk=Disk(str(place), "flash")) if "worker" in node.roles else node
        for node in placed.nodes
    )
    return replace(placed, nodes=nodes)


def kib_per_read(build: Build, place: Path) -> float:
    """Of two concurrent streams through the DataNode, from a cold cache."""
    build.dfsio("write", "128MB")
    subprocess.run(["sync", "-f", str(place)], check=True)
    for path in place.rglob("blk_*"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    before = _reads(place)
    build.dfsio("read", "128MB")
    requests, sectors = (now - then for now, then in zip(_reads(place), before, strict=True))
    assert sectors * 512 > 200 * 2**20, "the files were in memory"
    return sectors / 2 / requests


def _reads(place: Path) -> tuple[int, int]:
    """Requests and sectors that the file system's device has read."""
    stat = _device(place, "stat").read_text().split()
    return int(stat[0]), int(stat[2])


def _device(place: Path, name: str) -> Path:
    """What the kernel says of the file system's device."""
    device = place.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}") / name


def loaded_by(pid: int) -> bool:
    return "/lib/libhadoop.so" in Path(f"/proc/{pid}/maps").read_text()


def test_daemons_and_jobs_load_what_the_user_brought(tmp_path: Path, versions: Versions) -> None:
    quick = Configuration({"hdfs-site": SHORT_CIRCUIT})
    with built(tmp_path, variant(tmp_path, versions, quick)) as build:
        disclosure = build.cluster.disclosure
        assert disclosure["native_hadoop"] is True
        assert disclosure["checknative"]["hadoop"].endswith("/lib/libhadoop.so")
        assert disclosure["stacks"]["native"]["sha256"].startswith(versions.native)
        assert disclosure["stacks"]["hadoop"]["jars_sha256"].startswith(versions.tarball)
        assert disclosure["stacks"]["jars"]["sha256"].startswith(versions.jars)
        loaded = {one.name for one in build.cluster.processes if loaded_by(one.pid)}
        assert {"namenode", "datanode", "nodemanager"} <= loaded, loaded
        command = Path(f"/proc/{_pid(build, 'datanode')}/environ").read_text()
        assert f"hadoop-{versions.tarball}" in command + _classpath(build)
        log = next((build.cluster.site.root / "logs").rglob("regionserver-1.log")).read_text()
        assert "org.example.Loaded" in log, "HBase loaded no coprocessor"
        build.dfsio("write")
        build.dfsio("read")
        said = (tmp_path / "read.err").read_text()
        assert "Unable to load native-hadoop library" not in said
        assert build.short_circuited() > 0


def _pid(build: Build, name: str) -> int:
    return next(one.pid for one in build.cluster.processes if one.name == name)


def _classpath(build: Build) -> str:
    return next((build.cluster.site.root / "conf").rglob("hadoop.classpath")).read_text()


def test_concurrent_streams_issue_larger_reads(tmp_path: Path, versions: Versions) -> None:
    """DataNodes read ahead only with the library (`dfs.datanode.readahead.bytes`)."""
    found = {}
    for name, given in (("without", Versions()), ("with", replace(versions, jars=""))):
        (tmp_path / name).mkdir()
        with own_disk(tmp_path / name) as place:
            placed = on_disk(variant(tmp_path / name, given), place)
            with built(tmp_path / name, placed) as build:
                assert build.cluster.disclosure["native_hadoop"] is (name == "with")
                found[name] = kib_per_read(build, place)
    print(f"KiB per read: {found}")
    assert found["with"] > 1.5 * found["without"], found
