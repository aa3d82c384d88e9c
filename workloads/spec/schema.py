"""The JSON Schema of a study file, as `study schema` prints it."""

from __future__ import annotations

import json

from workloads.spec.study import Study


def study_schema() -> str:
    """The schema as indented JSON, generated from the models that validate a study."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Study.model_json_schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
