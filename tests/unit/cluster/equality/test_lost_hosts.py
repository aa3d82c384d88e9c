"""A host that does not answer, or a disk that is full, keeps nothing else from being put back or removed."""

from __future__ import annotations

import errno
import os
from functools import partial
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from density_study.cluster.lifecycle import tear_down
from density_study.cluster.lifecycle.quiet_hosts import not_put_back, put_back
from density_study.cluster.machine import directories
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import (
    FaultsError,
    HostBusyError,
    HostLostError,
    InputError,
    SeveralError,
    TearDownError,
    do_all,
    faults_of,
)
from density_study.cluster.model.host import Target
from density_study.cluster.model.network import Network
from density_study.cluster.providers.libvirt import provider as of_guests
from density_study.cluster.providers.physical.provider import PhysicalProvider
from density_study.cluster.providers.ssh import acting, build, host_leases
from density_study.cluster.providers.ssh.channel import look_on_all, on_all, try_all
from density_study.cluster.state.events import (
    BuildDestroyed,
    Event,
    HostReach,
    NodeReach,
    QuietOver,
)
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner

SITE = Site(Path("/nonexistent/b1"), "s/r/b1")


class Hosts:
    """Two hosts over SSH, of which some do not answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, journal: Journal) -> None:
        self.asked: list[tuple[str, str]] = []
        self.lost: set[str] = set()
        monkeypatch.setattr(acting, "channel", lambda target: SimpleNamespace(act=self.of(target)))
        for name in ("h1", "h2"):
            journal.record(HostReach(tag=SITE.tag, node=name, target=target(name)))
            journal.intend("quiet-host", SITE.tag, host=name, former={"/x": "1"}, via="ssh")

    def of(self, target: Target) -> Any:
        def run(name: str, *_: Any) -> Any:
            if target.host in self.lost:
                raise HostLostError("it does not answer.", target.host, "look at it.")
            self.asked.append((target.host, name))
            return ["/x"] if name == "noise-changed" else None

        return run


def target(host: str) -> Target:
    return Target(host, "192.0.2.1", 22, "me", "/known_hosts")


def fake_provider(destroyed: list[str], left: tuple[str, ...] = ()) -> Any:
    return SimpleNamespace(
        destroy=lambda *_: destroyed.append("daemons"), leftovers=lambda *_: left
    )


def test_a_lost_host_keeps_no_other_from_being_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    hosts = Hosts(monkeypatch, journal)
    hosts.lost = {"h1"}
    assert not_put_back(SITE, journal) == ("host h1 (does not answer)", "/x on h2")
    with pytest.raises(HostLostError):
        put_back(SITE, journal)
    assert hosts.asked == [("h2", "noise-changed"), ("h2", "restore-noise")]
    assert not_put_back(SITE, journal) == ("host h1 (does not answer)",)


def test_a_lost_host_keeps_the_build_from_nothing_but_its_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    hosts, destroyed = Hosts(monkeypatch, journal), []
    hosts.lost = {"h1"}
    journal.intend("build", SITE.tag, build="b1", provider="local")
    provider = fake_provider(destroyed)
    monkeypatch.setattr(tear_down, "provider_named", lambda _: provider)
    with pytest.raises(HostLostError):
        tear_down.tear_down(SITE, journal)
    assert destroyed == ["daemons"] and not journal.events(BuildDestroyed)
    hosts.lost = set()
    tear_down.tear_down(SITE, journal)
    assert journal.events(BuildDestroyed)


def test_hosts_are_asked_all_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal, both = Journal(tmp_path / "journal.jsonl"), Barrier(2, timeout=10)
    Hosts(monkeypatch, journal)

    def run(*_: Any) -> list[str]:
        both.wait()
        return []

    monkeypatch.setattr(acting, "channel", lambda _: SimpleNamespace(act=run))
    assert not_put_back(SITE, journal) == ()


def test_two_lost_hosts_are_no_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    Hosts(monkeypatch, journal).lost = {"h1", "h2"}
    with pytest.raises(SeveralError) as caught:
        put_back(SITE, journal)
    assert not isinstance(caught.value, InputError) and caught.value.exit_code == 1
    assert [(type(one), one.where) for one in caught.value.faults] == [
        (HostLostError, "h1"),
        (HostLostError, "h2"),
    ]


def test_lost_hosts_and_what_is_left_are_named_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    Hosts(monkeypatch, journal).lost = {"h1", "h2"}
    journal.intend("build", SITE.tag, build="b1", provider="local")
    provider = fake_provider([], ("process 7",))
    monkeypatch.setattr(tear_down, "provider_named", lambda _: provider)
    with pytest.raises(SeveralError) as caught:
        tear_down.tear_down(SITE, journal)
    assert not isinstance(caught.value, InputError)
    kinds = [type(one) for one in caught.value.faults]
    assert kinds == [HostLostError, HostLostError, TearDownError]
    assert "process 7" in str(caught.value) and "h2" in str(caught.value)


def test_a_full_disk_keeps_no_daemon_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings are put back, but the journal cannot say so."""
    journal = Journal(tmp_path / "journal.jsonl")
    hosts, destroyed, record = Hosts(monkeypatch, journal), [], Journal.record

    def full(self: Journal, event: Event) -> None:
        if isinstance(event, QuietOver):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        record(self, event)

    journal.intend("build", SITE.tag, build="b1", provider="local")
    monkeypatch.setattr(Journal, "record", full)
    provider = fake_provider(destroyed)
    monkeypatch.setattr(tear_down, "provider_named", lambda _: provider)
    with pytest.raises(OSError, match="No space left"):
        tear_down.tear_down(SITE, journal)
    assert destroyed == ["daemons"] and not journal.events(BuildDestroyed)
    assert sorted(hosts.asked) == [("h1", "restore-noise"), ("h2", "restore-noise")]


