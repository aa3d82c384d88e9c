"""Servers in client configurations of vendors, and in odd ones: Hadoop's own reading is the right answer,
but where a row says that this one is more lenient."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.secrets import is_secret
from density_study.cluster.providers.existing.configuration import (
    ClientConfiguration,
    read_configuration,
)
from density_study.cluster.render.conf_files import configuration_xml

Site = dict[str, str]
MEMBERS: Site = {
    "dfs.nameservices": "ns",
    "dfs.ha.namenodes.ns": "a,b",
    "dfs.namenode.rpc-address.ns.a": "m1:8020",
    "dfs.namenode.rpc-address.ns.b": "m2:8020",
}
OLD_PORTS: Site = {
    **MEMBERS,
    "dfs.namenode.http-address.ns.a": "m1:50070",
    "dfs.namenode.http-address.ns.b": "m2:50070",
}
OVERLOADED = "org.apache.hadoop.fs.viewfs.ViewFileSystemOverloadScheme"


def read(
    folder: Path, default: str = "", hdfs: Site | None = None, yarn: Site | None = None, **more: str
) -> ClientConfiguration:
    core = {"fs.defaultFS": default, **{name.replace("__", "."): v for name, v in more.items()}}
    hbase = {"hbase.zookeeper.quorum": "zk1:2182,zk2:2182"}
    sites = {"core-site": core, "hbase-site": hbase, "hdfs-site": hdfs, "yarn-site": yarn}
    for site, properties in sites.items():
        (folder / f"{site}.xml").write_text(configuration_xml(properties or {}))
    return read_configuration(folder)


NAMENODES: dict[str, tuple[str, Site, list[str]]] = {
    "federation, by host": (
        "hdfs://m1.corp:8020",
        {"dfs.nameservices": "ns1,ns2", "dfs.namenode.rpc-address.ns1": "m1.corp:8020",
         "dfs.namenode.http-address.ns1": "m1.corp:50070", "dfs.namenode.rpc-address.ns2": "m2.corp:8020",
         "dfs.namenode.http-address.ns2": "m2.corp:50071"},
        ["m1.corp:50070"],
    ),
    "a web server's address for all nameservices": (
        "hdfs://nn:8020",
        {"dfs.nameservices": "ns1", "dfs.namenode.rpc-address.ns1": "nn:8020",
         "dfs.namenode.http-address": "nn:50070"},
        ["nn:50070"],
    ),
    "the same by TLS": (
        "hdfs://nn:8020",
        {"dfs.nameservices": "ns1", "dfs.namenode.rpc-address.ns1": "nn:8020",
         "dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.https-address": "nn:50470"},
        ["https://nn:50470"],
    ),
    "a port for all members": (
        "hdfs://ns",
        {**MEMBERS, "dfs.namenode.http-address": "0.0.0.0:50070"},
        ["m1:50070", "m2:50070"],
    ),
    "one NameNode of two": ("hdfs://m2:8020", OLD_PORTS, ["m2:50070"]),
    "one NameNode of two, without a port": ("hdfs://M2", OLD_PORTS, ["m2:50070"]),
    "three NameNodes": (
        "hdfs://ns",
        {"dfs.ha.namenodes.ns": "a,b,c",
         **{f"dfs.namenode.http-address.ns.{one}": f"m{one}:9870" for one in "abc"}},
        ["ma:9870", "mb:9870", "mc:9870"],
    ),
    "listens on all addresses": (
        "hdfs://ns",
        {**MEMBERS, "dfs.namenode.http-address.ns.a": "[::]:50070",
         "dfs.namenode.http-address.ns.b": ":50070"},
        ["m1:50070", "m2:50070"],
    ),
    "IPv6": ("hdfs://[2001:db8::1]:8020", {}, ["[2001:db8::1]:9870"]),
    "all of IPv6": ("hdfs://nn:8020", {"dfs.namenode.http-address": "[::]:9870"}, ["nn:9870"]),
    "no port": ("hdfs://nn:8020", {"dfs.namenode.http-address": "web"}, ["web:9870"]),
    "a URL": ("hdfs://nn:8020", {"dfs.namenode.http-address": "http://nn:50070/"}, ["nn:50070"]),
    "a default of the environment": ("hdfs://${env.NN:-nn1}:8020", {}, ["nn1:9870"]),
    "a user": ("hdfs://hadoop@nn:8020/user", {}, ["nn:9870"]),
    "upper case": ("HDFS://NN.Corp:8020", {}, ["nn.corp:9870"]),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMENODES)
def test_namenodes(name: str, tmp_path: Path) -> None:
    default, hdfs, expected = NAMENODES[name]
    assert read(tmp_path, default, hdfs).namenodes_http() == expected


REFUSED: dict[str, tuple[str, Site, str, str]] = {
    "a port of a nameservice": ("hdfs://ns:8020", MEMBERS, "'hdfs://ns:8020'", "write hdfs://ns."),
    "a nameservice without members": (
        "hdfs://ns1", {"dfs.nameservices": "ns1", "dfs.namenode.http-address.ns1": "m1:9870"},
        "dfs.ha.namenodes.ns1 is missing", "name the NameNodes of the nameservice ns1",
    ),
    "a variable of the environment": (
        "hdfs://${env.NN}:8020", {}, "uses ${env.NN}", "existing.variables: {env.NN: ...}",
    ),
    "a variable of nobody": (
        "hdfs://nn", {"dfs.namenode.http-address": "${nn.host}:9870"},
        "uses ${nn.host}", "existing.variables",
    ),
    "a template": ("hdfs://{{ host }}:8020", {}, "'hdfs://{{ host }}:8020'", "hdfs://host:8020"),
    "a port that is none": ("hdfs://nn:{{port}}", {}, "'hdfs://nn:{{port}}'", "hdfs://host:8020"),
    "two addresses": ("hdfs://a:8020,hdfs://b:8020", {}, "'hdfs://a:8020,hdfs", "hdfs://host:8020"),
    "an open bracket": ("hdfs://[nn:8020", {}, "'hdfs://[nn:8020'", "hdfs://host:8020"),
    "no web server's address": (
        "hdfs://nn", {"dfs.namenode.http-address": "a:1,b:2"}, "'a:1,b:2'", "write host:port",
    ),
    "Huawei's store": ("obs://bucket", {}, "'obs://bucket'", "a store of Huawei"),
    "Tencent's store": ("cosn://bucket-125", {}, "'cosn://bucket-125'", "a store of Tencent"),
    "MapR": ("maprfs:///", {}, "'maprfs:///'", "MapR's file system"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_no_namenode_is_one_error_with_a_remedy(name: str, tmp_path: Path) -> None:
    default, hdfs, what, remedy = REFUSED[name]
    with pytest.raises(InputError) as caught:
        read(tmp_path, default, hdfs).namenodes_http()
    assert what in caught.value.what
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("kind", [OVERLOADED, "org.apache.hadoop.hdfs.ViewDistributedFileSystem"])
def test_mounts_under_the_name_of_hdfs_are_refused(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="table of mounts"):
        read(tmp_path, "hdfs://ClusterX", fs__hdfs__impl=kind).namenodes_http()


RM = "yarn.resourcemanager"
MANAGERS: dict[str, tuple[Site, list[str]]] = {
    "IPv6": ({f"{RM}.hostname": "2001:db8::2"}, ["[2001:db8::2]:8088"]),
    "all of IPv6": ({f"{RM}.hostname": "rm", f"{RM}.webapp.address": "[::]:8188"}, ["rm:8188"]),
    "high availability is off": (
        {f"{RM}.ha.enabled": "false", f"{RM}.ha.rm-ids": "rm1,rm2", f"{RM}.hostname": "r1"}, ["r1:8088"],
    ),
    "a pair without ha.enabled, which Hadoop would not take for one; addresses alone": (
        {f"{RM}.ha.rm-ids": "rm1,rm2", f"{RM}.address.rm1": "r1:8032", f"{RM}.address.rm2": "r2:8032"},
        ["r1:8088", "r2:8088"],
    ),
    "a property of its own": (
        {f"{RM}.hostname": "r9", f"{RM}.webapp.address": f"${{{RM}.hostname}}:8188"}, ["r9:8188"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MANAGERS)
def test_resourcemanagers(name: str, tmp_path: Path) -> None:
    yarn, expected = MANAGERS[name]
    assert read(tmp_path, "hdfs://nn", yarn=yarn).resourcemanagers_http() == expected


def test_a_resourcemanager_by_an_open_variable_is_refused(tmp_path: Path) -> None:
    found = read(tmp_path, yarn={f"{RM}.webapp.address": f"${{{RM}.hostname}}:8088"})
    with pytest.raises(InputError, match=r"uses \$\{yarn\.resourcemanager\.hostname\}"):
        found.resourcemanagers_http()
    given = found.with_variables([(f"{RM}.hostname", "r7")])
    assert given.resourcemanagers_http() == ["r7:8088"]


def test_elements_with_a_prefix_below_a_root_without_one_are_read(tmp_path: Path) -> None:
    text = configuration_xml({"fs.defaultFS": "hdfs://nn"})
    text = text.replace("<configuration", '<configuration xmlns:h="urn:hadoop"', 1)
    for tag in ("property", "name", "value"):
        text = text.replace(f"<{tag}>", f"<h:{tag}>").replace(f"</{tag}>", f"</h:{tag}>")
    assert "<h:property>" in text
    for site in ("core-site", "hbase-site"):
        (tmp_path / f"{site}.xml").write_text(text)
    assert read_configuration(tmp_path).namenodes_http() == ["nn:9870"]


def test_elements_of_any_namespace_are_read(tmp_path: Path) -> None:
    text = configuration_xml({"fs.defaultFS": "hdfs://nn"})
    for site in ("core-site", "hbase-site"):
        xml = text.replace("<configuration", '<configuration xmlns="urn:hadoop"')
        (tmp_path / f"{site}.xml").write_text(xml)
    assert read_configuration(tmp_path).namenodes_http() == ["nn:9870"]


def test_where_vendors_keep_the_other_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text(configuration_xml({"fs.defaultFS": "hdfs://nn"}))
    with pytest.raises(InputError, match=r"lacks hbase-site\.xml.*/etc/hbase/conf"):
        read_configuration(tmp_path)


def test_the_address_of_the_key_servers_is_no_secret() -> None:
    for name in ("hadoop.security.key.provider.path", "dfs.encryption.key.provider.uri"):
        assert not is_secret(name, "kms://https@kms1;kms2:9494/kms")
        assert is_secret(name, "kms://user:word@kms1:9494/kms")
    assert is_secret("dfs.encryption.key", "00ff")
