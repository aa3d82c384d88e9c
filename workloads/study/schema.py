"""The JSON Schema of a study file, as `study schema` prints it. It describes the YAML, not the validated
values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from density_study.cluster.providers.provider import OF_STUDIES
from density_study.workloads.study.providers.registry import rules_of
from density_study.workloads.study.study import Study

_ROOMS = Path(__file__).resolve().parents[2]  # `density_study` in a checkout is links
_PLACES = (
    _ROOMS / "docs" / "reference" / "study.schema.json",  # in a checkout (docs.generator)
    _ROOMS / "reference" / "study.schema.json",  # in an installed package (hatch_build.py)
)
_TO_BUILD = ("hosts", "factors")
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def _quantity(value: float, unit: str) -> str:
    if unit == "%":
        return f"{value:.0%}"
    if unit == "byte" and value % 2**20 == 0:
        value, unit = value / 2**20, "MiB"
    return f"{value:.15g} {unit}"


class _AsWritten(GenerateJsonSchema):
    """Defaults as a study writes them: 1024 becomes `1024 MiB`. Nested models have defaults of their own."""

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        found = super().default_schema(schema)
        unit, default = found.get("x-unit"), found.get("default")
        if unit and isinstance(default, int | float):
            found["default"] = _quantity(default, unit)
        first = default[:1] if isinstance(default, list) else [default]
        if any(isinstance(value, dict) for value in first):
            del found["default"]
        return found


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a YAML file that `model` validates."""
    return {"$schema": DIALECT, **model.model_json_schema(schema_generator=_AsWritten)}


def study_schema() -> dict[str, Any]:
    """The schema, generated from the models that validate a study. An existing cluster needs no
    hosts and no factors: Study fills them in before it validates, which no model can show."""
    schema = schema_of(Study)
    schema["required"] = [key for key in schema["required"] if key not in _TO_BUILD]
    (name,) = (name for name in OF_STUDIES if not rules_of(name).builds)
    given = {"properties": {"provider": {"const": name}}, "required": ["provider"]}
    needs = {"then": {"required": [rules_of(name).key]}, "else": {"required": list(_TO_BUILD)}}
    return {**schema, "if": given, **needs}


def schema_file() -> Path:
    """The schema as a file, for editors."""
    return next((path for path in _PLACES if path.exists()), _PLACES[-1])


def study_schema_json() -> str:
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"