def test_a_provider_that_fails_keeps_no_other_from_removing_and_hides_nothing_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, destroyed = Journal(tmp_path / "journal.jsonl"), list[str]()
    for name in ("existing", "local"):
        journal.intend("build", SITE.tag, build="b1", provider=name)
    failing = SimpleNamespace(destroy=refuse, leftovers=lambda *_: ("process 7",))
    providers = {"existing": failing, "local": fake_provider(destroyed)}
    monkeypatch.setattr(tear_down, "provider_named", providers.get)
    with pytest.raises(SeveralError, match=r"host h1.*process 7"):
        tear_down.tear_down(SITE, journal)
    assert destroyed == ["daemons"]


@pytest.mark.parametrize("act", [on_all, try_all])
def test_every_host_with_a_fault_is_named_once(act: Any) -> None:
    def fail(host: str, twice: bool) -> None:
        acts = [partial(refuse, host)] * (2 if twice else 1)
        do_all(*acts)

    with pytest.raises(FaultsError) as caught:
        act({"h1": True, "h2": False}, fail)
    assert [fault.where for fault in caught.value.faults] == ["host h1", "host h2"]


def test_a_host_that_refuses_hides_nothing_of_the_others() -> None:
    """Like one that was installed anew, with another key."""
    silent = HostLostError("gone.", "h3", "look at it.")
    looks = {"h1": refuse, "h2": lambda: ["/data"], "h3": Mock(side_effect=silent)}
    assert look_on_all(looks, lambda _, look: look()) == (
        "host h1 (unknown: SSH was refused)", "/data", "host h3 (does not answer)"
    )  # fmt: skip


def test_a_host_that_refuses_keeps_no_lease_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    released = []

    def call(verb: str, work: str, tag: str) -> None:
        if not released:
            released.append("h1")
            refuse()
        released.append(verb)

    monkeypatch.setattr(host_leases, "channel", lambda _: SimpleNamespace(call=call))
    targets = {name: target(name) for name in ("h1", "h2")}
    with pytest.raises(InputError, match="SSH was refused"):
        host_leases.release_leases(targets, "s/r")
    assert released == ["h1", "release_lease"]


def test_all_busy_hosts_are_named_by_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner.of_process(os.getpid()).to_json()
    runs = {"h1": "s/r1", "h2": "s/mine", "h3": "s/r2", "h4": "s/r1"}

    def there(target: Target) -> SimpleNamespace:
        lease = {"tag": runs[target.host], "owner": owner, "since": 0.0, "expired": False}
        return SimpleNamespace(call=lambda *_: lease)

    monkeypatch.setattr(host_leases, "channel", there)
    with pytest.raises(HostBusyError) as caught:  # which a study may wait for
        host_leases.check_leases({name: target(name) for name in runs}, "s/mine")
    first, second = faults_of(caught.value)
    assert first.what.startswith("run s/r1 is using them (")
    assert first.where == f"{target('h1')}, {target('h4')}"
    assert second.what.startswith("run s/r2 is using it (")
    assert second.where == str(target("h3"))


