"""Reads the map of an import: YAML text to `ImportMap`, with file, line and key of every fault."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.yaml_faults import fault_of, place_of
from density_study.workloads.base.yaml_text import Document, parse_yaml, read_text
from density_study.workloads.imports.map_model import ImportMap
from density_study.workloads.study.renamed_keys import OF_MAPS, old_names, rename_keys
from density_study.workloads.study.schema import schema_of

REFERENCE = "the page Import map"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MapFile:
    """A map, and its text as the run stores it."""

    map: ImportMap
    text: str
    document: Document

    def place(self, *key: str | int) -> str:
        """File, line and key of a part of the map."""
        return place_of(self.document, key)


def read_map(path: Path, checks: Collection[str]) -> MapFile:
    """The map in `path`. InputError with file, line and key. checks: those that `accept` may name."""
    text = read_text(path)
    document = parse_yaml(text, str(path))
    if not isinstance(document.value, dict):
        raise InputError(
            "the file is not a mapping of keys.", str(path), "start it with `study: <name>`."
        )
    for warning in rename_keys(document.value, document, OF_MAPS):
        _log.warning("%s", warning)
    try:
        file = MapFile(ImportMap.model_validate(document.value), text, document)
    except ValidationError as error:
        raise fault_of(error, document, ImportMap, REFERENCE, old_names(OF_MAPS)) from error
    for check, why in file.map.accept.items():
        where = file.place("accept", check)
        if check not in checks:
            known = ", ".join(sorted(checks))
            raise InputError(
                f"no check {check!r} can be accepted as unknown.", where, f"write one of {known}."
            )
        if not why.strip():
            remedy = "write why the check may stay unknown; the report shows it."
            raise InputError("the reason is empty.", where, remedy)
    return file


def map_schema() -> dict[str, Any]:
    """The JSON Schema of a map."""
    return schema_of(ImportMap)
