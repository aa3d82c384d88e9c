"""Parts of provider `existing` that need no cluster: which hosts are unwatched, and what a quota allows."""

from __future__ import annotations

import subprocess

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import ExistingCluster, Kerberos
from density_study.cluster.model.host import Host
from density_study.cluster.model.versions import HBASE, Versions
from density_study.cluster.providers.existing import tickets, watched
from density_study.cluster.providers.existing.tables import check_quota
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.recipes import client_of, hadoop_client_of, recipe_of


def existing(*hosts: tuple[str, str]) -> ExistingCluster:
    found = tuple(Host(name, address, 2, 1024, ()) for name, address in hosts)
    return ExistingCluster("/etc/hadoop", "/user/me/x", "x", "default", watched=found)


def test_a_host_is_watched_if_its_name_or_its_address_is() -> None:
    cluster = existing(("dn1.invalid", "192.0.2.1"), ("dn2", "localhost"))
    assert watched.unwatched(cluster, ["192.0.2.1", "dn1.invalid", "127.0.0.1"]) == []
    assert watched.unwatched(cluster, ["192.0.2.1", "192.0.2.9", "rs.invalid"]) == [
        "192.0.2.9", "rs.invalid"
    ]  # fmt: skip
    assert watched.unwatched(existing(), ["192.0.2.1"]) == ["192.0.2.1"]


@pytest.mark.parametrize(
    ("said", "refused"),
    [
        ("TYPE => SPACE, NAMESPACE => x, LIMIT => 1.00G, VIOLATION_POLICY => NO_INSERTS", True),
        (
            "NAMESPACE => x, TYPE => THROTTLE, THROTTLE_TYPE => READ_NUMBER, LIMIT => 10req/sec",
            True,
        ),
        ("TYPE => SPACE, NAMESPACE => xy, LIMIT => 1.00G, VIOLATION_POLICY => NO_INSERTS", False),
        (
            "USER => me, TYPE => THROTTLE, THROTTLE_TYPE => REQUEST_NUMBER, LIMIT => 10req/sec",
            False,
        ),
    ],
)
def test_a_quota_that_would_go_with_the_namespace_is_refused(said: str, refused: bool) -> None:
    if not refused:
        check_quota(said, "x")
        return
    with pytest.raises(InputError) as caught:
        check_quota(said, "x")
    assert "namespace x" in caught.value.where and said in caught.value.what


@pytest.mark.parametrize(
    ("says", "client"),
    [
        ("3.4.2", "3.4.2"),
        ("3.4.1", "3.4.1"),
        ("3.1.1.7.1.9.0-387", "3.3.6"),  # CDP 7.1.9
        ("3.1.1.7.2.18.0-641", "3.3.6"),  # CDP public cloud
        ("3.1.1.7.3.1.0-197", "3.3.6"),
        ("3.1.1.3.1.4.0-315", "3.3.6"),  # HDP 3.1.4
        ("3.1.1.3.1.5.6091-7", "3.3.6"),
        ("3.0.0-cdh6.3.2", "3.3.6"),  # CDH 6
        ("3.2.1-amzn-8", "3.3.6"),  # EMR 6
        ("3.3.3-amzn-3.1", "3.3.6"),
        ("3.3.6-amzn-1", "3.3.6"),  # EMR 7
        ("3.4.1-amzn-0", "3.4.1"),
        ("3.3.4.5.1.2.0-1", "3.3.6"),  # HDInsight
        ("3.3.3.200-eep-921", "3.3.6"),  # MapR, EEP
        ("3.2.4-1.0.0", "3.3.6"),
        ("3.3.5.0-ODP", "3.3.6"),
        ("3.4.0", "3.4.1"),
        ("3.4.3-SNAPSHOT", "3.4.3"),
        ("3.6.0", "3.5.0"),
        ("3.1.1-mrs-2.0", "3.3.6"),  # Huawei
    ],
)
def test_a_vendors_hadoop_has_the_nearest_client(says: str, client: str) -> None:
    assert hadoop_client_of(says) == client


@pytest.mark.parametrize(
    "says", ["2.10.1-amzn-4", "2.6.0-cdh5.16.2", "2.7.3.2.6.5.0-292", "", "4.0.0"]
)
def test_another_major_version_of_hadoop_is_refused(says: str) -> None:
    with pytest.raises(InputError, match="speaks to Hadoop 3"):
        hadoop_client_of(says)


@pytest.mark.parametrize("says", ["1.1.2.2.6.5.0-292", "1.2.0-cdh5.16.2", "0.98.24", ""])
def test_hbase_1_is_refused(says: str) -> None:
    with pytest.raises(InputError, match="speaks to HBase 2"):
        client_of(says)


@pytest.mark.parametrize("says", ["4.0.0-alpha-1-SNAPSHOT", "r1234567", "99.1"])
def test_an_hbase_that_this_client_does_not_know_is_refused(says: str) -> None:
    with pytest.raises(InputError, match=f"has HBase {says}"):
        client_of(says)


@pytest.mark.parametrize(
    ("asked", "client"),
    [
        ("2.2.3.7.1.9.0-387", HBASE),  # CDP
        ("2.4.17-amzn-5", HBASE),
        ("3.0.0-beta-1", HBASE),
        ("2.5.13-hadoop3", "2.5.13-hadoop3"),
        ("2.5.13", "2.5.13-hadoop3"),
        (HBASE, HBASE),
        ("2.4.1", HBASE),
    ],
)
def test_hbases_client_has_the_clusters_version_where_its_jars_are_locked(
    asked: str, client: str
) -> None:
    assert client_of(asked) == client
    recipe = recipe_of("ycsb", Versions(client=client))
    assert (recipe.key() == recipe_of("ycsb").key()) == (client == HBASE)
    assert any(jar == f"hbase-client-{client}.jar" for jar in read_lock(recipe).jars)


def test_a_program_of_kerberos_that_says_nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = subprocess.CompletedProcess((), 7, "", "")
    monkeypatch.setattr(tickets, "_output", lambda *_: silent)
    with pytest.raises(InputError, match="kinit gets no ticket: exit code 7") as caught:
        tickets.renew(Kerberos(), tickets.Ticket("/cache", "me@EXAMPLE", 0.0, 0.0))
    assert caught.value.where == "Kerberos principal me@EXAMPLE"
