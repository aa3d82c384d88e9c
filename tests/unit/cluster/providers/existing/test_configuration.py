"""Client configurations of existing clusters, as their administrators write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import ExistingCluster, Kerberos
from density_study.cluster.providers.existing.configuration import (
    copy_configuration,
    read_configuration,
)
from density_study.cluster.providers.existing.login import configuration_of
from density_study.cluster.render.conf_files import configuration_xml

CORE = {"fs.defaultFS": "hdfs://nn.example:8020"}
HBASE = {"hbase.zookeeper.quorum": "zk.example"}


def conf(folder: Path, **sites: dict[str, str]) -> Path:
    existing = {"core_site": CORE, "hbase_site": HBASE, **sites}
    for site, properties in existing.items():
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
        ({"core_site": {"fs.defaultFS": "viewfs://ClusterX/"}}, "is a table of mounts"),
        ({"core_site": {"fs.defaultFS": "ofs://service"}}, "is Ozone"),
        ({"core_site": {"fs.defaultFS": "abfs://a@b.dfs.core.windows.net"}}, "store of Azure"),
    ],
)
def test_an_hdfs_that_cannot_be_found_is_one_error(
    tmp_path: Path, sites: dict[str, dict[str, str]], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_configuration(conf(tmp_path, **sites)).namenodes_http()
    assert said in str(caught.value)


def test_a_missing_resourcemanager_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_configuration(conf(tmp_path)).resourcemanagers_http()
    assert caught.value.what == "yarn.resourcemanager.hostname is missing."


SECURE = {**CORE, "hadoop.security.authentication": "kerberos"}


def existing(folder: Path, kerberos: Kerberos | None) -> ExistingCluster:
    return ExistingCluster(str(folder), "/user/me/study", "study", "default", kerberos)


def test_study_and_cluster_agree_on_kerberos(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has existing"):
        configuration_of(existing(conf(tmp_path), Kerberos()))
    for sites in (
        {"core_site": SECURE},
        {"hbase_site": {"hbase.security.authentication": "Kerberos"}},
    ):
        folder = conf(tmp_path, **sites)
        with pytest.raises(InputError, match="the cluster wants Kerberos"):
            configuration_of(existing(folder, None))
        assert configuration_of(existing(folder, Kerberos())).is_secure


def test_client_certificates_are_refused(tmp_path: Path) -> None:
    hdfs = {"dfs.http.policy": "HTTPS_ONLY", "dfs.client.https.need-auth": "true"}
    with pytest.raises(InputError, match="ask for certificates of clients"):
        configuration_of(existing(conf(tmp_path, hdfs_site=hdfs), None))


def test_tls_where_the_configuration_asks_for_it(tmp_path: Path) -> None:
    tls = {"dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.http-address": "nn.example:1"}
    yarn = {"yarn.http.policy": "HTTPS_ONLY", "yarn.resourcemanager.hostname": "rm.example"}
    found = read_configuration(conf(tmp_path, hdfs_site=tls, yarn_site=yarn))
    assert found.namenodes_http() == ["https://nn.example:9871"]
    assert found.resourcemanagers_http() == ["https://rm.example:8090"]
    assert (found.has_tls, found.hbase_scheme) == (True, "")
    both = {"dfs.http.policy": "HTTP_AND_HTTPS", "dfs.namenode.https-address": "nn.example:2"}
    found = read_configuration(conf(tmp_path, hdfs_site=both, yarn_site={}))
    assert (found.namenodes_http(), found.has_tls) == (["nn.example:9870"], False)
    named = {"dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.https-address": "0.0.0.0:2"}
    hbase = {**HBASE, "hbase.ssl.enabled": "true"}
    found = read_configuration(conf(tmp_path, hdfs_site=named, hbase_site=hbase))
    assert (found.namenodes_http(), found.hbase_scheme) == (["https://nn.example:2"], "https://")


def test_the_namenodes_principal_is_of_its_host(tmp_path: Path) -> None:
    hdfs = {"dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE.ORG"}
    found = read_configuration(conf(tmp_path, core_site=SECURE, hdfs_site=hdfs))
    assert found.namenode_principal() == "nn/nn.example@EXAMPLE.ORG"
    with pytest.raises(InputError, match=r"dfs\.namenode\.kerberos\.principal is missing"):
        read_configuration(conf(tmp_path, hdfs_site={})).namenode_principal()


def test_passwords_and_keys_are_not_copied(tmp_path: Path) -> None:
    core = {
        **CORE, "fs.s3a.secret.key": "SECRET", "fs.azure.account.key.a.example": "SECRET",
        "hadoop.security.group.mapping.ldap.bind.password": "SECRET",
        "hadoop.http.authentication.signature.secret.file": "/etc/signature",
    }  # fmt: skip
    hbase = {
        **HBASE,
        "ssl.server.keystore.password": "SECRET",
        "ssl.server.keystore.keypassword": "SECRET",
    }
    (tmp_path / "ssl-client.xml").write_text(configuration_xml({"a.password": "SECRET"}))
    folder = conf(tmp_path, core_site=core, hbase_site=hbase, yarn_site={"a": "b"})
    copy_configuration(folder, tmp_path / "copy")
    copied = {path.name: path.read_text() for path in (tmp_path / "copy").iterdir()}
    assert sorted(copied) == ["core-site.xml", "hbase-site.xml", "yarn-site.xml"]
    assert not any("SECRET" in text for text in copied.values())
    assert copied["yarn-site.xml"] == (folder / "yarn-site.xml").read_text()
    found = read_configuration(tmp_path / "copy")
    assert found.get("fs.defaultFS") == CORE["fs.defaultFS"]
    assert found.get("hadoop.http.authentication.signature.secret.file") == ""


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


def written(folder: Path, core: str, **files: str) -> Path:
    """A configuration by hand: `core` is inside core-site.xml, the others are whole."""
    conf(folder)
    head = '<configuration xmlns:xi="http://www.w3.org/2001/XInclude">'
    (folder / "core-site.xml").write_text(f"{head}{core}</configuration>")
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text)
    return folder


def prop(name: str, value: str, final: str = "") -> str:
    end = f"<final>{final}</final>" if final else ""
    return f"<property><name>{name}</name><value>{value}</value>{end}</property>"


@pytest.mark.parametrize(
    "core",
    [
        prop("fs.default.name", "hdfs://nn.example:8020"),
        '<property name="fs.defaultFS" value="hdfs://nn.example:8020"/>',
        '<property name="fs.defaultFS" final="true"><value> hdfs://nn.example:8020\n</value></property>',
        prop("fs.defaultFS", "hdfs://${env.NAMENODE:-nn.example}:${env.PORT-8020}"),
        '<xi:include href="more.xml"/>',
        '<xi:include href="gone.xml"><xi:fallback>'
        + prop("fs.defaultFS", "hdfs://nn.example:8020")
        + "</xi:fallback></xi:include>",
        prop("fs.defaultFS", "hdfs://old:1") + '<xi:include href="more.xml"/>',
        prop("fs.defaultFS", "hdfs://nn.example:8020", final="true")
        + prop("fs.defaultFS", "hdfs://old:1"),
    ],
)
def test_files_are_read_as_hadoop_reads_them(core: str, tmp_path: Path) -> None:
    more = f"<configuration>{prop('fs.defaultFS', 'hdfs://nn.example:8020')}</configuration>"
    found = read_configuration(written(tmp_path, core, more=more))
    assert found.namenodes_http() == ["nn.example:9870"]


def test_a_final_property_is_not_replaced_by_a_later_file(tmp_path: Path) -> None:
    later = f"<configuration>{prop('fs.defaultFS', 'hdfs://other')}</configuration>"
    for final, host in (("true", "nn.example"), ("false", "other")):
        core = prop("fs.defaultFS", "hdfs://nn.example:8020", final)
        folder = written(tmp_path, core, **{"hdfs-site": later})
        copy_configuration(folder, copy := tmp_path / "copy")  # which clients read
        for one in (folder, copy):
            assert read_configuration(one).namenodes_http() == [f"{host}:9870"]


def test_an_include_of_itself_ends(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in one another"):
        read_configuration(written(tmp_path, '<xi:include href="core-site.xml"/>'))


def test_a_file_that_is_included_and_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"includes gone\.xml") as caught:
        read_configuration(written(tmp_path, '<xi:include href="gone.xml"/>'))
    assert caught.value.where == str(tmp_path / "core-site.xml")


def test_members_without_web_addresses_have_hadoops_ports(tmp_path: Path) -> None:
    found = read_configuration(conf(
        tmp_path,
        core_site={"fs.defaultFS": "hdfs://prod"},
        hdfs_site={
            "dfs.ha.namenodes.prod": "nn1,nn2",
            "dfs.namenode.rpc-address.prod.nn1": "a:8020",
            "dfs.namenode.rpc-address.prod.nn2": "b:8020",
            "dfs.namenode.http-address.prod.nn2": "0.0.0.0:50070",
        },
        yarn_site={"yarn.resourcemanager.address": "rm.example:8032"},
    ))  # fmt: skip
    assert found.namenodes_http() == ["a:9870", "b:50070"]
    assert found.resourcemanagers_http() == ["rm.example:8088"]


def test_a_resourcemanager_that_listens_everywhere_is_at_its_host(tmp_path: Path) -> None:
    yarn = {
        "yarn.resourcemanager.hostname": "rm.example",
        "yarn.resourcemanager.webapp.address": "0.0.0.0:18088",
    }
    assert read_configuration(conf(tmp_path, yarn_site=yarn)).resourcemanagers_http() == [
        "rm.example:18088"
    ]


FRAMEWORK = {
    "mapreduce.application.framework.path": "/hdp/${hdp.version}/mapreduce.tar.gz#mr-framework",
    "mapreduce.admin.map.child.java.opts": "-server -Dhdp.version=${hdp.version}",
    "mapreduce.map.java.opts": "-Djava.io.tmpdir=${java.io.tmpdir}",
}


@pytest.mark.parametrize("name", ["hdp.version", "env.HDP_VERSION"])
def test_a_variable_that_jobs_need_is_asked_for(name: str, tmp_path: Path) -> None:
    """HDP and ODP: their own scripts set it."""
    site = {key: value.replace("hdp.version}", f"{name}}}") for key, value in FRAMEWORK.items()}
    found = read_configuration(conf(tmp_path, mapred_site=site))
    with pytest.raises(InputError, match=rf"uses \$\{{{name}\}}, which nothing") as caught:
        found.check_jobs()
    assert f"existing.variables: {{{name}: ...}}" in caught.value.remedy
    known = found.with_variables([(name, "3.1.4.0-315")])
    known.check_jobs()
    assert "/3.1.4.0-315/" in known.get("mapreduce.application.framework.path")
    copy_configuration(tmp_path, tmp_path / "copy", [(name, "3.1.4.0-315")])
    read_configuration(tmp_path / "copy").check_jobs()


@pytest.mark.parametrize("name", ["fs.defaultFS", "dfs.permissions.enabled", "java.opts"])
def test_variables_change_nothing_that_is_set(name: str, tmp_path: Path) -> None:
    found = read_configuration(conf(tmp_path, mapred_site=FRAMEWORK))
    with pytest.raises(InputError, match=r"defines it itself|does not use it"):
        found.with_variables([(name, "x")])
