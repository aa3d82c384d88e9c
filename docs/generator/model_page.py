"""Tables of every key of a pydantic model, from its JSON Schema: one section per nested model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docs.generator.markdown import sentence, table

_EXAMPLES = {
    "MiB": "size, e.g. `6 GiB`",
    "byte": "size, e.g. `1 MiB`",
    "s": "duration, e.g. `10 min`",
    "ms": "duration, e.g. `20 ms`",
    "%": "percentage, e.g. `5%`",
}
HEADER = ("key", "type", "default", "meaning")


def model_sections(schema: dict[str, Any], top: str) -> Iterator[str]:
    """A section for the model itself, named `top`, and one for each model that its keys contain."""
    models = schema.get("$defs", {})
    yield from _section(schema, top, models)
    seen: set[str] = set()
    waiting = list(_nested(schema, ""))
    while waiting:
        path, name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        yield from _section(models[name], f"`{path}`", models)
        waiting[:0] = _nested(models[name], f"{path}.")


def _section(model: dict[str, Any], title: str, models: dict[str, Any]) -> Iterator[str]:
    yield f"## {title}\n"
    if description := model.get("description"):
        yield f"{sentence(description)}\n"
    required = [*model.get("required", []), *model.get("else", {}).get("required", [])]
    rows = [
        _row(key, _with_meaning(value, models), key in required)
        for key, value in model.get("properties", {}).items()
    ]
    for pattern, value in model.get("patternProperties", {}).items():
        rows.append(_row(pattern.strip("^$").replace("[^_].*", "<later>").replace(".+", "<first>"),
                         value, required=True))  # fmt: skip
    yield from table(HEADER, rows)


def _with_meaning(value: dict[str, Any], models: dict[str, Any]) -> dict[str, Any]:
    """A key without a description means what its model says in its first sentence."""
    for name, _ in _references(value, ""):
        text = " ".join(models[name].get("description", "").split())
        return {"description": text.split(". ")[0], **value}
    return value


def _row(key: str, value: dict[str, Any], required: bool) -> tuple[str, str, str, str]:
    default = "required" if required else _default(value)
    return f"`{key}`", _type(value), default, sentence(value.get("description", ""))


def _default(value: dict[str, Any]) -> str:
    default = value.get("default")
    if default in (None, [], {}, ""):
        return "none"
    if isinstance(default, list):
        return f"`[{', '.join(map(str, default))}]`"
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def _type(value: dict[str, Any]) -> str:
    if (unit := value.get("x-unit")) in _EXAMPLES:
        return _EXAMPLES[unit]
    if "anyOf" in value:
        kinds = [_type(one) for one in value["anyOf"] if one.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "$ref" in value or "oneOf" in value:
        return "mapping"
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{json.dumps(value['const']).strip(chr(34))}`"
    kind = str(value.get("type", "any"))
    if kind == "array":
        return f"list of {_type(value['items'])}" if "items" in value else "list"
    if kind == "object":
        inner = value.get("additionalProperties")
        return f"mapping to {_type(inner)}" if isinstance(inner, dict) else "mapping"
    if kind in ("integer", "number"):
        return kind + _limits(value)
    return {"string": "text"}.get(kind, kind)


def _limits(value: dict[str, Any]) -> str:
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", from {low}" if low is not None else f", up to {high}" if high is not None else ""


def _nested(model: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """(path of the key, name of the model) for each key that holds a model or a list of them."""
    for key, value in model.get("properties", {}).items():
        for name, suffix in _references(value, ""):
            yield f"{path}{key}{suffix}", name


def _references(value: dict[str, Any], suffix: str) -> Iterator[tuple[str, str]]:
    if "$ref" in value:
        yield value["$ref"].rsplit("/", 1)[-1], suffix
    for one in (*value.get("anyOf", ()), *value.get("oneOf", ())):
        yield from _references(one, suffix)
    if isinstance(value.get("items"), dict):
        yield from _references(value["items"], f"{suffix}[]")
    if isinstance(value.get("additionalProperties"), dict):
        yield from _references(value["additionalProperties"], f"{suffix}.<name>")
