"""Which builds of a run are comparable (method 23), and the differences that make them incomparable.

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

RENDERED = ("files", "daemons", "listens_on_all_addresses")
"""Computed from the topology by pure functions (cluster/render, cluster/disclosure)."""
OF_MEDIUM = ("disks", "emulated")
"""May differ where the medium is the factor."""
ABSENT = "not disclosed"
_PORT = re.compile(r"(?<=[\w.\]]):\d{2,5}\b")
_SHORT = 60


@dataclass(frozen=True)
class Difference:
    """`key` is dotted; `values` holds each value, as text, and the builds that have it."""

    key: str
    values: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        """'machine.kernel: Linux 6.1 (b1-v1-flash), Linux 6.2 (b2-v1-flash)'."""
        values = (f"{_short(text)} ({', '.join(names)})" for text, names in self.values.items())
        return f"{self.key}: {', '.join(values)}"


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
    for path, value in _flat(disclosure, ()):
        if path[0] == "files" and path[-1] == "sha256":
            continue
        if path[0] == "emulated" and "measured" in path:
            continue  # evidence for the limits, measured in each build
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for own in (build, *mine):
            text = text.replace(own, "<own>")
        yield ".".join(path), _PORT.sub(":<port>", text)


def _flat(
    value: Mapping[str, Any], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, inner in value.items():
        path = (*above, str(key))
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, path)
        else:
            yield path, inner


def _differing(builds: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
    keys = dict.fromkeys(key for own in builds.values() for key in own)
    for key in keys:
        values: dict[str, list[str]] = {}
        for build, own in builds.items():
            values.setdefault(own.get(key, ABSENT), []).append(build)
        if len(values) > 1:
            yield Difference(key, {text: tuple(names) for text, names in values.items()})


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else f"{line[:_SHORT]}…"
