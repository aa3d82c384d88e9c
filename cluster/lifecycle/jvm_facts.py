"""What a JVM chose itself: pages, pointers, regions and threads of its collector, by its own word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_LINE = re.compile(r"\[gc,init\] (?P<name>[A-Z][\w -]+): (?P<value>.+?)\s*$")
_KEPT = frozenset({
    "CPUs", "Compressed Oops", "Concurrent Workers", "GC Workers", "Heap Max Capacity", "Heap Region Size",
    "Large Page Support", "Max Capacity", "NUMA Support", "Parallel Workers", "Pre-touch",
})  # fmt: skip


def chosen_by(jvms: Iterable[Iterable[str]]) -> dict[str, str]:
    """Name -> value, from the output of each JVM; where they differ, all values. Empty if none says it."""
    found: dict[str, set[str]] = {}
    for lines in jvms:
        for line in lines:
            if (match := _LINE.search(line)) and match["name"] in _KEPT:
                found.setdefault(match["name"], set()).add(match["value"])
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}
