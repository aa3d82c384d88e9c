"""Checks of values in input files, and error messages that name the key at fault."""

from __future__ import annotations

import operator
import re
import reprlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain, takewhile
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ValidationInfo

from density_study.cluster.model.secrets import without_logins

_SHOWN = reprlib.Repr()
_SHOWN.maxlevel, _SHOWN.maxstring, _SHOWN.maxlong, _SHOWN.maxother = 3, 80, 50, 80
MAX_TEXT = 4000
"""Longest text of a key that has a form, so that no pattern looks at more."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MAX_MESSAGE = 500
"""Maximum length of a message, which may contain a long value."""
_WORDS = {
    "bool_type": "write true or false",
    "dict_type": "write a mapping of keys",
    "finite_number": "write a finite number",
    "float_parsing": "write a number",
    "float_type": "write a number",
    "greater_than": "it must be more than {gt:g}",
    "greater_than_equal": "it must be {ge:,} or more",
    "int_from_float": "write a whole number",
    "int_parsing": "write a whole number",
    "int_type": "write a whole number",
    "less_than": "it must be less than {lt:g}",
    "less_than_equal": "it must be {le:,} or less",
    "list_type": "write a list, like [1, 2]",
    "literal_error": "write {expected}",
    "model_type": "write a mapping of keys",
    "string_pattern_mismatch": "write text of the form {pattern}",
    "string_too_short": "write text of {min_length} or more letters",
    "string_type": "write text",
    "string_unicode": "write text that is valid Unicode",
    "too_long": "give at most {max_length} values",
    "too_short": "give {min_length} or more values",
    "tuple_type": "write a list, like [1, 2]",
}
"""Messages for pydantic's error types, by the names in its documentation."""


class FaultyKeyError(ValueError):
    """A fault in the combination of several keys. `key` is the path from the validated model to the key
    that the user should change."""

    def __init__(self, message: str, *key: str | int) -> None:
        super().__init__(message)
        self.key = key


RECORDED = {"recorded": True}
"""Context of the validation of a text that was accepted when it was recorded."""


def is_recorded(info: ValidationInfo) -> bool:
    """Whether a rule does not apply, because the text may be older than the rule."""
    return info.context == RECORDED


def at_most(limit: int, reason: str) -> AfterValidator:
    """Validator of a number: rejects values above `limit` and gives the reason."""

    def check(value: Any) -> Any:
        if isinstance(value, int | float) and value > limit:
            raise ValueError(f"{value:,} exceeds the maximum of {limit:,}: {reason}")
        return value

    return AfterValidator(check)


def like(pattern: str, words: str, *, dash: bool = False) -> AfterValidator:
    """Validator of a text: rejects values that do not match the whole pattern, and control characters;
    `words` describe valid ones. A program would take a text that begins with a dash for an
    option: only with `dash` it may."""
    form = re.compile(
        pattern, re.ASCII
    )  # digits and letters of other scripts reach file names and Maven

    def check(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if len(value) > MAX_TEXT or _CONTROL.search(value) or not form.fullmatch(value):
            raise ValueError(f"{_SHOWN.repr(value)} is not {words}")
        if value.startswith("-") and not dash:
            raise ValueError(
                f"{_SHOWN.repr(value)} begins with a dash, like an option of a program"
            )
        return value

    return AfterValidator(check)


PlainPath = Annotated[str, like(r"[/~].*", "an absolute path")]
"""For a file or folder on this machine."""


Name = Annotated[
    str,
    like(
        r"[a-z0-9](?:[a-z0-9-]{0,46}[a-z0-9])?",
        "a name: up to 48 lower-case letters, digits and hyphens, with no hyphen at the ends",
    ),
]


def no_duplicates(what: str, values: Sequence[object], *key: str | int, why: str = "") -> None:
    """FaultyKeyError for the first value that occurs twice."""
    seen: set[object] = set()
    for value in values:
        if value in seen:
            raise FaultyKeyError(f"duplicate {what}: {value!r}{why}", *key)
        seen.add(value)


def leaves(value: Any, *path: str | int) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """(path, value) of every value that is neither a mapping nor a list."""
    if isinstance(value, dict):
        inner: Iterable[tuple[Any, Any]] = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    else:
        yield path, value
        return
    for key, one in inner:
        yield from leaves(one, *path, key)


def location_of(error: Any) -> list[Any]:
    """Location in the file of one of pydantic's errors. Branches of a union are not keys and are left out."""
    parts = error["loc"]
    unknown = parts[-1:] if error["type"] == "extra_forbidden" else ()  # it may look like a branch
    outer = parts[: len(parts) - len(unknown)]
    location = [*(part for part in outer if not _is_union_branch(part)), *unknown]
    fault = error.get("ctx", {}).get("error")
    return [*location, *fault.key] if isinstance(fault, FaultyKeyError) else location


_BRANCHES = ("int", "str", "constrained-int", "constrained-str", "constrained-float")


def _is_union_branch(part: object) -> bool:
    return isinstance(part, str) and bool(re.search(r"[\[\(]", part) or part in _BRANCHES)


def dotted(location: Sequence[object]) -> str:
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def sentence(error: Any, key: str) -> str:
    """The message for one of pydantic's errors at `key`. It repeats no password of an address."""
    return without_logins(_sentence(error, key))


def _sentence(error: Any, key: str) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        return f"unknown key {_SHOWN.repr(key.rsplit('.', 1)[-1])}."
    if kind == "missing":
        return f"key {key!r} is missing."
    if kind == "value_error":
        message = str(error["msg"]).removeprefix("Value error, ")
        message = message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}..."
        return message if message.endswith("?") else f"{message}."
    words = _WORDS.get(kind)
    message = error["msg"] if words is None else words.format(**error.get("ctx", {}))
    return f"{message}, not {_SHOWN.repr(error['input'])}."


