"""Faults of a YAML file that does not fit its model: each an InputError with file, line, key and remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ValidationError

from density_study.cluster.model.errors import InputError, together
from density_study.workloads.base.checked import (
    dotted,
    location_of,
    sentence,
    similar_key,
    similar_value,
)
from density_study.workloads.base.yaml_text import Document

UNKNOWN, MISSING = "extra_forbidden", "missing"
_MEANT = "did you mean"
MOST_LETTERS = 3000
"""Letters of all named faults together."""


def fault_of(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    reference: str,
    old_names: Mapping[str, str],
    overridden: Sequence[str] = (),
) -> InputError:
    """The only fault, or a FaultsError of all. reference: what lists the keys of `model`. old_names: old name
    -> key. overridden: dotted keys whose values are not the file's."""
    causes = list(_causes(error))
    faults = list[InputError]()
    for location, cause in causes:
        remedy = _remedy(cause, location, model, reference, old_names)
        what = sentence(cause, dotted(location))
        faults.append(InputError(what, place_of(document, location, overridden), remedy))
        if sum(len(str(one)) for one in faults) > MOST_LETTERS:
            break
    if more := len(causes) - len(faults):
        faults[-1] = replace(faults[-1], what=f"{faults[-1].what} (and {more} more)")
    meant = (one.remedy.partition("?")[0] for one in faults if one.remedy.startswith(_MEANT))
    hints = (f"{hint}? " for hint in dict.fromkeys(meant))
    return together(
        faults, document.name, f"{''.join(hints)}{reference} lists every key with its unit."
    )


def _causes(error: ValidationError) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Location and error of each fault that a user can mend, in the order of the file's model. Consequences
    of others are left out: a list is short since a value in it is faulty, a key is missing since it is
    misspelt, or a value does not fit the other forms that a key may have."""
    every = [(tuple(location_of(each)), each) for each in error.errors()]
    misspelt = {location[:-1] for location, each in every if each["type"] == UNKNOWN}
    seen = set()
    for location, each in every:
        deeper = any(len(o) > len(location) and o[: len(location)] == location for o, _ in every)
        absent = each["type"] == MISSING and location[:-1] in misspelt
        if not deeper and not absent and location not in seen:
            seen.add(location)
            yield location, each


def place_of(document: Document, location: Sequence[object], overridden: Sequence[str] = ()) -> str:
    """File, line and key; for an overridden key, the override."""
    key = dotted(location)
    for override in overridden:
        if key == override or key.startswith((f"{override}.", f"{override}[")):
            return f"{document.name} with {override} replaced, key {key}"
    return f"{document.name}:{document.line_of(location)}" + (f", key {key}" if key else "")


def _remedy(
    cause: Any,
    location: Sequence[Any],
    model: type[BaseModel],
    reference: str,
    old_names: Mapping[str, str],
) -> str:
    is_key = cause["type"] == UNKNOWN
    similar = similar_key(location, model, old_names) if is_key else similar_value(cause)
    hint = "check the spelling;" if is_key else "correct the value;"
    hint = hint if similar is None else f"{_MEANT} {similar}?"
    return f"{hint} {reference} lists every key with its unit."
