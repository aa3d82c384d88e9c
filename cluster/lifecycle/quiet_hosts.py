"""Hosts made quiet for a trial, and put back; after a kill from only the journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError, each_of
from density_study.cluster.model.host import Host, Target
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.ssh.acting import Act, act_at, act_on
from density_study.cluster.providers.ssh.channel import look_on_all
from density_study.cluster.state.events import HostReach, Intent, NodeReach, QuietOver
from density_study.cluster.state.journal import Journal

ACT = "quiet-host"
HERE = "here"
"""How this machine is reached, whatever a guest or a host of a provider is called."""


def check_quiet(host: Host) -> None:
    """InputError if it cannot be made quiet. Changes nothing."""
    _act(host)("check-quiet")


@contextmanager
def quieted(site: Site, topology: Topology, journal: Journal) -> Iterator[None]:
    """Makes the hosts that carry nodes quiet. StudyError if one cannot be; those that were are put back in
    any case."""

    def make_quiet(host: Host) -> None:
        act = _act(host)
        if former := act("noisy"):
            via = "ssh" if host.login else HERE
            journal.intend(ACT, site.tag, host=host.name, former=former, via=via)
            act("make-quiet", former)

    hosts = topology.occupied
    try:
        with ThreadPoolExecutor(max_workers=len(hosts)) as pool:
            begun = [pool.submit(make_quiet, host) for host in hosts]
        each_of(begun, Future.result)
        yield
    finally:
        put_back(site, journal)


def put_back(site: Site, journal: Journal) -> None:
    """Whatever a trial of the build has not put back, on each host, whatever happens to another. Safe to
    repeat."""
    left = _left(site, journal)
    if not left:
        return
    targets = _targets(site, journal)

    def restore(intent: Intent) -> None:
        act_at(_at(intent, targets))("restore-noise", intent.former)
        journal.record(QuietOver(tag=site.tag, host=intent.host))

    with ThreadPoolExecutor(max_workers=len(left)) as pool:
        begun = [pool.submit(restore, intent) for intent in left.values()]
    each_of(begun, Future.result)


def not_put_back(site: Site, journal: Journal) -> tuple[str, ...]:
    """Settings of hosts that `put_back` would change, and hosts that do not answer."""
    left = _left(site, journal)
    targets = _targets(site, journal) if left else {}

    def changed(host: str, intent: Intent) -> list[str]:
        files = act_at(_at(intent, targets))("noise-changed", intent.former)
        return [f"{file} on {host}" for file in files]

    return look_on_all(left, changed)


def _act(host: Host) -> Act:
    if act := act_on(host):
        return act
    raise InputError(
        "nothing can be set on this host: the study has no SSH login to it.",
        f"host {host.name!r}, key quiet",
        "add the key ssh, or write quiet: no.",
        ("quiet",),
    )


def _at(intent: Intent, targets: Mapping[str, Target]) -> Target | None:
    """Where the settings of the intent are; None: here. StudyError if the host is another machine, and the
    journal does not report how it was reached: its settings must not be written to this one."""
    if intent.via == HERE:  # a node or another host may have its name
        return None
    target = targets.get(intent.host)
    if intent.via and target is None:
        raise StudyError(
            "the journal does not report how this host was reached.",
            f"host {intent.host[:80]!r}, quiet",
            "put the settings of its last `quiet-host` line back by hand.",
        )
    return target


def _left(site: Site, journal: Journal) -> dict[str, Intent]:
    """By host: the first change that is not over."""
    found: dict[str, Intent] = {}
    for event in journal.events(Intent, QuietOver):
        match event:
            case QuietOver(tag=site.tag):
                found.pop(event.host, None)
            case Intent(tag=site.tag) if event.act == ACT:
                found.setdefault(event.host, event)
    return found


def _targets(site: Site, journal: Journal) -> dict[str, Target]:
    """By host. That of a host of guests counts, not that of a guest of its name."""
    reached: list[NodeReach | HostReach] = [*journal.events(NodeReach), *journal.events(HostReach)]
    return {one.target.host: one.target for one in reached if one.tag == site.tag}
