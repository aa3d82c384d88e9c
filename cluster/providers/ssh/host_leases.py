"""Leases of a run on all its hosts, taken before anything is made there."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from density_study.cluster.model.errors import HostBusyError, InputError, each_of, together
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh.channel import channel, on_all, try_all
from density_study.cluster.state.events import RunOpened
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner, here, judge


def take_leases(hosts: Mapping[str, Target], tag: str, journal: Journal) -> None:
    """Take or renew every host for the run `tag`. InputError names each host that cannot be had, and the run
    that holds it.

    Hosts are taken in the order of their names, so that two runs cannot deadlock. After the first that cannot
    be had, the others are only looked at.
    """
    opened = journal.last(RunOpened)
    # The owner of the run outlives the processes that carry out its steps.
    owner = (opened and opened.owner) or Owner.of_process(os.getpid())
    has_all = True

    def take(host: str) -> None:
        nonlocal has_all
        is_taking, has_all = has_all, False
        if is_taking:
            journal.intend("lease-host", tag, host=host)
        target = hosts[host]
        held = _take(target, tag, owner) if is_taking else _holder(target, tag)
        if held is not None:
            raise _busy([target], held)
        has_all = is_taking

    each_of(sorted(hosts), take)


def release_leases(hosts: Mapping[str, Target], tag: str) -> None:
    """Release the hosts that answer; on the others the lease expires."""
    try_all(hosts, lambda _, target: channel(target).call("release_lease", str(target.work), tag))


def check_leases(hosts: Mapping[str, Target], tag: str) -> None:
    """HostBusyError names each run that holds some of the hosts, and these."""
    by_run: dict[str, tuple[list[Target], Mapping[str, Any]]] = {}
    for host, held in on_all(hosts, lambda _, target: _holder(target, tag)).items():
        if held is not None:
            by_run.setdefault(held["tag"], ([], held))[0].append(hosts[host])
    if by_run:
        raise together([_busy(*of_run) for of_run in by_run.values()])


def _holder(target: Target, tag: str) -> dict[str, Any] | None:
    """The lease of another run on a host; None if there is none, it has expired, or its owner is dead."""
    held: dict[str, Any] | None = channel(target).call("lease_holder", str(target.work))
    if held is None or held["tag"] == tag or held["expired"] or _is_dead(held):
        return None
    return held


def _busy(targets: Sequence[Target], held: Mapping[str, Any]) -> InputError:
    where = ", ".join(map(str, targets))
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(held["since"]))
    if _is_dead(held):
        return InputError(
            f"run {held['tag']} was killed and left {held.get('running', 0)} processes there.",
            where,
            "run `study reap`, which removes them.",
        )
    them, owner = "it" if len(targets) == 1 else "them", Owner.from_json(held["owner"]).name
    return HostBusyError(
        f"run {held['tag']} is using {them} (owner {owner}, since {since}).",
        where,
        "wait until it ends, or set `when_busy: queue` in the study.",
    )


def _take(target: Target, tag: str, owner: Owner) -> dict[str, Any] | None:
    """The lease of the run that holds the host; None if it is now the lease of `tag`."""
    lease = (str(target.work), tag, owner.to_json())
    held: dict[str, Any] | None = channel(target).call("take_lease", *lease)
    if held is not None and _is_dead(held):
        held = channel(target).call("take_lease", *lease, held["tag"])
    return held


def _is_dead(held: Mapping[str, Any]) -> bool:
    """Known only for an owner in this PID namespace: the run's heartbeat may be on another machine."""
    owner = Owner.from_json(held["owner"])
    return owner.place == here() and judge(owner, lock_free=None, silent_s=float("inf")) == "dead"
