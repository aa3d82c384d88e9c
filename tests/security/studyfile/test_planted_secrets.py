"""Secrets that are planted in a client configuration, in addresses and in a study reach no output."""

from __future__ import annotations

import stat
import traceback
from pathlib import Path

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import ExistingCluster
from density_study.cluster.model.host import Host
from density_study.cluster.model.secrets import HADOOPS, is_secret, without_logins
from density_study.cluster.providers.existing.configuration import (
    copy_configuration,
    read_configuration,
)
from density_study.cluster.providers.existing.placing import existing_topology
from density_study.cluster.providers.existing.provider import ExistingProvider, client_conf
from density_study.cluster.providers.existing.site_file import properties_of
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.state.journal import Journal
from density_study.workloads.study.study_file import parse_study
from tests.security.studyfile.documents import ALL, changed, fault, listed, texts

PLANTED = "PLANTED5ecret"
NAMES = listed("secret_names.txt")
VALUES = (
    f"jdbc:mysql://root:{PLANTED}@db/x", f"jdbc:mysql://db/x?user=u&password={PLANTED}", f"https://u:{PLANTED}@proxy:8080/",
    f"-Djavax.net.ssl.keyStorePassword={PLANTED} -Xmx1g", f"AccountName=a;AccountKey={PLANTED};x",
    f"pwd: {PLANTED}",
    f"https://a.blob/c?sv=1&sig={PLANTED}", f"-----BEGIN PRIVATE KEY-----{PLANTED}", f"digest:u:{PLANTED}",
    f"SharedAccessSignature={PLANTED}", f"a=1,token={PLANTED}", f"hdfs://u:{PLANTED}@nn/",
    f"api_key = {PLANTED}",
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx{PLANTED}.x",
)  # fmt: skip
NEEDED = {
    "fs.defaultFS": "hdfs://127.0.0.1:1",
    "hadoop.security.token.service.use_ip": "false",
    "dfs.namenode.delegation.token.renew-interval": "86400000",
    "yarn.resourcemanager.delegation-token-renewer.thread-count": "50",
    "dfs.block.access.token.enable": "true",
    "dfs.data.transfer.saslproperties.resolver.class": "org.apache.hadoop.security.SaslPropertiesResolver",
    "dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE.ORG",
    "hadoop.security.auth_to_local": "RULE:[2:$1@$0](nn@EXAMPLE.ORG)s/.*/hdfs/ DEFAULT",
    "hadoop.rpc.protection": "privacy",
    "hadoop.security.key.provider.path": "kms://https@kms.example.org:9600/kms",
    "dfs.client.failover.proxy.provider.prod": "org.apache.hadoop.hdfs.server.namenode.ha.Configured",
    "ipc.client.fallback-to-simple-auth-allowed": "false",
    "hbase.rpc.tls.clientside.enabled": "false",
}


def configuration(folder: Path) -> Path:
    """A client's configuration with every kind of secret, in properties, comments and an entity."""
    folder.mkdir()
    planted = dict.fromkeys(NAMES, PLANTED) | {
        f"plain.name{n}": value for n, value in enumerate(VALUES)
    }
    rm = {"yarn.resourcemanager.hostname": "127.0.0.1", **dict.fromkeys(NAMES[::2], PLANTED)}
    for site, properties in {
        "core-site": NEEDED | planted,
        "hdfs-site": planted,
        "yarn-site": rm,
        "mapred-site": planted,
        "hbase-site": {"hbase.zookeeper.quorum": "127.0.0.1"},
    }.items():
        text = configuration_xml(properties)
        text = text.replace("<configuration>", f"<!-- password: {PLANTED} --><configuration>", 1)
        (folder / f"{site}.xml").write_text(f"{text}<!-- {PLANTED} -->")
    (folder / "ssl-client.xml").write_text(configuration_xml({"ssl.client.x.password": PLANTED}))
    (folder / "core-site.xml.bak").write_text(PLANTED)
    return folder


def everything_below(folder: Path) -> str:
    return "\n".join(
        f"{path}\n{path.read_text(errors='replace')}"
        for path in folder.rglob("*")
        if path.is_file()
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_secret_is_known(name: str) -> None:
    assert is_secret(name, PLANTED)


@pytest.mark.parametrize("value", VALUES)
def test_a_value_that_holds_a_secret_is_known(value: str) -> None:
    assert is_secret("plain.name", value)


@pytest.mark.parametrize("name", NEEDED)
def test_what_clients_need_is_kept(name: str) -> None:
    assert not is_secret(name, NEEDED[name])


def test_hadoops_own_list_is_whole() -> None:
    assert len(HADOOPS) == 24 and {"fs.gs.auth.*", "oauth.*token", "ssl.keystore.pass$"} < set(
        HADOOPS
    )


def test_a_copied_configuration_has_no_secret_and_is_the_users_alone(tmp_path: Path) -> None:
    given, copy = configuration(tmp_path / "given"), tmp_path / "run" / "conf" / "client"
    copy_configuration(given, copy)
    assert PLANTED not in everything_below(tmp_path / "run")
    assert dict(properties_of(copy / "core-site.xml")) == NEEDED
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in copy.iterdir()} == {0o600}


