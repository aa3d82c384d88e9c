"""Software of the user: from a tarball, a folder or jars, named by its content, given to every JVM."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path, PurePath
from types import SimpleNamespace

import pytest

from density_study.cluster.lifecycle.variant_checks import check_built_versions, check_versions
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import JARS, NATIVE, Versions
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.render.blueprint import LIBRARY_PATH
from density_study.cluster.stack import ensure, property_names, stack_home
from density_study.cluster.stack.archive import has_archive
from density_study.cluster.stack.brought import bring, taken
from density_study.cluster.stack.brought.bring import bring_hadoop, bring_jars, bring_native
from density_study.cluster.stack.stack import brought_version
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local
from tests.support.toy_stack import LIBRARY, LINK, REAL, hadoop_tarball, native_tarball


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))


def test_a_tarball_and_its_folder_are_the_same_stack(tmp_path: Path) -> None:
    versions = bring_native(native_tarball(tmp_path))
    stack = ensure(NATIVE, versions)
    assert stack.home == stack_home(NATIVE, versions)
    assert {one.name: one.read_bytes() for one in (stack.home / "lib").iterdir()} == {
        LINK: LIBRARY, REAL: LIBRARY}  # fmt: skip
    with tarfile.open(tmp_path / "hadoop-3.4.2.tar.gz") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    assert bring_native(tmp_path / "unpacked" / "hadoop-3.4.2") == versions
    assert bring_native(tmp_path / "unpacked" / "hadoop-3.4.2" / "lib" / "native") == versions
    assert not has_archive(stack)
    sums = StackCopy(stack, PurePath("/there"), "", "").sums
    assert sums.count(f"  lib/{LINK}") == 2 and stack.jars_sha256.startswith(versions.native)


def test_other_libraries_have_another_hash(tmp_path: Path) -> None:
    first = bring_native(native_tarball(tmp_path))
    assert bring_native(native_tarball(tmp_path, LIBRARY + b".")) != first


@pytest.mark.parametrize(
    ("content", "link", "said"),
    [
        (b"#!/bin/sh", LINK, "is not a library for Linux"),
        (LIBRARY, "libhdfs.so", "it has no libhadoop.so"),
    ],
)
def test_what_is_no_native_library_is_refused(
    tmp_path: Path, content: bytes, link: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        bring_native(native_tarball(tmp_path, content, link))


def test_what_is_no_tarball_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "missing"):
        with pytest.raises(InputError, match="cannot be read"):
            bring_native(path)


def test_a_hash_that_this_machine_does_not_know_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="study stack add native"):
        ensure(NATIVE, Versions(native="0123456789ab"))


def test_every_jvm_and_every_container_finds_them() -> None:
    plain = blueprint(local(1))
    own = render(replace(plain, homes=replace(plain.homes, native=PurePath("/n/lib"))))
    assert {one.command.env.get(LIBRARY_PATH) for one in own.daemons} == {"/n/lib"}
    assert own.files["client/mapred-site.xml"].count("LD_LIBRARY_PATH=/n/lib") == 2
    assert LIBRARY_PATH not in str(render(plain).files)


def test_nodes_of_hadoop_alone_need_them() -> None:
    versions = Versions(native="0123456789ab")
    assert versions.with_brought(("hadoop", "hbase")) == ("hadoop", "hbase", NATIVE)
    assert versions.with_brought(("redis",)) == ("redis",)
    assert Versions().with_brought(("hadoop",)) == ("hadoop",)


def test_a_full_disk_is_named_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system names no path with the error of a write."""

    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = native_tarball(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as raised:
        bring_native(path)
    assert str(tmp_path / "cache") in str(raised.value.filename)
    assert not list((tmp_path / "cache").rglob(".*.assembling"))


def test_each_file_is_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hadoop's have 0.3 GB."""
    hashed: list[bytes] = []

    def sha256(content: bytes) -> object:
        hashed.append(content)
        return hashlib.sha256(content)

    monkeypatch.setattr(bring, "hashlib", SimpleNamespace(sha256=sha256))
    bring_jars([jar(tmp_path / "counter.jar")], {})
    assert hashed.count((tmp_path / "counter.jar").read_bytes()) == 1


def test_the_files_of_a_folder_have_one_limit_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is named for what the others left of it."""
    monkeypatch.setattr(taken, "_MOST_BYTES", 3 << 20)
    for name in ("one.jar", "two.jar"):
        (tmp_path / name).write_bytes(b"PK\x03\x04" + bytes(2 << 20))
    with pytest.raises(InputError, match="its files have more than 3 MiB together") as caught:
        bring_jars([tmp_path], {})
    assert caught.value.where == str(tmp_path)


def jar(path: Path, text: str = "x") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("name.txt", text)
    return path


def test_a_tarball_of_hadoop_takes_the_place_of_its_jars(tmp_path: Path) -> None:
    versions = bring_hadoop(hadoop_tarball(tmp_path))
    assert (versions.hadoop, bool(versions.native)) == ("3.4.2", True)
    stack = ensure("hadoop", versions)
    assert stack.version == "3.4.2" and versions.tarball in stack.home.name
    names = {one.name for one in (stack.home / "lib").iterdir()}
    assert "hadoop-common-3.4.2.jar" in names and "guava-27.jar" in names
    assert not any("sources" in name or name.endswith(".sh") for name in names)
    assert (stack.home / "webapps" / "hdfs").is_dir()
    assert "dfs.x.enabled" in (stack.home / "properties.txt").read_text().split()
    assert has_archive(stack)
    with pytest.raises(
        InputError, match=r"tarball has Hadoop 3\.4\.2, and the study names 3\.4\.1"
    ):
        ensure("hadoop", replace(versions, hadoop="3.4.1"))


@pytest.mark.parametrize("to", ["/usr/lib64/libsnappy.so.1", "libsnappy.so.1.1.8"])
def test_libraries_that_are_not_in_the_tarball_keep_nobody_from_hadoop(
    tmp_path: Path, to: str
) -> None:
    """A vendor's tarball may have links to the system's libraries."""
    path, said = hadoop_tarball(tmp_path, links={"libsnappy.so.1": to}), list[str]()
    versions = bring_hadoop(path, said.append)
    assert (versions.hadoop, versions.native) == ("3.4.2", "")
    assert ensure("hadoop", versions).version == "3.4.2"
    (line,) = said
    assert "libsnappy.so.1 is a link" in line and line.endswith("Hadoop is taken without them.")
    with pytest.raises(InputError, match=r"libsnappy\.so\.1 is a link"):
        bring_native(path)


def test_a_damaged_library_is_an_error_before_anything_is_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a library for Linux"):
        bring_hadoop(hadoop_tarball(tmp_path, library=b"#!/bin/sh"))
    assert not (tmp_path / "cache").exists()


def test_a_damaged_jar_of_hadoop_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a jar of it cannot be read"):
        bring_hadoop(hadoop_tarball(tmp_path, defaults=b"<configuration>"))
    assert not list((tmp_path / "cache").rglob("lib"))


def _unpacked_with(tmp_path: Path, content: bytes) -> Path:
    with tarfile.open(hadoop_tarball(tmp_path)) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    (found,) = (tmp_path / "unpacked").rglob("hadoop-hdfs-3.4.2.jar")
    found.write_bytes(content)
    return tmp_path / "unpacked" / "hadoop-3.4.2"


def test_a_jar_that_unpacks_to_many_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(property_names, "_MOST_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "bomb.jar", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("A.class", "B.class", "picture.png"):
            archive.writestr(name, bytes(600_000))
    with pytest.raises(InputError, match=r"hadoop-hdfs-3\.4\.2\.jar unpacks to more than 1 MiB"):
        bring_hadoop(_unpacked_with(tmp_path, (tmp_path / "bomb.jar").read_bytes()))
    assert not list((tmp_path / "cache").rglob("lib"))


def test_an_encrypted_jar_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    content = bytearray(jar(tmp_path / "plain.jar").read_bytes().replace(b"name.txt", b"Aa.class"))
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + flags] |= 1
    with pytest.raises(InputError, match=r"a jar of it cannot be read: .*encrypted"):
        bring_hadoop(_unpacked_with(tmp_path, bytes(content)))


def test_what_is_no_hadoop_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it has no hadoop-common in share/hadoop"):
        bring_hadoop(native_tarball(tmp_path))


def test_jars_of_the_user_go_behind_those_of_hbase(tmp_path: Path) -> None:
    properties = {"hbase.coprocessor.region.classes": "org.example.Counter"}
    versions = bring_jars([jar(tmp_path / "counter.jar")], properties)
    assert versions != bring_jars([jar(tmp_path / "counter.jar")], {})
    assert versions != bring_jars([jar(tmp_path / "counter.jar", "other")], properties)
    stack = ensure(JARS, versions)
    assert json.loads((stack.home / "manifest.json").read_text())["hbase_site"] == properties
    assert versions.with_brought(("hadoop", "hbase")) == ("hadoop", "hbase", JARS)
    assert versions.with_brought(("cassandra",)) == ("cassandra",)
    plain = blueprint(local(1))
    own = render(replace(plain, homes=replace(plain.homes, hbase_properties=properties)))
    assert "org.example.Counter" in own.files["nodes/w1/hbase-site.xml"]
    assert "org.example.Counter" not in str(render(plain).files)


@pytest.mark.parametrize("name", ["counter.zip", "counter-sources.jar"])
def test_a_name_that_no_jar_has_is_answered_with_one_that_a_jar_has(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(InputError, match=r"must end in \.jar, like counter\.jar; jars of sources"):
        bring_jars([jar(tmp_path / name)], {})


@pytest.mark.parametrize("name", ["script.sh", "counter.jar", "evil-sources.jar"])
def test_what_is_no_jar_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("#!/bin/sh")
    with pytest.raises(InputError, match="jars for HBase cannot be taken from here"):
        bring_jars([tmp_path / name], {})


@pytest.mark.parametrize(
    ("above", "vendor"),
    [
        ("lib/", "3.1.1.7.1.9.0-387"),
        ("", "3.3.6-amzn-1"),
        ("", "3.3.3.200-eep-921"),
        ("", "3.2.4-1.0.0"),
        ("", "3.3.5.0-ODP"),
    ],
)
def test_a_vendors_folder_is_the_client_of_its_cluster(
    tmp_path: Path, above: str, vendor: str
) -> None:
    """CDP's parcel, or /usr/lib of Bigtop and EMR: jars are links, with second names. Versions of vendors
    that nobody had listed were taken for Apache's, and their client was refused."""
    names = [
        f"{name}-{vendor}"
        for name in ("hadoop-common", "hadoop-hdfs", "hadoop-yarn-server-resourcemanager")
    ]
    names += [
        f"hadoop-mapreduce-client-{name}" for name in (f"app-{vendor}", f"jobclient-{vendor}-tests")
    ]
    home = tmp_path / "CDH"
    (home / "jars").mkdir(parents=True)
    for name, part in zip(names, ("", "-hdfs", "-yarn", "-mapreduce", "-mapreduce"), strict=True):
        folder = home / f"{above}hadoop{part}"
        folder.mkdir(parents=True, exist_ok=True)
        jar(home / "jars" / f"{name}.jar", name)
        (folder / f"{name}.jar").symlink_to(home / "jars" / f"{name}.jar")
        (folder / f"{name.partition('-3')[0]}-any.jar").symlink_to(f"{name}.jar")
    library = home / f"{above}hadoop/lib/native/libhadoop.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(LIBRARY)
    versions = bring_hadoop(home)
    assert versions.hadoop == vendor and versions.native
    used = replace(versions, hadoop="3.3.6")
    stack = ensure("hadoop", used)
    assert stack.version == vendor == brought_version(used)
    assert {one.name for one in (stack.home / "lib").iterdir()} == {f"{one}.jar" for one in names}
    with pytest.raises(InputError, match="is a vendor's build"):
        check_built_versions([used])
    check_versions([used])  # as the client of an existing cluster
