"""Reads a study file: YAML text to `Study`, with file, line and key of every fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from density_study.cluster.model.errors import InputError, SeveralError, StudyError
from density_study.workloads.base.checked import RECORDED
from density_study.workloads.base.yaml_faults import fault_of, place_of
from density_study.workloads.base.yaml_text import Document, parse_yaml, read_text
from density_study.workloads.study.renamed_keys import old_names, rename_study
from density_study.workloads.study.study import Study

REFERENCE = "`study schema`"


@dataclass(frozen=True)
class StudyFile:
    """A study and its YAML text with overrides applied, as stored with the run."""

    study: Study
    text: str
    document: Document
    overridden: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """A warning for each key that has another name now."""

    @contextmanager
    def placing_faults(self) -> Iterator[None]:
        """Adds file and line to an InputError that names a key of the study."""
        try:
            yield
        except SeveralError as error:
            placed = tuple(map(self._placed, error.faults))
            raise replace(error, faults=placed) from error
        except InputError as error:
            if not error.key:
                raise
            raise self._placed(error) from error

    def _placed(self, error: StudyError) -> StudyError:
        if not isinstance(error, InputError) or not error.key:
            return error
        where = place_of(self.document, error.key, self.overridden)
        return replace(error, where=f"{where} ({error.where})", key=())


def read_study(
    path: Path, overrides: Mapping[str, object] | None = None, *, recorded: bool = False
) -> StudyFile:
    """The study in `path`, with dotted `overrides` ("stack.base_port": 22000) applied.

    InputError names the file, the line and the key. recorded: the study is that of an existing run; what
    earlier versions accepted is not refused.
    """
    return parse_study(read_text(path), str(path), overrides, recorded=recorded)


def parse_study(
    text: str, name: str, overrides: Mapping[str, object] | None = None, *, recorded: bool = False
) -> StudyFile:
    """The study of a YAML text. `name` denotes it in errors, which are those of `read_study`."""
    document = parse_yaml(text, name, recorded=recorded)
    value = document.value
    if not isinstance(value, dict):
        raise InputError(
            "the file is not a mapping of keys.", name, "start it with `study: <name>`."
        )
    for key, override in (overrides or {}).items():
        _override(value, key, override, name)
    overridden = tuple(overrides or ())
    warnings = rename_study(value, document)
    try:
        study = Study.model_validate(value, context=RECORDED if recorded else None)
    except ValidationError as error:
        raise fault_of(error, document, Study, REFERENCE, old_names(), overridden) from error
    kept = yaml.safe_dump(value, sort_keys=False) if overrides else text
    return StudyFile(study, kept, document, overridden, warnings)


def _override(value: dict[str, Any], dotted_key: str, new: object, name: str) -> None:
    keys = dotted_key.split(".")
    for depth, key in enumerate(keys[:-1], start=1):
        inner = value.setdefault(key, {})
        if not isinstance(inner, dict):
            raise InputError(
                f"override {dotted_key!r}: {'.'.join(keys[:depth])} is not a mapping.",
                name,
                "override a whole top-level key, or a key within a mapping.",
            )
        value = inner
    value[keys[-1]] = new
