"""Logins at a real KDC: what is wrong with one is one clear error, and nothing of a ticket stays."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.machine import directories
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.existing import ExistingCluster, Kerberos
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.existing import provider, tickets
from density_study.cluster.providers.existing.login import (
    log_in,
    looking,
    looking_again,
    require_ticket_for,
)
from density_study.cluster.providers.existing.provider import ExistingProvider
from density_study.cluster.render.conf_files import configuration_xml
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.runtime import VARIABLE
from tests.live.secure.kdc import HOST, REALM, Kdc, kdc, krb5_conf
from tests.live.secure.leaks import files, keys, leaks, passwords

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(120)]
BENCH, SERVICE = f"bench@{REALM}", f"hdfs/{HOST}@{REALM}"


@pytest.fixture(scope="module")
def realm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kdc]:
    with kdc(tmp_path_factory.mktemp("realm") / "kdc") as server:
        server.keytab("bench", [BENCH])
        server.keytab("service", [SERVICE])
        server.add(f"anna@{REALM}", "-maxrenewlife 1h")
        yield server


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "runtime"))
    monkeypatch.delenv("KRB5CCNAME", raising=False)
    monkeypatch.delenv("KRB5_CONFIG", raising=False)
    return tmp_path / "runtime"


def existing(folder: Path, kerberos: Kerberos, service: str = SERVICE) -> ExistingCluster:
    conf = folder / "conf"
    conf.mkdir(exist_ok=True)
    core = {"fs.defaultFS": f"hdfs://{HOST}:1", "hadoop.security.authentication": "kerberos"}
    hdfs = {"dfs.namenode.kerberos.principal": service}
    for site, properties in (("core", core), ("hdfs", hdfs), ("hbase", {})):
        (conf / f"{site}-site.xml").write_text(configuration_xml(properties))
    return ExistingCluster(str(conf), "/user/bench/study", "study", "default", kerberos)


def fault(cluster: ExistingCluster, runtime: Path) -> InputError:
    with pytest.raises(InputError) as caught, looking(cluster):
        pass
    assert list(runtime.iterdir()) == []
    assert "\n" not in str(caught.value)
    return caught.value


def by_keytab(realm: Kdc, name: str = "bench", principal: str = BENCH) -> Kerberos:
    keytab = str(realm.root / f"{name}.keytab")
    return Kerberos(principal=principal, keytab=keytab, krb5_conf=str(realm.krb5_conf))


def by_ticket(realm: Kdc, cache: Path) -> Kerberos:
    return Kerberos(ticket_cache=str(cache), krb5_conf=str(realm.krb5_conf))


def test_a_keytab_gives_a_ticket_for_a_look_and_no_longer(
    realm: Kdc, tmp_path: Path, runtime: Path
) -> None:
    with looking(existing(tmp_path, by_keytab(realm))) as (_, access):
        ticket = tickets.held(by_ticket(realm, Path(access.ticket_cache)))
        assert ticket.principal == BENCH
        assert 300 < ticket.end_s - time.time() <= 600
        assert Path(access.ticket_cache).is_relative_to(runtime)
        assert Path(access.ticket_cache).stat().st_mode & 0o077 == 0
    assert list(runtime.iterdir()) == []


def test_faults_of_keytabs(realm: Kdc, tmp_path: Path, runtime: Path) -> None:
    def said(kerberos: Kerberos) -> str:
        return fault(existing(tmp_path, kerberos), runtime).what

    assert said(by_keytab(realm, "none")) == "the keytab does not exist."
    damaged = realm.root / "damaged.keytab"
    damaged.write_text("no keytab")
    assert f"{damaged} is not a keytab" in said(by_keytab(realm, "damaged"))
    assert "has no key of it" in said(by_keytab(realm, principal=f"otto@{REALM}"))
    old = realm.root / "old.keytab"
    realm.keytab("old", [f"replaced@{REALM}"])
    realm.keytab("new", [f"replaced@{REALM}"])
    assert f"another key of it than the keytab {old}" in said(
        by_keytab(realm, "old", f"replaced@{REALM}")
    )
    realm.keytab("gone", [f"gone@{REALM}"])
    realm.remove(f"gone@{REALM}")
    assert "the KDC does not know it" in said(by_keytab(realm, "gone", f"gone@{REALM}"))


def test_a_wrong_realm(realm: Kdc, tmp_path: Path, runtime: Path) -> None:
    realm.keytab("elsewhere", ["bench@ELSEWHERE.ORG"], realm="ELSEWHERE.ORG")
    wrong = fault(existing(tmp_path, by_keytab(realm, "elsewhere", "bench@ELSEWHERE.ORG")), runtime)
    assert wrong.what.startswith("no KDC of its realm is known.")
    assert str(realm.krb5_conf) in wrong.remedy
    foreign = existing(tmp_path, by_keytab(realm), service="hdfs/nn@ELSEWHERE.ORG")
    assert fault(foreign, runtime).what.startswith("its realm and the cluster's do not trust")
    unknown = existing(tmp_path, by_keytab(realm), service=f"hdfs/nobody@{REALM}")
    assert fault(unknown, runtime).what.startswith("the KDC does not know the cluster's NameNode")


def test_faults_of_tickets(realm: Kdc, tmp_path: Path, runtime: Path) -> None:
    cache = tmp_path / "cache"
    cluster = existing(tmp_path, by_ticket(realm, cache))
    missing = fault(cluster, runtime)
    assert missing.what == "there is no Kerberos ticket." and "run kinit" in missing.remedy
    realm.kinit(f"anna@{REALM}", cache, "-l", "1s")
    time.sleep(1.1)
    assert fault(cluster, runtime).what.startswith(f"the ticket of anna@{REALM} expired at 20")
    kcm = replace(by_ticket(realm, cache), ticket_cache=f"DIR:{tmp_path}/caches")
    (tmp_path / "caches").mkdir(mode=0o700)
    realm.kinit(f"anna@{REALM}", Path(kcm.ticket_cache))
    assert fault(existing(tmp_path, kcm), runtime).what == (
        "it is of the type DIR, and Java reads only files."
    )


def test_the_default_cache_is_that_of_the_environment(
    realm: Kdc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    realm.kinit(f"anna@{REALM}", tmp_path / "cache")
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{tmp_path}/cache")
    monkeypatch.setenv("KRB5_CONFIG", str(realm.krb5_conf))
    with looking(existing(tmp_path, Kerberos())) as (_, access):
        assert (access.ticket_cache, access.krb5_conf) == (
            str(tmp_path / "cache"),
            str(realm.krb5_conf),
        )


def test_a_ticket_must_last_as_long_as_the_study(realm: Kdc, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cluster = existing(tmp_path, by_ticket(realm, cache))
    realm.kinit(f"anna@{REALM}", cache, "-l", "10m")
    require_ticket_for(cluster, 500)
    with pytest.raises(InputError, match=r"ends at 20.* and the study takes until about 20"):
        require_ticket_for(cluster, 700)
    realm.kinit(f"anna@{REALM}", cache, "-l", "10m", "-r", "1h")
    require_ticket_for(cluster, 700)  # renewed on the way
    require_ticket_for(existing(tmp_path, by_keytab(realm)), 10**9)


def test_a_ticket_that_ends_soon_is_renewed(realm: Kdc, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    realm.kinit(f"anna@{REALM}", cache, "-l", "5m", "-r", "1h")
    kerberos = by_ticket(realm, cache)
    before = tickets.held(kerberos).end_s
    time.sleep(1.1)
    with looking(existing(tmp_path, kerberos)):
        assert before < tickets.held(kerberos).end_s


def test_a_builds_ticket_is_private_journalled_renewed_and_removed(
    realm: Kdc, tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, journal = Site(tmp_path / "run/builds/b1", "study/run/b1"), Journal(tmp_path / "journal")
    conf, cluster = site.root / "conf" / "client", existing(tmp_path, by_keytab(realm))
    conf.mkdir(parents=True)
    cache = Path(log_in(cluster, conf, site, journal).ticket_cache)
    assert cache.is_relative_to(runtime) and cache.parent.stat().st_mode & 0o777 == 0o700
    assert cache.stat().st_mode & 0o077 == 0
    assert [intent.path for intent in journal.intents("make-dir", site.tag)] == [str(cache.parent)]

    seen = [cache.read_bytes()]
    transport = ExistingProvider().transport(site, journal)
    node = Node("c1", "here", "127.0.0.1", ("client",), 100, 1)
    child = transport.start(node, Command("true", ("true",)), tmp_path / "out", tmp_path / "err")
    seen.append(cache.read_bytes())
    transport.wait(child, 10)
    assert cache.read_bytes() == seen[-1]  # not so soon
    monkeypatch.setattr(provider, "RENEW_EVERY_S", 0.0)
    transport.wait(child, 10)
    seen.append(cache.read_bytes())
    assert len(set(seen)) == 3
    tails = {str(number): ticket[-96:-32] for number, ticket in enumerate(seen)}
    assert leaks({**tails, **keys(realm.root / "bench.keytab")}, files(tmp_path / "run")) == []

    directories.remove(site, journal)
    assert list(runtime.iterdir()) == []
    with looking_again(conf) as access:  # to remove what is left on the cluster
        assert tickets.held(by_ticket(realm, Path(access.ticket_cache))).principal == BENCH
    assert list(runtime.iterdir()) == []


def test_the_search_for_secrets_finds_every_form(tmp_path: Path) -> None:
    secret = bytes(range(200, 220))
    for number, form in enumerate(
        (secret, secret.hex().encode(), *(base64.b64encode(b"x" * n + secret) for n in range(3)),
         base64.urlsafe_b64encode(b"xx" + secret))
    ):  # fmt: skip
        (tmp_path / str(number)).write_bytes(b"before" + form + b"after")
    assert len(leaks({"it": secret}, files(tmp_path))) == 6
    token = b"HDTS\0\1\1a\2id\x14" + secret + b"\4kind\7service"
    assert passwords(token) == [secret]


@contextmanager
def at(server: Kdc, clock: str) -> Iterator[None]:
    server.stop()
    server.start(clock)
    try:
        yield
    finally:
        server.stop()
        server.start()


def test_a_clock_that_is_off(realm: Kdc, tmp_path: Path, runtime: Path) -> None:
    realm.kinit(f"anna@{REALM}", tmp_path / "cache")
    with at(realm, "+20m"):
        for kerberos in (by_keytab(realm), by_ticket(realm, tmp_path / "cache")):
            skewed = fault(existing(tmp_path, kerberos), runtime)
            assert skewed.what.startswith("the clocks of this machine and of the KDC differ")
            assert "set this machine's clock" in skewed.remedy


def test_a_kdc_that_does_not_answer(tmp_path: Path, realm: Kdc, runtime: Path) -> None:
    conf = tmp_path / "krb5.conf"
    conf.write_text(krb5_conf(1))
    kerberos = replace(by_keytab(realm), krb5_conf=str(conf))
    assert fault(existing(tmp_path, kerberos), runtime).what.startswith(
        "the KDC of its realm does not answer."
    )
