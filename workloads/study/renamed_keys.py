"""Keys and words of a study, and of other files that users write, that have another name now. The old one is
read for one more release, with a warning that names the new one."""

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
_DISK_TYPE = {"medium": "disk_type"}
Renamed = Mapping[tuple[str, ...], Mapping[str, str]]
"""Where (`EVERY`: each entry of a list or a mapping), and there: old name -> new name."""
RENAMED: Renamed = {
    ("hosts", EVERY, "disks", EVERY): _DISK_TYPE,
    ("factors",): _DISK_TYPE,
    ("factors", "network", EVERY): OLD_NAMES,
    ("factors", "cluster", EVERY): _DISK_TYPE,
    ("workloads", EVERY, "ycsb"): {"isolation": "noisy_neighbour"},
}
OF_MAPS: Renamed = {
    (): {"arms": "variants"},
    ("variants", EVERY): _DISK_TYPE,
    ("trials", EVERY): {"arm": "variant"},
}
OF_CATALOGUES: Renamed = {
    ("hosts", EVERY, "disks", EVERY): _DISK_TYPE,
    ("measured_on", "disks", EVERY): _DISK_TYPE,
    ("storage", "kept", EVERY): {"medium": "access"},
}


_FORMER = {"blocks": "repetitions", "sla": "slo", "cost_trials": "overhead_trials"}
"""Old names that are read no more."""


def old_names(renamed: Renamed = RENAMED) -> dict[str, str]:
    """Old name -> new name, wherever it stands: for hints at unknown keys."""
    former = _FORMER if renamed is RENAMED else {}
    return former | {old: new for names in renamed.values() for old, new in names.items()}


def rename_keys(
    value: dict[str, Any], document: Document, renamed: Renamed = RENAMED
) -> tuple[str, ...]:
    """Give old keys of a file, as read from YAML, their new names in place. Returns a warning for each.
    InputError where the new key stands beside the old one."""
    return tuple(
        _renamed(block, where, old, new, document)
        for path, names in renamed.items()
        for where, block in _blocks(value, path)
        for old, new in names.items()
        if old in block
    )


def rename_study(study: dict[str, Any], document: Document) -> tuple[str, ...]:
    """Rename the keys of a study, and the factors and levels that its hypotheses and questions name."""
    warnings = list(rename_keys(study, document))
    for where, block in _blocks(study, ("expect", EVERY)):
        if block.get("compare") == "medium":
            block["compare"] = "disk_type"
            warnings.append(_word(document, (*where, "compare"), "medium", "disk_type"))
    questions: Any = study.get("questions")
    for at, name in enumerate(questions if isinstance(questions, list) else ()):
        if str(name).startswith("medium-"):
            questions[at] = f"disk-{name.removeprefix('medium-')}"
            warnings.append(_word(document, ("questions", at), name, questions[at]))
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
    block[new] = block.pop(old)
    return f"{place}: {old} is the old name of {new}; write {dotted((*where, new))}"


def _word(document: Document, where: tuple[str | int, ...], old: str, new: str) -> str:
    return f"{place_of(document, where)}: {old} is the old name of {new}; write {new}"


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
