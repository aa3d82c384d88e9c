"""A property or flag that the variant's software does not know is refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from density_study.cluster.lifecycle import variant_checks
from density_study.cluster.lifecycle.variant_checks import (
    check_jvm_flags,
    check_properties,
    check_versions,
)
from density_study.cluster.model.configuration import Configuration, Jvm
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import VERSIONS, Versions, check_vendor
from density_study.cluster.stack.property_names import PROPERTIES
from density_study.cluster.stack.recipes import NEWEST_ZOOKEEPER
from density_study.workloads.study.factors.stack import StackLevel
from tests.support.topologies import local, with_variant

KNOWN: Mapping[str, str] = {"hadoop": "dfs.known\ndfs.client.known\n", "hbase": "hbase.known\n"}


def variant(configuration: Configuration) -> Topology:
    return with_variant(local(1), configuration=configuration, levels={"configuration": "mine"})


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in KNOWN.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / PROPERTIES).write_text(text)
    monkeypatch.setattr(variant_checks, "stack_home", lambda name, _: tmp_path / name)
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_known_properties_are_taken_in_their_files() -> None:
    check_properties(variant(Configuration({"hdfs-site": {"dfs.known": "1"}})))
    check_properties(variant(Configuration({"hbase-site": {"hbase.known": "1", "dfs.known": "2"}})))


@pytest.mark.usefixtures("cache")
def test_an_unknown_property_is_named_with_versions_and_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"dfs\.knwon is unknown to Hadoop 3\.4\.2") as caught:
        check_properties(variant(Configuration({"hdfs-site": {"dfs.knwon": "1"}})))
    assert caught.value.remedy == "did you mean dfs.known?"
    assert caught.value.key == ("factors", "configuration", "mine", "hdfs-site", "dfs.knwon")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("dfs.datanode.failed.volumes.tolerated", 0),
        ("dfs.namenode.replication.min", 1),
        ("mapreduce.task.io.sort.mb", 175),
    ],
)
def test_a_value_that_this_build_does_not_bear_is_named_with_the_most_it_bears(
    name: str, most: int, cache: Path
) -> None:
    """One drive, one replica, and heaps of 176 MiB in containers of 256."""
    (cache / "hbase" / PROPERTIES).unlink()
    check_properties(variant(Configuration({"hdfs-site": {name: str(most)}})))
    with pytest.raises(InputError, match=f"{name} is {most + 1}, and at most {most} in ") as caught:
        check_properties(variant(Configuration({"hdfs-site": {name: str(most + 1)}})))
    assert caught.value.key == ("factors", "configuration", "mine", "hdfs-site", name)


@pytest.mark.usefixtures("cache")
def test_hdfs_does_not_read_what_only_hbase_knows() -> None:
    with pytest.raises(InputError, match=r"hbase\.known is unknown"):
        check_properties(variant(Configuration({"hdfs-site": {"hbase.known": "1"}})))


def test_without_the_stack_nobody_knows(cache: Path) -> None:
    (cache / "hbase" / PROPERTIES).unlink()
    check_properties(variant(Configuration({"hdfs-site": {"any.thing": "1"}})))


def test_the_jvm_itself_judges_its_flags() -> None:
    good = Jvm(256, "Serial", ("-XX:+AlwaysPreTouch",))
    check_jvm_flags(variant(Configuration(jvm={"regionserver": good})))
    bad = Jvm(flags=("-XX:+NoSuchFlagAtAll",))
    with pytest.raises(InputError, match="NoSuchFlagAtAll") as caught:
        check_jvm_flags(variant(Configuration(jvm={"datanode": bad})))
    assert caught.value.where == "configuration mine, jvm.datanode"


def test_shipped_versions_are_known_and_others_are_named_with_their_command() -> None:
    check_versions([VERSIONS, Versions("3.4.1")])
    with pytest.raises(InputError) as caught:
        check_versions([VERSIONS, Versions("9.9.9")])
    assert "study stack add hadoop 9.9.9" in caught.value.remedy
    check_versions([Versions(zookeeper=NEWEST_ZOOKEEPER)])
    with pytest.raises(
        InputError, match=r"HBase 2\.\S+, ZooKeeper 3\.0\.1 are not known"
    ) as caught:
        check_versions([Versions(zookeeper="3.0.1")])
    assert "study stack add zookeeper 3.0.1 --hadoop 3.4.2 --hbase" in caught.value.remedy


@pytest.mark.parametrize(
    "version",
    [
        "3.0.0-cdh6.3.2", "3.1.1.7.1.7.0-551", "3.1.1.3.1.4.0-315", "2.10.1-amzn-4",
        "3.3.3.200-eep-921", "3.2.4-1.0.0", "3.3.5.0-ODP",
    ],
)  # fmt: skip
def test_a_vendors_build_is_refused_without_a_circle(version: str) -> None:
    """No remedy names a command that refuses it, too."""
    with pytest.raises(InputError, match="are not on Maven Central") as caught:
        check_versions([Versions(version)])
    assert "study stack add" not in caught.value.remedy
    with pytest.raises(InputError, match="are not on Maven Central"):
        check_vendor(version, "version of hadoop")
    with pytest.raises(ValueError, match="are not on Maven Central"):
        StackLevel(hadoop=version)


def test_apache_versions_are_no_vendors() -> None:
    for version in ("3.4.2", "2.6.4-hadoop3", "3.5.0", "2.5.13-hadoop3", "3.0.0-beta-1",
                    "3.4.3-SNAPSHOT", "3.0.0-beta-1-hadoop3", "4.0.0-alpha-1-SNAPSHOT"):  # fmt: skip
        check_vendor(version, "here")
