"""Declared differences: the keys in which the study files of two runs differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import Field

from density_study.workloads.base.values import Frozen
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import StudyFile

ABSENT = "not set"
# These name, explain or schedule a study; they change nothing about what is measured.
_ABOUT = ("study", "question", "expect", "compare", "schedule", "when_busy", "queue", "notify")


class Declared(Frozen):
    """A key of the study file, and its value in each of two runs, as its author wrote it."""

    key: str = Field(description="dotted; elements of lists by their name, else by their position")
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.key}: {self.before} -> {self.after}"


def declared_differences(before: StudyFile, after: StudyFile) -> tuple[Declared, ...]:
    """What two studies declare differently, defaults included, by key. Two notations of one value, such as
    1 GiB and 1024 MiB, are equal."""
    first, later = dict(_leaves(_values(before.study))), dict(_leaves(_values(after.study)))
    written = [dict(_leaves(file.document.value)) for file in (before, after)]
    return tuple(
        Declared(
            key=key,
            before=written[0].get(key, first.get(key, ABSENT)),
            after=written[1].get(key, later.get(key, ABSENT)),
        )
        for key in sorted({*first, *later})
        if first.get(key) != later.get(key)
    )


def _values(study: Study) -> dict[str, Any]:
    """The study's values; a key without a value is left out."""
    every = study.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in every.items() if key not in _ABOUT}


def _leaves(value: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """(dotted key, text) of every value. A list without mappings is one value; what is empty is not set."""
    if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
        value = {_name(number, item): item for number, item in enumerate(value, 1)}
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, f"{above}.{key}" if above else str(key))
    elif value != []:
        yield above, value if isinstance(value, str) else json.dumps(value)


def _name(number: int, item: Any) -> str:
    return str(item["name"]) if isinstance(item, Mapping) and "name" in item else str(number)
