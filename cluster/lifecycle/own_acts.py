"""`check_acts`: what a run's journal names must follow from the run itself, before reap removes any of it.

Reap trusts only the journals of registered runs. This is a second barrier: a journal that was damaged or
replaced must not lead out of what its run could have made.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from density_study.cluster.machine import io_limits, network_link, packet_cpus
from density_study.cluster.machine.directories import FOLDER
from density_study.cluster.machine.equality import quiet
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.render.names import check_address, check_name, check_tag
from density_study.cluster.state.events import BuildDestroyed, Event, HostReach, Intent, NodeReach
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.own_runs import MAX_PLAN_BYTES, PLAN
from density_study.cluster.state.plain_file import read_plain, why_unread

_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}\$?")
_AROUND_TAG = ("builds", FOLDER, "tickets")
"""Folders of the program in which a build's folder has the path of its tag."""
_IN_GUEST = re.compile(r"/study(-[0-9]{1,3})?")
"""The data disks of a guest: `cluster.providers.libvirt.image.DATA`."""


def check_acts(root: Path, tag: str, journal: Journal) -> None:
    """StudyError names the first act of the run `tag` in `root` that this run cannot have done."""
    known: frozenset[str] | None = None
    for event in journal.events(Event):
        fault = _fault(root, tag, event)
        if not fault and (wanted := _reached(event)):
            known = _texts_of_plan(root) if known is None else known
            fault = "" if wanted in known else f"its plan does not name {wanted!r}"
        if fault:
            raise StudyError(
                f"{fault}: this run cannot have written that.",
                str(journal.path),
                "nothing was done. Find out who changed the journal; look on the run's hosts for what still "
                "stands, then remove the folder.",
            )


def _fault(root: Path, tag: str, event: Event) -> str:
    try:
        if isinstance(event, Intent):
            return _fault_of_intent(root, tag, event)
        if isinstance(event, BuildDestroyed):
            return _fault_of_build(tag, event.build, event.tag)
        if isinstance(event, NodeReach | HostReach):
            return _fault_of_target(root, tag, event)
    except InputError as error:
        return f"{error.where}: {error.what.rstrip('.')}"
    except (ValueError, OSError) as error:  # for example a path with a NUL
        return str(error)
    return ""


def _fault_of_intent(root: Path, tag: str, intent: Intent) -> str:
    if intent.act == "lease-host":
        return "" if intent.tag == tag else f"it leases a host for {intent.tag!r}"
    build = intent.tag.removeprefix(f"{tag}/")
    if fault := _fault_of_build(tag, build, intent.tag):
        return fault
    if intent.host:
        check_name(intent.host, "host")
    if intent.act == "build":
        provider_named(intent.provider)
        return _fault_of_build(tag, intent.build, intent.tag)
    if intent.act == "make-dir":
        return _fault_of_dir(root / "builds" / build, intent)
    if intent.act == "make-io-group":
        return _fault_of_io_group(intent)
    if intent.act in ("make-netns", "make-container"):
        check_name(intent.node, "node")
        begin, end = container_id(intent.tag, "", "").rstrip("."), f".{intent.node}"
        host = intent.path.removeprefix(begin).removesuffix(end)
        check_name(host, intent.act)
        is_own = intent.path == container_id(intent.tag, host, intent.node)
        return "" if is_own else f"{intent.path!r} is not the name of a container of the build"
    if intent.act == "set-flow-table":
        return packet_cpus.foreign(intent.former, only_table=True)
    if intent.act == "quiet-host":
        return quiet.foreign(intent.former)
    if intent.act == "set-network":
        return network_link.foreign(intent.former)
    return ""


def _fault_of_build(tag: str, build: str, build_tag: str) -> str:
    check_tag(build_tag, "build")
    is_own = "/" not in build and build_tag == f"{tag}/{build}"
    return "" if is_own else f"{build_tag!r} is not the tag of build {build!r} of {tag}"


def _fault_of_dir(build: Path, intent: Intent) -> str:
    path = PurePosixPath(intent.path)
    if not path.is_absolute() or ".." in path.parts or "\0" in intent.path:
        return f"{intent.path!r} is not a folder of the build"
    if not intent.host and _real(intent.path).is_relative_to(_real(build)):
        return ""
    if intent.host and _IN_GUEST.fullmatch(str(path.parent)) and path.name == intent.host:
        return ""
    for above in (path, path.parent, *path.parents[1:3]):
        for marker in _AROUND_TAG:
            if above.match(f"*/{marker}/{intent.tag}"):
                disk = above.parents[len(PurePosixPath(intent.tag).parts)]
                return "" if intent.host else _linked(Path(path), Path(disk))
    return f"{intent.path!r} is not a folder of the build"


def _real(path: str | Path) -> Path:
    """Without links: the folder of runs may have several names."""
    return Path(os.path.realpath(path))


def _linked(path: Path, above: Path) -> str:
    """A link between `above` and `path`, which may lead anywhere."""
    below = [path, *path.parents]
    links = (part for part in below[: below.index(above)] if part.is_symlink())
    link = next(links, None)
    return f"{link} is a link" if link else ""


def _fault_of_io_group(intent: Intent) -> str:
    path, own = Path(intent.path), io_limits.group(intent.tag, "/")
    is_group = path.parent in (io_limits.ROOT, io_limits.ROOT / "blkio")
    if is_group and path.name.startswith(own.name):
        return ""
    return f"{intent.path!r} is not a cgroup of the build"


def _fault_of_target(root: Path, tag: str, event: NodeReach | HostReach) -> str:
    target, build = event.target, event.tag.removeprefix(f"{tag}/")
    if fault := _fault_of_build(tag, build, event.tag):
        return fault
    check_name(event.node, "node")
    check_name(target.host, "host")
    check_address(target.address, f"host {target.host}")
    if not _USER.fullmatch(target.user) or not 0 < target.port < 65536:
        return f"nobody can log in as {target.user!r} at port {target.port}"
    _ = target.via  # ValueError if it is no host
    keys = root.absolute() / "builds" / build / "ssh"
    known = (keys / "known_hosts", root.absolute().parent / "known_hosts")
    if _real(target.known_hosts) not in map(_real, known):
        return f"{target.known_hosts!r} is not the study's file of host keys"
    if target.identity and _real(target.identity) != _real(keys / "identity"):
        return f"{target.identity!r} is not the build's key"
    return ""


def _reached(event: Event) -> str:
    """The machine to query because of the event; empty if it is this one."""
    if isinstance(event, NodeReach | HostReach):
        return event.target.address
    return event.uri if isinstance(event, Intent) else ""


def _texts_of_plan(root: Path) -> frozenset[str]:
    try:
        return frozenset(_texts(json.loads(read_plain(root / PLAN, MAX_PLAN_BYTES))))
    except (OSError, ValueError, RecursionError) as error:
        raise StudyError(
            f"the plan cannot be read: {why_unread(error)}.",
            str(root / PLAN),
            "restore it from a backup; it names the run's hosts.",
        ) from error


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
