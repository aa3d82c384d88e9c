"""Hadoop's native libraries of the user are loaded by the daemons, and the record says so.

No package registry has Apache's own. DENSITY_STUDY_NATIVE names a tarball of Hadoop, or a folder with
libhadoop.so; the libraries of io.trino.hadoop:hadoop-apache (nativelib/Linux-amd64) are enough.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.model.versions import Versions
from density_study.cluster.stack.native import add_native
from tests.live.factors.one_build import built, variant

GIVEN = os.environ.get("DENSITY_STUDY_NATIVE", "")
pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not GIVEN, reason="DENSITY_STUDY_NATIVE names no libraries"),
]


def loaded_by(pid: int) -> bool:
    return "/lib/libhadoop.so" in Path(f"/proc/{pid}/maps").read_text()


def test_daemons_and_jobs_load_them(tmp_path: Path) -> None:
    versions = add_native(Path(GIVEN))
    with built(tmp_path, variant(tmp_path, versions=versions)) as build:
        disclosure = build.cluster.disclosure
        assert disclosure["native_hadoop"] is True
        assert disclosure["stacks"]["native"]["sha256"].startswith(versions.native)
        loaded = {one.name for one in build.cluster.processes if loaded_by(one.pid)}
        assert {"namenode", "datanode", "nodemanager"} <= loaded, loaded
        build.dfsio("write")
        build.dfsio("read")
        said = (tmp_path / "read.err").read_text()
        assert "Unable to load native-hadoop library" not in said


def test_without_them_the_record_says_so(tmp_path: Path) -> None:
    with built(tmp_path, variant(tmp_path, versions=Versions())) as build:
        assert build.cluster.disclosure["native_hadoop"] is False