def similar_key(
    location: Sequence[str | int],
    model: type[BaseModel],
    old_names: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """What the unknown key at `location` is meant to be: a key that may stand there, or the place where the
    model has it, as ssh.port. old_names: old name -> key."""
    whole = _schema(model)
    here, unknown = [whole], str(location[-1])[:40]
    for part in location[:-1]:
        here = list(chain.from_iterable(_inner(one, part, whole) for one in here))
    known, places = _keys(here) - {unknown}, _places(model)
    name = old_names.get(unknown, unknown)
    longer = sorted(key for key in known if key.startswith(name) and len(name) > 2)
    if near := [name] if name in known else _similar(name, known, 0.75) or longer:
        return near[0]
    old = {each for each, new in old_names.items() if new in places}
    if found := [name] if name in places else _similar(unknown, {*places, *old}, 0.75):
        meant = old_names.get(found[0], found[0])
        return meant if meant in known else _nearest(places[meant], location)
    return next(iter(_similar(unknown, known, 0.6)), None)


def _similar(name: str, known: Collection[str], cutoff: float) -> list[str]:
    """The most similar one, if any: one of the same letters before all others."""
    swapped = [key for key in sorted(known) if sorted(key) == sorted(name)]
    return swapped[:1] or get_close_matches(name, sorted(known), n=1, cutoff=cutoff)


_Place = tuple[str | int, ...]
"""Keys from the model down; 0 for any entry of a list."""


def _nearest(places: Sequence[_Place], location: Sequence[str | int]) -> str:
    """The place that has most of its way in common with `location`; the least deep one of several."""
    way = [0 if isinstance(part, int) else part for part in location[:-1]]
    shared = partial(map, operator.eq, way)
    best = max(places, key=lambda place: sum(takewhile(bool, shared(place))))
    return dotted(best).replace("[0]", "[]") if best[1:] else f"{best[0]} at the top of the file"


@cache
def _places(model: type[BaseModel]) -> dict[str, list[_Place]]:
    """Each key -> where it stands, the least deep place first."""
    whole = _schema(model)
    found: dict[str, list[_Place]] = {}
    level: list[tuple[_Place, dict[str, Any], frozenset[int]]] = [((), whole, frozenset())]
    while level:
        inner = []
        for at, schema, above in level:
            for form in _forms(schema, whole):
                if id(form) in above:
                    continue
                below = above | {id(form)}
                for key, one in form.get("properties", {}).items():
                    found.setdefault(key, []).append((*at, key))
                    inner.append(((*at, key), one, below))
                if isinstance(form.get("items"), dict):
                    inner.append(((*at, 0), form["items"], below))
        level = inner
    return found


def _keys(schemas: Iterable[dict[str, Any]]) -> set[str]:
    return {key for each in schemas for key in each.get("properties", {})}


def similar_value(error: Any) -> str | None:
    """The allowed value that is most similar to a wrong one; None unless pydantic's error is about a list of
    allowed values, or if none is similar."""
    if error["type"] != "literal_error" or not isinstance(error["input"], str):
        return None
    allowed = re.findall(r"'([^']*)'", error["ctx"]["expected"])
    return next(iter(get_close_matches(error["input"][:40], allowed, n=1, cutoff=0.7)), None)


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _inner(
    schema: dict[str, Any], part: str | int, whole: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """The schemas that the value at `part` of a value with this schema may have, references resolved."""
    for form in _forms(schema, whole):
        if isinstance(part, int):
            found = (*form.get("prefixItems", ()), form.get("items"))
        else:
            found = (form.get("properties", {}).get(part), form.get("additionalProperties"))
        yield from chain.from_iterable(_forms(one, whole) for one in found if isinstance(one, dict))


def _forms(schema: dict[str, Any], whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema, or all that a reference or a choice stands for."""
    if name := schema.get("$ref"):
        schema = whole["$defs"][name.rsplit("/", 1)[-1]]
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    yield from chain.from_iterable(_forms(one, whole) for one in choices) if choices else (schema,)
