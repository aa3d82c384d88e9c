"""Client configurations of given clusters, as their administrators write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.existing.configuration import read_configuration
from density_study.cluster.render.conf_files import configuration_xml

CORE = {"fs.defaultFS": "hdfs://nn.example:8020"}
HBASE = {"hbase.zookeeper.quorum": "zk.example"}


def conf(folder: Path, **sites: dict[str, str]) -> Path:
    given = {"core_site": CORE, "hbase_site": HBASE, **sites}
    for site, properties in given.items():
        (folder / f"{site.replace('_', '-')}.xml").write_text(configuration_xml(properties))
    return folder


def test_defaults_are_hadoops(tmp_path: Path) -> None:
    found = read_configuration(
        conf(tmp_path, yarn_site={"yarn.resourcemanager.hostname": "rm.example"})
    )
    assert found.namenodes_http() == ["nn.example:9870"]
    assert found.resourcemanagers_http() == ["rm.example:8088"]


def test_a_wildcard_address_is_that_of_the_default_file_system(tmp_path: Path) -> None:
    hdfs = {"dfs.namenode.http-address": "0.0.0.0:50070"}
    assert read_configuration(conf(tmp_path, hdfs_site=hdfs)).namenodes_http() == [
        "nn.example:50070"
    ]


def test_high_availability_names_all_members(tmp_path: Path) -> None:
    found = read_configuration(conf(
        tmp_path,
        core_site={"fs.defaultFS": "hdfs://prod"},
        hdfs_site={
            "dfs.ha.namenodes.prod": "nn1, nn2",
            "dfs.namenode.http-address.prod.nn1": "${first}:9870",
            "dfs.namenode.http-address.prod.nn2": "b:9870",
            "first": "a",
        },
        yarn_site={
            "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
            "yarn.resourcemanager.hostname.rm1": "c",
            "yarn.resourcemanager.webapp.address.rm2": "d:18088",
        },
    ))  # fmt: skip
    assert found.namenodes_http() == ["a:9870", "b:9870"]
    assert found.resourcemanagers_http() == ["c:8088", "d:18088"]


@pytest.mark.parametrize(
    ("sites", "said"),
    [
        ({"core_site": {"fs.defaultFS": "s3a://bucket"}}, "fs.defaultFS is 's3a://bucket'"),
        ({"core_site": {}}, "fs.defaultFS is missing"),
        (
            {
                "core_site": {"fs.defaultFS": "hdfs://prod"},
                "hdfs_site": {"dfs.ha.namenodes.prod": "nn1"},
            },
            "dfs.namenode.http-address.prod.nn1 is missing",
        ),
    ],
)
def test_an_hdfs_that_cannot_be_found_is_one_error(
    tmp_path: Path, sites: dict[str, dict[str, str]], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_configuration(conf(tmp_path, **sites)).namenodes_http()
    assert said in caught.value.what


def test_a_missing_resourcemanager_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_configuration(conf(tmp_path)).resourcemanagers_http()
    assert caught.value.what == "yarn.resourcemanager.hostname is missing."


def test_a_secure_cluster_is_refused(tmp_path: Path) -> None:
    secure = {**CORE, "hadoop.security.authentication": "kerberos"}
    with pytest.raises(InputError, match="secure clusters cannot be used yet"):
        read_configuration(conf(tmp_path, core_site=secure))


def test_a_missing_or_damaged_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lacks core-site\.xml"):
        read_configuration(tmp_path)
    damaged = conf(tmp_path) / "yarn-site.xml"
    damaged.write_text("<configuration><property>")
    with pytest.raises(InputError) as caught:
        read_configuration(tmp_path)
    assert caught.value.where == str(damaged)


def test_loops_of_variables_end(tmp_path: Path) -> None:
    found = read_configuration(
        conf(tmp_path, core_site={"a": "${b}", "b": "${a}", "c": "${nowhere}"})
    )
    assert found.get("c") == "${nowhere}"
    assert found.get("a") in ("${a}", "${b}")