@pytest.mark.parametrize(
    "elsewhere", ["../more.xml", "/etc/passwd", "http://192.0.2.1/x.xml", "", "link.xml"]
)
def test_a_file_elsewhere_is_not_included(elsewhere: str, tmp_path: Path) -> None:
    given = configuration(tmp_path / "given")
    (tmp_path / "more.xml").write_text(configuration_xml({"plain": PLANTED}))
    (given / "link.xml").symlink_to(tmp_path / "more.xml")
    include = f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{elsewhere}"/>'
    text = (given / "core-site.xml").read_text()
    (given / "core-site.xml").write_text(
        text.replace("<configuration>", f"<configuration>{include}")
    )
    with pytest.raises(InputError, match="the file includes"):
        read_configuration(given)


def test_of_an_included_file_no_secret_is_copied(tmp_path: Path) -> None:
    given = configuration(tmp_path / "given")
    more = {"plain": "kept", "x.password": PLANTED}
    (given / "more.xml").write_text(configuration_xml(more))
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="more.xml"/>'
    text = (given / "core-site.xml").read_text()
    (given / "core-site.xml").write_text(
        text.replace("<configuration>", f"<configuration>{include}")
    )
    copy_configuration(given, tmp_path / "copy")
    copied = everything_below(tmp_path / "copy")
    assert "XInclude" not in copied and PLANTED not in copied and "kept" in copied


@pytest.mark.parametrize(
    "address",
    [f"u:{PLANTED}@127.0.0.1:1", f"https://u:{PLANTED}@127.0.0.1:1", f"${{name}}:{PLANTED}@h"],
)
@pytest.mark.parametrize("key", ["dfs.namenode.http-address", "fs.defaultFS", "hbase.zookeeper.quorum",
                                 "yarn.resourcemanager.webapp.address"])  # fmt: skip
def test_an_address_with_a_password_is_refused_without_it(
    tmp_path: Path, key: str, address: str
) -> None:
    given = configuration(tmp_path / "given")
    properties = {**NEEDED, "hbase.zookeeper.quorum": "h", "name": "u", key: address}
    for site in ("core-site", "hbase-site"):
        (given / f"{site}.xml").write_text(configuration_xml(properties))
    with pytest.raises(InputError, match="has a password") as caught:
        read_configuration(given)
    assert PLANTED not in str(caught.value)


def test_a_build_on_an_existing_cluster_leaves_no_secret_anywhere(
    runtime: None, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """It fails where the cluster does not answer: after its configuration was copied and it has logged in."""
    given = ExistingCluster(str(configuration(tmp_path / "given")), "/user/me/x", "x", "default")
    host = Host("here", "127.0.0.1", 2, 1024, (), ("client",))
    topology = existing_topology(given, host)
    run = tmp_path / "runs" / "s" / "r"
    run.mkdir(parents=True)
    site = Site(run / "builds" / "b1", "s/r/b1")
    journal = Journal(run / "journal.jsonl")
    with pytest.raises(StudyError) as caught:
        ExistingProvider().create(site, topology, journal)
    assert "no NameNode is active" in caught.value.what
    shown = "".join(traceback.format_exception(caught.value))
    assert (client_conf(site) / "core-site.xml").exists()
    assert PLANTED not in everything_below(tmp_path / "runs") + shown + "".join(capfd.readouterr())


@pytest.mark.parametrize("name", ALL)
def test_a_study_with_a_password_in_an_address_is_refused_without_it(name: str) -> None:
    for path in texts(ALL[name]):
        for address in (f"s3://u:{PLANTED}@bucket/x", f"see https://:{PLANTED}@h and"):
            said = fault(changed(ALL[name], path, address))
            assert said and PLANTED not in said, path


def test_no_exception_repeats_a_secret_of_a_study() -> None:
    text = (
        "study: s\nnotify: [{notifier: a.B, arguments: {password: " + PLANTED + "}}]\n"
        "hosts: [{name: h, memory: 12 GiB}]\nfactors: {vms_per_host: [1]}\n"
        "workloads: [{ycsb: {records: [1000], mixes: [load], threads: [1]}}]\n"
    )
    try:
        parse_study(text, "s.yaml")
    except InputError:
        assert PLANTED not in traceback.format_exc()
    else:
        pytest.fail("it was accepted")
    assert without_logins(f"a http://u:{PLANTED}@h b://:{PLANTED}@") == "a http://***@h b://***@"
