"""Reading a YAML file into a pydantic model, with errors that name file, line and key."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cluster.model.errors import InputError
from workloads.base.checked import dotted, location_of, sentence
from workloads.base.yaml_text import read_yaml

M = TypeVar("M", bound=BaseModel)


def read_model(path: Path, kind: type[M]) -> M:
    """InputError if the file cannot be read, is not YAML, or does not fit the model."""
    document = read_yaml(path)
    try:
        return kind.model_validate(document.value)
    except ValidationError as error:
        first = error.errors()[0]
        location = location_of(first)
        key = dotted(location)
        raise InputError(
            sentence(first, key),
            f"{path}:{document.line_of(location)}" + (f", key {key}" if key else ""),
            "correct the key; docs/capacity.md lists them.",
        ) from error
