"""Parts of provider `existing` that need no cluster: which hosts are unwatched, and what a quota allows."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.given import GivenCluster
from density_study.cluster.model.host import Host
from density_study.cluster.model.versions import HBASE, Versions
from density_study.cluster.providers.existing import watched
from density_study.cluster.providers.existing.tables import check_quota
from density_study.cluster.stack.lock import read_lock
from density_study.cluster.stack.recipes import client_of, recipe_of


def given(*hosts: tuple[str, str]) -> GivenCluster:
    found = tuple(Host(name, address, 2, 1024, ()) for name, address in hosts)
    return GivenCluster("/etc/hadoop", "/user/me/x", "x", "default", watched=found)


def test_a_host_is_watched_if_its_name_or_its_address_is() -> None:
    cluster = given(("dn1.invalid", "192.0.2.1"), ("dn2", "localhost"))
    assert watched.unwatched(cluster, ["192.0.2.1", "dn1.invalid", "127.0.0.1"]) == []
    assert watched.unwatched(cluster, ["192.0.2.1", "192.0.2.9", "rs.invalid"]) == [
        "192.0.2.9", "rs.invalid"
    ]  # fmt: skip
    assert watched.unwatched(given(), ["192.0.2.1"]) == ["192.0.2.1"]


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
    ("asked", "client"),
    [
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
