"""Faults of a YAML file that does not fit its model: one InputError with file, line, key and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.checked import (
    dotted,
    location_of,
    sentence,
    similar_key,
    similar_value,
)
from density_study.workloads.base.yaml_text import Document


def fault_of(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    reference: str,
    overridden: Sequence[str] = (),
) -> InputError:
    """The most telling fault. reference: what lists the keys of `model`. overridden: dotted keys
    whose values are not the file's."""
    # A misspelt key causes two errors, an unknown and a missing key: report the unknown one.
    first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
    location = location_of(first)
    more = error.error_count() - 1
    message = sentence(first, dotted(location))
    return InputError(
        message + (f" (and {more} more)" if more else ""),
        place_of(document, location, overridden),
        _remedy(first, dotted(location), model, reference),
    )


def place_of(document: Document, location: Sequence[object], overridden: Sequence[str] = ()) -> str:
    """File, line and key; for an overridden key, the override."""
    key = dotted(location)
    for override in overridden:
        if key == override or key.startswith((f"{override}.", f"{override}[")):
            return f"{document.name} with {override} replaced, key {key}"
    return f"{document.name}:{document.line_of(location)}" + (f", key {key}" if key else "")


def _remedy(first: Any, key: str, model: type[BaseModel], reference: str) -> str:
    is_key = first["type"] == "extra_forbidden"
    similar = similar_key(key, model) if is_key else similar_value(first)
    hint = "check the spelling;" if is_key else "correct the value;"
    hint = hint if similar is None else f"did you mean {similar}?"
    return f"{hint} {reference} lists every key with its unit."
