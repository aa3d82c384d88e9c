"""The disclosures of a run's builds merged: equal values once, differences by build (method 23)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

DIFFERENCES = "differences"
_ABSENT = "not disclosed"


def merge(disclosures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """One disclosure from those of several builds (by name).

    Keys on which all agree keep their place. The others are under `differences`, by dotted key:
    each value, as text, with the names of the builds that have it.
    """
    flat = {name: dict(_leaves(value)) for name, value in disclosures.items()}
    paths = sorted({path for leaves in flat.values() for path in leaves})
    common: dict[str, Any] = {}
    differences: dict[str, Any] = {}
    for path in paths:
        by_value = _by_value({name: leaves.get(path, _ABSENT) for name, leaves in flat.items()})
        if len(by_value) == 1:
            _put(common, path, next(iter(flat.values()))[path])
        else:
            differences[".".join(path)] = by_value
    return {**common, DIFFERENCES: differences} if differences else common


def _leaves(value: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """(path, value) of every leaf; an empty mapping is a leaf."""
    for key, inner in value.items():
        path = (*above, str(key))
        if isinstance(inner, Mapping) and inner:
            yield from _leaves(inner, path)
        else:
            yield path, inner


def _by_value(values: Mapping[str, Any]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for name, value in sorted(values.items()):
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        names.setdefault(text, []).append(name)
    return names


def _put(tree: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
    tree[path[-1]] = value
