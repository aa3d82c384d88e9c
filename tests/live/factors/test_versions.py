"""Every shipped pair of Hadoop and HBase, and a newer ZooKeeper, runs HDFS, YARN and HBase, and says itself
which version it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.stack.java import fault_of, find_java, installed_features
from density_study.cluster.stack.recipes import NEWEST_ZOOKEEPER, locked_versions, recipe_of
from tests.live.factors.one_build import built, variant

pytestmark = pytest.mark.timeout(1200)
NEWEST_JAVA = 25
"""The last release with long support; before Hadoop 3.5.0 nothing runs on it."""
SHIPPED = [one for one in locked_versions() if recipe_of("hbase", one).shipped_lock.exists()]


@pytest.mark.parametrize(
    "versions", [*SHIPPED, replace(VERSIONS, zookeeper=NEWEST_ZOOKEEPER)], ids=str
)
def test_a_shipped_version_runs_and_is_the_one_that_was_declared(
    versions: Versions, tmp_path: Path
) -> None:
    with built(tmp_path, variant(tmp_path, versions)) as build:
        build.dfsio("write")
        build.dfsio("read")
        info = build.bean(build.daemon("namenode"), "Hadoop:service=NameNode,name=NameNodeInfo")
        assert info["SoftwareVersion"] == versions.hadoop
        stacks = build.cluster.disclosure["stacks"]
        assert stacks["hadoop"]["version"] == versions.hadoop
        assert stacks["hbase"]["version"] == versions.hbase
        log = next((build.cluster.site.root / "logs").rglob("hmaster.log")).read_text()
        assert f"HBase {versions.hbase}" in log
        if versions.zookeeper:
            log = next((build.cluster.site.root / "logs").rglob("zookeeper.log")).read_text()
            assert f"zookeeper.version={versions.zookeeper}" in log
            assert stacks["zookeeper"]["version"] == versions.zookeeper


@pytest.mark.parametrize(
    "versions",
    [replace(one, java=NEWEST_JAVA) for one in SHIPPED if not fault_of(NEWEST_JAVA, one.hadoop)],
    ids=str,
)
def test_daemons_containers_and_tools_run_on_the_newest_java(
    versions: Versions, tmp_path: Path
) -> None:
    if NEWEST_JAVA not in installed_features():
        pytest.skip(f"no JDK {NEWEST_JAVA} is installed")
    home = find_java(feature=NEWEST_JAVA).home
    with built(tmp_path, variant(tmp_path, versions)) as build:
        build.dfsio("write")
        build.dfsio("read")
        for daemon in ("namenode", "datanode", "nodemanager", "hmaster", "regionserver-1"):
            pid = next(one.pid for one in build.cluster.processes if one.name == daemon)
            assert Path(f"/proc/{pid}/exe").resolve().is_relative_to(home.resolve()), daemon
