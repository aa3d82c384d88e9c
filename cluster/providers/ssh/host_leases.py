"""Leases of a run on all its hosts, taken before anything is made there."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from cluster.model.errors import HostBusyError, HostLostError, InputError
from cluster.providers.ssh.channel import channel
from cluster.providers.ssh.stack_copies import work_folder
from cluster.providers.ssh.target import Target
from cluster.state.events import RunOpened
from cluster.state.journal import Journal
from cluster.state.owner import Owner, here, judge


def take_leases(hosts: Mapping[str, Target], tag: str, journal: Journal) -> None:
    """Take or renew every host for the run `tag`. InputError names the run that holds one of them.

    Hosts are taken in the order of their names, so that two runs cannot deadlock.
    """
    for host in sorted(hosts):
        journal.intend("lease-host", tag, host=host)
        held = _take(hosts[host], tag, journal)
        if held is not None:
            raise busy(hosts[host], held)


def release_leases(hosts: Mapping[str, Target], tag: str) -> None:
    """Release the hosts that answer; on the others the lease expires."""
    for target in hosts.values():
        try:
            channel(target).call("lease", "release", _work(target), {"tag": tag})
        except HostLostError:
            continue


def lease_holder(target: Target, tag: str) -> dict[str, Any] | None:
    """The lease of another run on a host; None if there is none, it has expired, or its owner is dead."""
    held: dict[str, Any] | None = channel(target).call("lease_holder", _work(target))
    if held is None or held["tag"] == tag or held["expired"]:
        return None
    return None if _is_dead(held) else held


def busy(target: Target, held: Mapping[str, Any]) -> InputError:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(held["since"]))
    if _is_dead(held):
        return InputError(
            f"run {held['tag']} was killed and left {held.get('running', 0)} processes there.",
            str(target),
            "run `study reap`, which removes them.",
        )
    return HostBusyError(
        f"run {held['tag']} is using it (owner {Owner.from_json(held['owner']).name}, since {since}).",
        str(target),
        "wait until it ends, or set `when_busy: queue` in the study.",
    )


def _take(target: Target, tag: str, journal: Journal) -> dict[str, Any] | None:
    ours = {"tag": tag, "owner": _owner(journal).to_json()}
    held: dict[str, Any] | None = channel(target).call("lease", "take", _work(target), ours)
    if held is not None and _is_dead(held):
        held = channel(target).call("lease", "take", _work(target), {**ours, "stale": held["tag"]})
    return held


def _work(target: Target) -> str:
    return str(work_folder(target.user))


def _is_dead(held: Mapping[str, Any]) -> bool:
    """Known only for an owner in this PID namespace: the run's heartbeat may be on another machine."""
    owner = Owner.from_json(held["owner"])
    return owner.place == here() and judge(owner, lock_free=None, silent_s=float("inf")) == "dead"


def _owner(journal: Journal) -> Owner:
    """The owner of the run, which outlives the processes that carry out its steps."""
    opened = journal.last(RunOpened)
    return (
        Owner.from_json(opened.owner) if opened and opened.owner else Owner.of_process(os.getpid())
    )
