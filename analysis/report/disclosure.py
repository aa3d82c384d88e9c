"""The disclosure (everything needed to repeat the run) as a tree that the template walks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from density_study.analysis.summary.disclosure import DIFFERENCES


@dataclass(frozen=True)
class Entry:
    """A key with a short `value`, a long `text` (a file, a command line), or `children`."""

    key: str
    value: str | None = None
    text: str | None = None
    children: tuple[Entry, ...] = ()

    @property
    def is_short(self) -> bool:
        """Whether it is shown without a click: a few values, and no file."""
        leaves = tuple(_leaves(self))
        return len(leaves) <= SHORT and all(one.text is None for one in leaves)


LONG = 160
SHORT = 16
HEADINGS = {
    "acceleration": "CPU acceleration of VMs",
    "daemons": "Command lines of daemons",
    "differences": "Differences between builds",
    "emulated": "Emulated disks",
    "facts": "Host settings that change results",
    "files": "Configuration files as rendered",
    "existing": "What the existing cluster reports",
    "in_effect": "Settings in effect",
    "isolation": "Kind of node",
    "jvm": "Settings chosen by the RegionServers' JVMs",
    "listens_on_all_addresses": "Daemons that listen on all addresses",
    "checknative": "Native libraries that Hadoop found",
    "native_hadoop": "Native libraries of Hadoop",
    "reachable_by": "Who can reach the daemons",
    "stacks": "Versions and checksums of software",
}
"""Labels for keys of a disclosure that do not explain themselves."""
_PLAIN = re.compile(r"[a-z_]+")


def headed(values: dict[str, Any]) -> tuple[Entry, ...]:
    """`entries` under headings for people; those that are one value come first."""
    named = (replace(one, key=_heading(one.key)) for one in entries(values))
    return tuple(sorted(named, key=lambda one: one.value is None))


def _heading(key: str) -> str:
    words = key.replace("_", " ").capitalize() if _PLAIN.fullmatch(key) else key
    return HEADINGS.get(key, words)


def _leaves(entry: Entry) -> Iterator[Entry]:
    if not entry.children:
        yield entry
    for child in entry.children:
        yield from _leaves(child)


def entries(values: dict[str, Any]) -> tuple[Entry, ...]:
    """Every key in its order; nothing is omitted or shortened."""
    return tuple(
        _differences(value) if key == DIFFERENCES else _entry(str(key), value)
        for key, value in values.items()
    )


def _differences(value: object) -> Entry:
    """`analysis.summary.disclosure` groups builds by value; people look up a build first."""
    if not isinstance(value, dict):
        return _entry(DIFFERENCES, value)
    by_path = tuple(Entry(path, children=_by_builds(texts)) for path, texts in value.items())
    return Entry(DIFFERENCES, children=by_path)


def _by_builds(texts: dict[str, list[str]]) -> tuple[Entry, ...]:
    return tuple(_leaf(", ".join(builds), text) for text, builds in texts.items())


def _entry(key: str, value: object) -> Entry:
    if isinstance(value, dict) and value:
        return Entry(key, children=entries(value))
    if isinstance(value, list | tuple) and any(isinstance(item, dict | list) for item in value):
        named = {_item_name(index, item): item for index, item in enumerate(value)}
        return Entry(key, children=entries(named))
    if isinstance(value, list | tuple):
        return _leaf(key, "\n".join(map(_words, value)), join=", ")
    return _leaf(key, _words(value))


def _item_name(index: int, item: object) -> str:
    name = item.get("name", item.get("path")) if isinstance(item, dict) else None
    return f"{index + 1}" if name is None else f"{index + 1}: {name}"


def _leaf(key: str, text: str, join: str = "\n") -> Entry:
    if len(text) > LONG or ("\n" in text and join == "\n"):
        return Entry(key, text=text)
    return Entry(key, value=text.replace("\n", join) or "none")


def _words(value: object) -> str:
    if value in ({}, []):
        return "none"
    return value if isinstance(value, str) else json.dumps(value)
