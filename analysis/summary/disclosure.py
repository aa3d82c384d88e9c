"""The disclosures of a run's builds: merged into one, and compared (method 23).

A study declares by what its variants differ: density, disk_type, versions, properties
(`cluster.model.variant.declared`). Each part of a disclosure may follow from some of that: rendered files and
command lines from the whole topology, the jars of HBase from the versions of HBase and Hadoop, the kernel
from nothing. Builds for which all of that is equal must agree in the part; any other difference was not
declared. Paths below a build's own folders and ports belong to the build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from density_study.cluster.machine.equality.table import UNKNOWN, equal_value
from density_study.cluster.model.store import default_store

DIFFERENCES = "differences"
DURABILITY = "store.durability"
FACTS = "facts."
"""Begins the keys of what `cluster.machine.equality` reads of each host."""
_NOW_FACTS = ("governor", "scheduler", "swappiness", "transparent_hugepage")
"""What earlier versions disclosed elsewhere."""
_TOPOLOGY = ("topology",)
"""Computed from it by pure functions (cluster/render, cluster/lifecycle)."""
_HOST = ("vms_per_host", "stack.java", "cluster")
"""A bare host is described by itself, a host of guests or containers by the study."""
_DISKS = ("disk_type", "configuration.block_cache", "configuration.hdfs_cache")
_FOLLOWS: Mapping[str, tuple[str, ...]] = {
    "store": ("store", "store.durability"),
    "store.durability": ("store.durability",),
    "native_hadoop": ("store", "stack.native"),
    "checknative": ("store", "stack.native"),
    "stacks.native": ("stack.native", "store"),
    "stacks.jars": ("stack.jars", "store"),
    "stacks.zookeeper": ("stack.zookeeper", "store"),
    "files": _TOPOLOGY,
    "daemons": _TOPOLOGY,
    "listens_on_all_addresses": _TOPOLOGY,
    "in_effect": _TOPOLOGY,
    "jvm": _TOPOLOGY,
    "network": _TOPOLOGY,
    "disks": _DISKS,
    "facts.disks": _DISKS,
    "facts.network": ("network.coalesce",),
    "emulated": _DISKS,
    "provider": _HOST,
    "isolation": _HOST,
    "acceleration": _HOST,
    "containers": _HOST,
    "guests": _TOPOLOGY,
    "machines": _HOST,
    "existing": ("cluster",),  # what existing clusters say of themselves
    "clients": ("cluster",),
    "stacks.java": ("stack.java", "store", "isolation"),  # guests have that of their image
    "stacks.client_java": ("isolation",),
    "stacks.hadoop": ("stack.hadoop", "stack.tarball", "store"),
    "stacks.hbase": ("stack.hbase", "stack.hadoop", "store"),  # its HDFS client is Hadoop's
    "stacks.hbase.version": ("stack.hbase", "store"),
}
"""What of a disclosure, with all below it, follows from which declared keys. The longest key counts; anything
else follows from none."""
ABSENT = "not disclosed"
UNSET = "not set"
_PORT = re.compile(r"(?<=[\w.\]]):\d{2,5}\b")
_SHORT = 60


@dataclass(frozen=True)
class Difference:
    """`key` is dotted; `values` holds each value, as text, and the builds that have it."""

    key: str
    values: Mapping[str, list[str]]

    def __str__(self) -> str:
        """'machine.kernel: Linux 6.1 (b1-v1-flash), Linux 6.2 (b2-v1-flash)'."""
        values = (
            f"{shortened(text, _SHORT)} ({', '.join(names)})" for text, names in self.values.items()
        )
        return f"{self.key}: {', '.join(values)}"


def merge(disclosures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """One disclosure from those of several builds (by name).

    Keys on which all agree keep their place. The others are under `differences`, by dotted key:
    each value, as text, with the names of the builds that have it.
    """
    builds = {name: dict(_flat(disclosures[name])) for name in sorted(disclosures)}
    common: dict[str, Any] = {}
    differences: dict[str, Any] = {}
    for path in sorted({path for leaves in builds.values() for path in leaves}):
        by_value = _by_value({n: _text(own.get(path, ABSENT)) for n, own in builds.items()})
        if len(by_value) == 1:
            _put(common, path, next(iter(builds.values()))[path])
        else:
            differences[".".join(path)] = by_value
    return {**common, DIFFERENCES: differences} if differences else common


def follows_from(key: str) -> tuple[str, ...]:
    """The declared keys that may explain a difference at the dotted `key` of two disclosures."""
    while key and key not in _FOLLOWS:
        key = key.rpartition(".")[0]
    return _FOLLOWS.get(key, ())


def unexpected_differences(
    disclosures: Mapping[str, Mapping[str, Any]], declared: Mapping[str, Mapping[str, str]]
) -> tuple[Difference, ...]:
    """Differences that no factor explains, by key. `disclosures` by build; `declared` by build: what its
    study declares, the name of its topology at the key `topology`, and what its nodes are at `isolation`."""
    plain = {build: dict(leaves(value, build)) for build, value in disclosures.items()}
    found: dict[str, Difference] = {}
    for key in sorted({key for own in plain.values() for key in own}):
        alike: dict[tuple[str | None, ...], dict[str, str]] = {}
        for build, own in plain.items():
            if key.startswith(FACTS) and key not in own:
                continue  # the build does not use the host, or could not read it: unknown
            explains = tuple(declared[build].get(name) for name in follows_from(key))
            alike.setdefault(explains, {})[build] = own.get(key, ABSENT)
        for values in alike.values():
            by_value = _by_value(values)
            if len(by_value) > 1:
                found.setdefault(key, Difference(key, by_value))
    return tuple(found.values())


def unequal_durability(first: Mapping[str, str], later: Mapping[str, str]) -> tuple[str, ...]:
    """Why two variants are not compared, by what is declared of each: their stores acknowledge writes at
    unequal levels. Empty where the levels are equal."""
    usual = default_store().durability
    levels = [variant.get(DURABILITY, usual) for variant in (first, later)]
    return () if levels[0] == levels[1] else (f"{DURABILITY}: {levels[0]} and {levels[1]}",)


def declared_changes(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """'stack.hadoop: 3.4.1 -> 3.4.2', one per declared key that differs."""
    return tuple(
        f"{key}: {before.get(key, UNSET)} -> {after.get(key, UNSET)}"
        for key in sorted({*before, *after})
        if before.get(key, UNSET) != after.get(key, UNSET)
    )


def guests_are_emulated(disclosure: Mapping[str, Any]) -> bool:
    """Whether a build's VMs ran under QEMU's own emulation (tcg), by `acceleration`."""
    return "tcg" in json.dumps(disclosure.get("acceleration"))


def leaves(disclosure: Mapping[str, Any], build: str, *mine: str) -> Iterator[tuple[str, str]]:
    """(dotted key, text) of every value, without what is specific to the build: its name, the texts
    `mine`, ports, and file hashes (the file's text is compared instead, or holds only paths). A property of
    a rendered file is a value of its own: files.nodes/w1/hbase-site.xml.<name>."""
    for path, value in _properties(_flat(disclosure)):
        if path[0] == "files" and path[-1] == "sha256":
            continue
        if path[0] in ("emulated", "network") and "measured" in path:
            continue  # evidence for the limits, measured in each build
        if path[0] in ("machine", "machines", "disks") and path[-1] in _NOW_FACTS:
            continue
        if path[0] == "facts" and value == UNKNOWN:
            continue
        if path[0] == "reachable_by":
            continue  # who else could connect; numbers do not depend on it (docs/benchmarks.md)
        text = equal_value(path[-1], _text(value)) if path[0] == "facts" else _text(value)
        for own in (build, *mine):
            text = text.replace(own, "<own>")
        yield ".".join(path), _PORT.sub(":<port>", text)


def _properties(
    values: Iterator[tuple[tuple[str, ...], Any]],
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for path, value in values:
        properties = _in_xml(value) if path[0] == "files" and path[-1] == "text" else None
        if properties is None:
            yield path, value
        else:
            yield from (((*path[:-1], name), text) for name, text in properties.items())


def _in_xml(text: object) -> dict[str, str] | None:
    """The properties of a Hadoop configuration file; None for any other text."""
    try:
        root = ET.fromstring(str(text))
    except ET.ParseError:
        return None
    pairs = [(one.findtext("name"), one.findtext("value")) for one in root.iter("property")]
    return {name: value or "" for name, value in pairs if name}


def shortened(text: str, limit: int) -> str:
    """The text on one line, cut after `limit` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"


def _flat(
    value: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """(path, value) of every leaf; an empty mapping is a leaf."""
    for key, inner in value.items():
        path = (*above, str(key))
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, path)
        else:
            yield path, inner


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _by_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    """Each text, and the builds that have it."""
    names: dict[str, list[str]] = {}
    for name, text in values.items():
        names.setdefault(text, []).append(name)
    return names


def _put(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = value