def test_after_a_busy_host_no_other_is_taken_and_each_busy_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that waits with a part of the hosts would keep another one waiting for these."""
    owner = Owner.of_process(os.getpid()).to_json()
    runs, asked = {"h2": "s/r1", "h4": "s/r2"}, list[tuple[str, str]]()

    def there(target: Target) -> SimpleNamespace:
        held = {"tag": runs.get(target.host), "owner": owner, "since": 0.0, "expired": False}

        def call(verb: str, *_: Any) -> Any:
            asked.append((target.host, verb))
            return held if held["tag"] else None

        return SimpleNamespace(call=call)

    monkeypatch.setattr(host_leases, "channel", there)
    journal = Journal(tmp_path / "journal.jsonl")
    hosts = {f"h{number}": target(f"h{number}") for number in range(1, 5)}
    with pytest.raises(HostBusyError) as caught:
        host_leases.take_leases(hosts, "s/mine", journal)
    first, second = faults_of(caught.value)
    assert ("s/r1" in first.what, first.where) == (True, str(hosts["h2"]))
    assert ("s/r2" in second.what, second.where) == (True, str(hosts["h4"]))
    looked = [("h3", "lease_holder"), ("h4", "lease_holder")]
    assert asked == [("h1", "take_lease"), ("h2", "take_lease"), *looked]
    assert [intent.host for intent in journal.intents("lease-host", "s/mine")] == ["h1", "h2"]


with_mtu: Any = SimpleNamespace(variant=SimpleNamespace(network=Network(mtu=1400)))


class Refusing:
    """A channel to a host that does one command not."""

    def __init__(self, host: str, refused: str) -> None:
        self.host, self.refused = host, refused

    def act(self, name: str, *arguments: Any) -> Any:
        if name == self.refused:
            refuse(f"{self.host} {arguments[0]}")
        return {"device": "eth0"} if name == "network-state" else "eth0"

    def call(self, *_: Any) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("refused", "act", "named"),
    [
        ("make-dir", lambda one: one.make_folders([("w2", Path("/d1")), ("w2", Path("/d2"))]),
         ["h1 /w/builds/s/r/b1", "h2 /w/builds/s/r/b1", "h2 /d1", "h2 /d2"]),
        ("set-network", lambda one: one.set_network({"mtu": 1400}), ["h1 eth0", "h2 eth0"]),
        ("network-state", lambda one: one.set_network({"mtu": 1400}), ["h1 eth0", "h2 eth0"]),
        ("check-network", lambda one: of_guests._set_networks(one, with_mtu),
         ["h1 192.0.2.1", "h2 192.0.2.1"]),
    ],
)  # fmt: skip
def test_every_host_that_cannot_be_made_ready_is_named(
    refused: str, act: Any, named: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (build, of_guests):
        monkeypatch.setattr(module, "channel", lambda to: Refusing(to.host, refused))
    reach = {"w1": target("h1"), "w2": target("h2")}
    journal = Journal(tmp_path / "journal.jsonl")
    with pytest.raises(FaultsError) as caught:
        act(build.SshBuild(SITE, journal, reach, Path("/w")))
    assert [fault.where for fault in caught.value.faults] == [f"host {one}" for one in named]


def test_guests_that_are_gone_are_not_asked_for_leases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run with guests and their control variant: at the address of a guest may be another machine now."""
    journal, asked = Journal(tmp_path / "journal.jsonl"), list[str]()
    for name in ("guest", "h1"):
        journal.record(NodeReach(tag=SITE.tag, node=name, target=target(name)))
    journal.intend("lease-host", "s/r", host="h1")
    monkeypatch.setattr(host_leases, "try_all", lambda hosts, _: asked.extend(hosts))
    PhysicalProvider().release_leases("s/r", journal)
    assert asked == ["h1"]


def test_hosts_with_another_java_than_most_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    java = {"h1": "21", "h2": "17", "h3": "17", "h4": "17", "h5": "21"}
    answers = {host: {"home": "/jdk", "version": version} for host, version in java.items()}
    monkeypatch.setattr(build, "on_all", lambda *_: answers)
    with pytest.raises(FaultsError, match="Java 21 in /jdk; on other hosts: Java 17") as caught:
        build.same_java({})
    assert [fault.where for fault in caught.value.faults] == ["host 'h1'", "host 'h5'"]


def test_a_failed_disk_keeps_the_folders_of_the_others_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, exists = Journal(tmp_path / "journal.jsonl"), Path.exists

    def failing(path: Path) -> bool:
        if "bad" in str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return exists(path)

    disks = [tmp_path / name / "density-study" / SITE.tag / "w1" for name in ("bad", "fine")]
    for folder in disks:
        directories.make_folder(folder, SITE, journal)
    monkeypatch.setattr(Path, "exists", failing)
    assert directories.made(SITE, journal) == disks
    assert HOST_COMMANDS["dirs-there"](list(map(str, disks))) == list(map(str, disks))
    with pytest.raises(OSError, match="Input/output"):
        directories.remove(SITE, journal)
    assert directories.made(SITE, journal) == disks[:1]


def refuse(host: str = "h1", *_: Any) -> Any:
    raise InputError("SSH was refused.", f"host {host if isinstance(host, str) else 'h1'}", "look.")
