"""Reads the facts of the table. What cannot be read is unknown, never a value. Standard library only: it
runs on hosts."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from density_study.cluster.machine import network_link
from density_study.cluster.machine.describe import mount_of, queue_of
from density_study.cluster.machine.equality import ethtool
from density_study.cluster.machine.equality.table import FACTS, UNKNOWN, Scope
from density_study.cluster.model.errors import StudyError

_CHOSEN = re.compile(r"\[(\S+)\]")
"""A file that lists what can be chosen, with the choice in brackets."""
NONE = "none"
_NETWORKS = Path("/sys/class/net")
_ENFORCE = Path("/sys/fs/selinux/enforce")
_LOGIN = Path("/proc/self/attr/current")
_LIBVIRT = Path("/run/libvirt")


def read_facts(folders: Sequence[str], address: str) -> dict[str, Any]:
    """The facts of this machine, of the disk that holds each folder, and of the card that carries the
    address. Loopback has no card: then there are no facts of a network."""
    device = _card(address)
    return {
        "machine": _of("machine", {}),
        "disks": {folder: _of_disk(folder) for folder in folders},
        "network": _of("network", {"nic": device}) if device else {},
    }


def files_of(pattern: str) -> list[Path]:
    """The files that match the pattern, in the order of the numbers in their names."""
    found = Path("/").glob(pattern.removeprefix("/"))
    return sorted(found, key=lambda file: [int(one) for one in re.findall(r"\d+", str(file))])


def chosen(file: Path) -> str:
    """`choice` of the file's text. OSError if it cannot be read."""
    return choice(file.read_text())


def choice(text: str) -> str:
    """The text on one line; of a list of choices, the one in brackets."""
    found = _CHOSEN.search(text)
    return found[1] if found else " ".join(text.split()) or NONE


def _of_disk(folder: str) -> dict[str, str]:
    place = next(one for one in (Path(folder), *Path(folder).parents) if one.exists())
    *_, mount, _, options = mount_of(place.resolve())
    queue = queue_of(Path(mount))
    disk = str(queue.parent) if queue else ""
    return _of("disks", {"disk": disk, "options": options, "folder": str(place)})


def _card(address: str) -> str:
    """The interface that carries the address; empty if it is loopback, unknown if none is seen."""
    try:
        link = network_link.link_of(address)
    except (StudyError, OSError):
        return UNKNOWN
    if link is None:
        return UNKNOWN
    return "" if network_link.is_loopback(link) else str(link["ifname"])


def _of(scope: Scope, places: Mapping[str, str]) -> dict[str, str]:
    return {fact.name: _value(fact.read, places) for fact in FACTS if fact.scope == scope}


def _value(read: str, places: Mapping[str, str]) -> str:
    how, _, rest = read.partition(" ")
    try:
        return _HOW[how](rest, places) if how in _HOW else _text(read, places)
    except (OSError, ValueError, IndexError):
        return UNKNOWN


def _text(pattern: str, places: Mapping[str, str]) -> str:
    return _together(chosen(file) for file in _found(pattern, places))


def _found(pattern: str, places: Mapping[str, str]) -> list[Path]:
    """OSError if no file fits."""
    nic = {"nic": str(_NETWORKS / places["nic"])} if "nic" in places else {}
    if "{disk}" in pattern and not places["disk"]:
        raise FileNotFoundError(pattern)  # no block device holds it
    if files := files_of(pattern.format(**{**places, **nic})):
        return files
    raise FileNotFoundError(pattern)


def _together(values: Iterable[str]) -> str:
    """'performance', or where they differ '0-7; 8-15'."""
    return "; ".join(dict.fromkeys(values))


def _names(pattern: str, places: Mapping[str, str]) -> str:
    return "; ".join(f"{file.name}: {chosen(file)}" for file in sorted(_found(pattern, places)))


def _largest(pattern: str, places: Mapping[str, str]) -> str:
    return str(max(int(chosen(file)) for file in _found(pattern, places)))


def _count(pattern: str, places: Mapping[str, str]) -> str:
    """Drivers say -1 of what they do not know."""
    text = _text(pattern, places)
    return UNKNOWN if text == "-1" else text


def _line(words: str, _: Mapping[str, str]) -> str:
    file, key = words.split(" ", 1)
    lines = (line.partition(":") for line in Path(file).read_text().splitlines())
    found = [value.strip() for name, _, value in lines if name.strip() == key]
    return _together(found) or UNKNOWN


def _limit(name: str, _: Mapping[str, str]) -> str:
    soft, _hard = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))
    return "unlimited" if soft == resource.RLIM_INFINITY else str(soft)


def _program(name: str, _: Mapping[str, str]) -> str:
    for file in Path("/proc").glob("[0-9]*/comm"):
        try:
            if file.read_text().strip() == name:
                return "runs"
        except OSError:  # it has ended
            continue
    return "does not run"


def _selinux(what: str, places: Mapping[str, str]) -> str:
    """`mode`, or the type of the login, or of a folder for guests' images, if it is enforced: without that,
    types keep nobody from anything."""
    mode = (
        {"0": "permissive", "1": "enforcing"}.get(chosen(_ENFORCE)) if _ENFORCE.exists() else NONE
    )
    if what == "mode" or mode != "enforcing":
        return (mode or UNKNOWN) if what == "mode" else NONE
    if what == "images" and not _LIBVIRT.is_dir():
        return NONE
    login = what == "login"
    label = _LOGIN.read_bytes() if login else os.getxattr(places["folder"], "security.selinux")
    return label.decode().strip("\0\n").split(":")[2]


_HOW: Mapping[str, Callable[[str, Mapping[str, str]], str]] = {
    "count": _count,
    "ethtool": lambda what, places: ethtool.READERS[what](places["nic"]) or UNKNOWN,
    "limit": _limit,
    "line": _line,
    "max": _largest,
    "mount": lambda _, places: places["options"],
    "names": _names,
    "program": _program,
    "selinux": _selinux,
}
"""By the first word of `Fact.read`; without one of these, it is a pattern of files whose texts count."""
