"""Keys of a study that have another name now. The old one is read for one more release, with a warning that
names the new one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import OLD_NAMES
from density_study.workloads.base.checked import dotted
from density_study.workloads.base.yaml_faults import place_of
from density_study.workloads.base.yaml_text import Document

EVERY = "*"
_OF_LEVELS = re.compile(rf"(?<![a-z])(?:{'|'.join(OLD_NAMES)})(?=-[0-9])")
"""Levels of a network are named after its keys, and hypotheses name levels."""
RENAMED: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("factors", "network", EVERY): OLD_NAMES,
    ("workloads", EVERY, "ycsb"): {"isolation": "noisy_neighbour"},
}
"""Where (`EVERY`: each entry of a list or a mapping), and there: old name -> new name."""


def rename_keys(study: dict[str, Any], document: Document) -> tuple[str, ...]:
    """Give old keys of a study, as read from YAML, their new names in place. Returns a warning for each.
    InputError where the new key stands beside the old one."""
    warnings = [
        _renamed(block, where, old, new, document)
        for path, names in RENAMED.items()
        for where, block in _blocks(study, path)
        for old, new in names.items()
        if old in block
    ]
    for where, block in _blocks(study, ("expect", EVERY)):
        for key in [key for key in block if block.get("compare") == "network"]:
            present = _OF_LEVELS.sub(lambda found: OLD_NAMES[found[0]], str(key))
            if present != key:
                warnings.append(_renamed(block, where, key, present, document))
    return tuple(warnings)


def _renamed(
    block: dict[str, Any], where: tuple[str | int, ...], old: str, new: str, document: Document
) -> str:
    place = place_of(document, (*where, old))
    if new in block:
        raise InputError(
            f"{old} is the old name of {new}, which is given too.", place, f"remove {old}."
        )
    value = block.pop(old)
    block[new] = value
    return f"{place}: {old} is the old name of {new}; write {dotted((*where, new))}"


def _blocks(
    value: object, path: tuple[str, ...], where: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    if not path:
        if isinstance(value, dict):
            yield where, value
        return
    first, *rest = path
    inner: Iterable[tuple[str | int, object]] = ()
    if isinstance(value, list) and first == EVERY:
        inner = enumerate(value)
    elif isinstance(value, dict):
        inner = ((key, one) for key, one in value.items() if first in (EVERY, key))
    for key, one in inner:
        yield from _blocks(one, tuple(rest), (*where, key))
