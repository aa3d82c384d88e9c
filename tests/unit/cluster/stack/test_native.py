"""Native libraries of the user: from a tarball or a folder, named by their content, given to every JVM."""

from __future__ import annotations

import errno
import os
import tarfile
from dataclasses import replace
from pathlib import Path, PurePath

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import NATIVE, Versions
from density_study.cluster.providers.ssh.stack_copies import StackCopy
from density_study.cluster.render.blueprint import LIBRARY_PATH
from density_study.cluster.stack import ensure, stack_home
from density_study.cluster.stack.archive import has_archive
from density_study.cluster.stack.native import add_native
from density_study.cluster.stores.store import render
from tests.support.topologies import blueprint, local
from tests.support.toy_stack import LIBRARY, LINK, REAL, native_tarball


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))


def test_a_tarball_and_its_folder_are_the_same_stack(tmp_path: Path) -> None:
    versions = add_native(native_tarball(tmp_path))
    stack = ensure(NATIVE, versions)
    assert stack.home == stack_home(NATIVE, versions)
    assert {one.name: one.read_bytes() for one in (stack.home / "lib").iterdir()} == {
        LINK: LIBRARY, REAL: LIBRARY}  # fmt: skip
    with tarfile.open(tmp_path / "hadoop-3.4.2.tar.gz") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    assert add_native(tmp_path / "unpacked" / "hadoop-3.4.2") == versions
    assert add_native(tmp_path / "unpacked" / "hadoop-3.4.2" / "lib" / "native") == versions
    assert not has_archive(stack)
    sums = StackCopy(stack, PurePath("/there"), "", "").sums
    assert sums.count(f"  lib/{LINK}") == 2 and stack.jars_sha256.startswith(versions.native)


def test_other_libraries_have_another_hash(tmp_path: Path) -> None:
    first = add_native(native_tarball(tmp_path))
    assert add_native(native_tarball(tmp_path, LIBRARY + b".")) != first


@pytest.mark.parametrize(
    ("content", "link", "said"),
    [
        (b"#!/bin/sh", LINK, "is no library for Linux"),
        (LIBRARY, "libhdfs.so", "it has no libhadoop.so"),
    ],
)
def test_what_is_no_native_library_is_refused(
    tmp_path: Path, content: bytes, link: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        add_native(native_tarball(tmp_path, content, link))


def test_what_is_no_tarball_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "missing"):
        with pytest.raises(InputError, match="cannot be read"):
            add_native(path)


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
    assert versions.with_native(("hadoop", "hbase")) == ("hadoop", "hbase", NATIVE)
    assert versions.with_native(("redis",)) == ("redis",)
    assert Versions().with_native(("hadoop",)) == ("hadoop",)


def test_a_full_disk_is_named_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system names no path with the error of a write."""

    def full(self: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = native_tarball(tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left") as raised:
        add_native(path)
    assert str(tmp_path / "cache") in str(raised.value.filename)
    assert not list((tmp_path / "cache").rglob(".*.assembling"))
