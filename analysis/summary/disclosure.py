"""The disclosures of a run's builds: merged into one, and compared (method 23).

Rendered files and daemon command lines follow from the topology, so the factor under study explains
their differences. Paths below a build's own folders and ports belong to the build. Every other
difference is unexpected: any between builds of one topology, and between topologies any in what is not
rendered (machine, kernel, Java, Hadoop, HBase, native library, disks).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DIFFERENCES = "differences"
# computed from the topology by pure functions (cluster/render, cluster/disclosure)
RENDERED = ("files", "daemons", "listens_on_all_addresses")
OF_MEDIUM = ("disks", "emulated")  # may differ where the medium is the factor
ABSENT = "not disclosed"
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
            f"{one_line(text, _SHORT)} ({', '.join(names)})" for text, names in self.values.items()
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


def unexpected_differences(
    disclosures: Mapping[str, Mapping[str, Any]],
    topologies: Mapping[str, str],
    media: Mapping[str, str],
) -> tuple[Difference, ...]:
    """Differences that no factor explains, by key. `disclosures` by build; `topologies` names each
    build's topology, `media` each build's medium."""
    plain = {build: dict(leaves(value, build)) for build, value in disclosures.items()}
    found: dict[str, Difference] = {}
    for topology in dict.fromkeys(topologies[build] for build in plain):
        same = {build: own for build, own in plain.items() if topologies[build] == topology}
        for difference in _differing(same):
            found.setdefault(difference.key, difference)
    explained = RENDERED + (OF_MEDIUM if len({media[build] for build in plain}) > 1 else ())
    shared = {
        build: {key: text for key, text in own.items() if key.split(".")[0] not in explained}
        for build, own in plain.items()
    }
    for difference in _differing(shared):
        found[difference.key] = difference
    return tuple(found[key] for key in sorted(found))


def guests_are_emulated(disclosure: Mapping[str, Any]) -> bool:
    """Whether a build's VMs ran under QEMU's own emulation (tcg), by `acceleration`."""
    return "tcg" in json.dumps(disclosure.get("acceleration"))


def leaves(disclosure: Mapping[str, Any], build: str, *mine: str) -> Iterator[tuple[str, str]]:
    """(dotted key, text) of every value, without what is specific to the build: its name, the texts
    `mine`, ports, and file hashes (the file's text is compared instead, or holds only paths)."""
    for path, value in _flat(disclosure):
        if path[0] == "files" and path[-1] == "sha256":
            continue
        if path[0] == "emulated" and "measured" in path:
            continue  # evidence for the limits, measured in each build
        text = _text(value)
        for own in (build, *mine):
            text = text.replace(own, "<own>")
        yield ".".join(path), _PORT.sub(":<port>", text)


def one_line(text: str, limit: int) -> str:
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


def _differing(builds: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
    for key in dict.fromkeys(key for own in builds.values() for key in own):
        by_value = _by_value({build: own.get(key, ABSENT) for build, own in builds.items()})
        if len(by_value) > 1:
            yield Difference(key, by_value)


def _put(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = value
