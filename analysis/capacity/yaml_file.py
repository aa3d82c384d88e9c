"""Reading a YAML file into a pydantic model, with errors that name file and key."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from cluster.errors import InputError

M = TypeVar("M", bound=BaseModel)


def read_yaml(path: Path, kind: type[M]) -> M:
    """InputError for a file that cannot be read, is no YAML, or does not hold what it should."""
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"it cannot be read: {error}.", str(path), "name a YAML file.") from error
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            f"{key}: {first['msg']}.", str(path), "correct the key; the README lists them."
        ) from error
