"""Hosts made quiet for a trial, and put back; from the journal alone after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Host, Target
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.providers.ssh.channel import channel
from density_study.cluster.state.events import Event, HostReach, Intent, NodeReach, QuietOver
from density_study.cluster.state.journal import Journal

ACT = "quiet-host"


@contextmanager
def quieted(site: Site, topology: AnyTopology, journal: Journal) -> Iterator[None]:
    """StudyError if a host cannot be made quiet; those that were are put back in any case."""
    try:
        for host in topology.hosts:
            act = act_on(host)
            if former := act("noisy"):
                journal.intend(ACT, site.tag, host=host.name, former=former)
                act("make-quiet", former)
        yield
    finally:
        put_back(site, journal)


def put_back(site: Site, journal: Journal) -> None:
    """Whatever a trial of the build has not put back. Safe to repeat."""
    targets = _targets(site, journal)
    for host, former in _left(site, journal).items():
        _act(targets.get(host))("restore-noise", former)
        journal.record(QuietOver(tag=site.tag, host=host))


def not_put_back(site: Site, journal: Journal) -> tuple[str, ...]:
    """Settings of hosts that `put_back` would change."""
    targets = _targets(site, journal)
    return tuple(
        f"{file} on {host}"
        for host, former in _left(site, journal).items()
        for file in _act(targets.get(host))("noise-changed", former)
    )


def act_on(host: Host) -> Callable[..., Any]:
    """Runs host commands there."""
    return _act(host.target if host.login else None)


def _act(target: Target | None) -> Callable[..., Any]:
    """On this machine if there is no target."""
    if target is None:
        return lambda name, *arguments: HOST_COMMANDS[name](*arguments)
    return channel(target).act


def _left(site: Site, journal: Journal) -> dict[str, Mapping[str, str]]:
    """By host: what it was before the first change that is not over."""
    found: dict[str, Mapping[str, str]] = {}
    for event in journal.events(Event):
        match event:
            case QuietOver(tag=site.tag):
                found.pop(event.host, None)
            case Intent(tag=site.tag, act="quiet-host"):
                found.setdefault(event.host, event.former)
    return found


def _targets(site: Site, journal: Journal) -> dict[str, Target]:
    reached: list[NodeReach | HostReach] = [*journal.events(NodeReach), *journal.events(HostReach)]
    return {one.target.host: one.target for one in reached if one.tag == site.tag}
