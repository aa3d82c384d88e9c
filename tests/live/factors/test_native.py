"""Software of the user: a tarball of Hadoop with native libraries, and a jar with a coprocessor.

No package registry has Apache's tarball. The test packs one, of the jars of Maven Central and Trino's
libhadoop.so.
"""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.versions import Versions
from density_study.cluster.stack import classpath, ensure, find_java
from density_study.cluster.stack.brought.bring import bring_hadoop, bring_jars
from tests.live.factors.one_build import SHORT_CIRCUIT, Build, built, variant
from tests.live.factors.read_sizes import read_sizes
from tests.live.secure.native_hadoop import native_library

COPROCESSOR = """
package org.example;
public class Loaded implements org.apache.hadoop.hbase.coprocessor.RegionCoprocessor {}
"""
pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    """Of a tarball as Apache packs it, after `study stack add hadoop`, and of a jar."""
    folder = tmp_path_factory.mktemp("brought")
    library = (native_library(folder) / "libhadoop.so").read_bytes()
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


def loaded_by(pid: int) -> bool:
    return "/lib/libhadoop.so" in Path(f"/proc/{pid}/maps").read_text()


def test_daemons_and_jobs_load_what_the_user_brought(tmp_path: Path, versions: Versions) -> None:
    quick = Configuration({"hdfs-site": SHORT_CIRCUIT})
    with built(tmp_path, variant(tmp_path, versions, quick)) as build:
        disclosure = build.cluster.disclosure
        assert disclosure["native_hadoop"] is True
        found = disclosure["checknative"]
        assert found["hadoop"].endswith("/lib/libhadoop.so")
        assert "/" in found["zlib"] and "/" in found["zstd"], found
        assert disclosure["stacks"]["native"]["sha256"].startswith(versions.native)
        assert disclosure["stacks"]["hadoop"]["jars_sha256"].startswith(versions.tarball)
        assert disclosure["stacks"]["jars"]["sha256"].startswith(versions.jars)
        loaded = {one.name for one in build.cluster.processes if loaded_by(one.pid)}
        assert {"namenode", "datanode", "nodemanager"} <= loaded, loaded
        assert f"/hadoop-{versions.tarball}/lib/" in _classpath(_pid(build, "datanode"))
        log = next((build.cluster.site.root / "logs").rglob("regionserver-1.log")).read_text()
        assert "org.example.Loaded" in log, "HBase loaded no coprocessor"
        build.dfsio("write")
        build.dfsio("read")
        said = (tmp_path / "read.err").read_text()
        assert "Unable to load native-hadoop library" not in said
        assert build.short_circuited() > 0


def _pid(build: Build, name: str) -> int:
    return next(one.pid for one in build.cluster.processes if one.name == name)


def _classpath(pid: int) -> str:
    """The file that a daemon's command line names (`render.conf_files.classpath_flag`)."""
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    (flag,) = (word for word in words if word.endswith("/hadoop.classpath"))
    return Path(flag.removeprefix("@")).read_text()


def test_concurrent_streams_issue_larger_reads(tmp_path: Path, versions: Versions) -> None:
    """DataNodes read ahead only with the library (`dfs.datanode.readahead.bytes`)."""
    if os.getuid() != 0:
        pytest.skip("sizes of reads were not measured: only root mounts a file system")
    found = {}
    for name, given in (("without", Versions()), ("with", replace(versions, jars=""))):
        (tmp_path / name).mkdir()
        sizes = read_sizes(tmp_path / name, given)
        assert sizes.native_hadoop is (name == "with")
        found[name] = sizes.kib_per_read
    print(f"KiB per read: {found}")
    assert found["with"] > 1.5 * found["without"], found
