"""Reading a study file: YAML text to `Study`, every fault with file, line and key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from cluster.errors import InputError
from workloads.study import Study


@dataclass(frozen=True)
class StudyFile:
    """A study and the YAML it came from, overrides included, as the run keeps it."""

    study: Study
    text: str


def read_study(path: Path, overrides: Mapping[str, object] | None = None) -> StudyFile:
    """The study in `path`, with dotted `overrides` ("stack.base_port": 22000) laid over it.

    InputError names the file, the line and the key.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(
            "there is no such file.",
            str(path),
            "name a study file; shipped ones: workloads/studies.",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"cannot be read: {error}.", str(path), "give a readable UTF-8 file."
        ) from error
    return parse_study(text, str(path), overrides or {})


def parse_study(text: str, name: str, overrides: Mapping[str, object] | None = None) -> StudyFile:
    """As `read_study`, from text; `name` stands for the file in messages."""
    root = _compose(text, name)
    value = yaml.safe_load(text)
    if not isinstance(value, dict):
        raise InputError("is not a mapping of keys.", name, "begin with `study: <name>`.")
    for key, override in (overrides or {}).items():
        _override(value, key, override, name)
    try:
        study = Study.model_validate(value)
    except ValidationError as error:
        raise _input_error(error, root, name) from error
    return StudyFile(study, yaml.safe_dump(value, sort_keys=False) if overrides else text)


def _compose(text: str, name: str) -> yaml.Node | None:
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = getattr(error, "problem", None) or "not YAML"
        raise InputError(f"is not valid YAML: {problem}.", where, "mend the line.") from error
    _refuse_duplicate_keys(root, name)
    return root


def _refuse_duplicate_keys(node: yaml.Node | None, name: str) -> None:
    if isinstance(node, yaml.MappingNode):
        seen: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if key.value in seen:
                raise InputError(
                    f"duplicate key {key.value!r} (first on line {seen[key.value]}).",
                    f"{name}:{line}",
                    "keep one of them.",
                )
            seen[key.value] = line
            _refuse_duplicate_keys(child, name)
    elif isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _refuse_duplicate_keys(child, name)


def _override(value: dict[str, Any], dotted: str, new: object, name: str) -> None:
    keys = dotted.split(".")
    for depth, key in enumerate(keys[:-1], start=1):
        inner = value.setdefault(key, {})
        if not isinstance(inner, dict):
            raise InputError(
                f"override {dotted!r}: {'.'.join(keys[:depth])} is not a mapping.",
                name,
                "override a whole top-level key, or a key inside a mapping.",
            )
        value = inner
    value[keys[-1]] = new


def _input_error(error: ValidationError, root: yaml.Node | None, name: str) -> InputError:
    # A misspelt key is unknown and leaves another missing: the first says what to mend.
    first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
    location = [part for part in first["loc"] if not _is_union_branch(part)]
    line = _line_of(root, location)
    key = _dotted(location)
    more = error.error_count() - 1
    message = _sentence(first, key)
    return InputError(
        message + (f" (and {more} more)" if more else ""),
        f"{name}:{line}" + (f", key {key}" if key else ""),
        _remedy(first),
    )


def _is_union_branch(part: object) -> bool:
    """pydantic puts the tried branch of a union into the location; it is no key of the file."""
    return isinstance(part, str) and bool(re.search(r"[\[\(]", part) or part in ("int", "str"))


def _sentence(first: Any, key: str) -> str:
    if first["type"] == "extra_forbidden":
        return f"unknown key {key.rsplit('.', 1)[-1]!r}."
    if first["type"] == "missing":
        return f"key {key!r} is missing."
    message = str(first["msg"]).removeprefix("Value error, ")
    shown = f" (got {first['input']!r})" if first["type"] != "value_error" else ""
    return f"{message}{shown}."


def _remedy(first: Any) -> str:
    if first["type"] == "extra_forbidden":
        return "check the spelling; the README lists every key."
    return "correct the value; the README lists every key with its unit."


def _dotted(location: list[Any]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def _line_of(node: yaml.Node | None, location: list[Any]) -> int:
    """Line (from 1) of the deepest part of `location` that the file has."""
    line = 1
    for part in location:
        child = _child(node, part)
        if child is None:
            break
        line, node = child
    return line


def _child(node: yaml.Node | None, part: object) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == part:
                return key.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None
