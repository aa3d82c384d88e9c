"""What earlier versions recorded, under today's names: plans, journals, records, summaries, models and tables
stay readable. CONTRIBUTING.md has the table of old and new names. Pure.

A name is changed only where today's schema has the new name and not the old one: a host, a property or a test
case that people called `arm` or `given` keeps its name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

KEYS: Mapping[str, str] = {
    "arm": "variant",
    "arms": "variants",
    "headline_setting": "headline_test_case",
    "setting": "test_case",
    "setting_id": "test_case_id",
    "setting_metrics": "test_case_metrics",
    "settings": "test_cases",
    "media": "disk_types",
    "medium": "disk_type",
    "medium_emulated": "disk_type_emulated",
    "medium_random": "disk_type_random",
    "medium_sequential": "disk_type_sequential",
    "sharp": "precise",
    "sharpness": "precision",
}
"""Old key of a JSON object, old column or old table -> its name today."""
VALUES: Mapping[str, str] = {
    "no claim": "inconclusive",
    "reproduced": "confirmed",
    "contradicted": "refuted",
    "emulated-medium": "emulated-disk",
    "given-cluster": "existing-cluster",
    "given-quotas": "existing-quotas",
}
_HAVE_VALUES = ("code", "outcome", "verdict")
_WERE_GIVEN = ("existing", "imported")
"""`given` was an existing cluster, and a test case of one."""
_GIVEN = re.compile(r"\Agiven(?=-|\Z)")
Kinds = tuple[Any, ...]


@dataclass(frozen=True)
class _Schema:
    """What JSON of some kinds may hold. fields: those of an object, by name. others: kinds of the elements of
    a list, and of the values of an object whose keys are free."""

    fields: Mapping[str, Kinds] = field(default_factory=dict)
    others: Kinds = ()


def present(value: Any, kind: Any) -> Any:
    """JSON of a `kind` (a type, as pydantic reads it) as this version writes it. A present value does not
    change."""
    return _present(value, _plain(kind))


def present_key(key: str, known: Collection[str]) -> str:
    """Today's name of a key, column or table, among those that are `known` today."""
    names = _WERE_GIVEN if key == "given" else (KEYS.get(key, key),)
    return key if key in known else next((name for name in names if name in known), key)


def present_topology(name: str) -> str:
    """The name that the topology of an existing cluster has today: given-prod is existing-prod."""
    return _GIVEN.sub("existing", name, count=1)


def present_topologies(value: Any) -> Any:
    """A summary about existing clusters, with today's names of their topologies: runs are compared by them.
    Records, and what is analysed from them later, keep the name under which they were measured."""
    if isinstance(value, list):
        return [present_topologies(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: present_topologies(one) for key, one in value.items()}
    if isinstance(found.get("topology"), str):
        found["topology"] = present_topology(found["topology"])
    if isinstance(found.get("variants"), dict):
        found["variants"] = {present_topology(key): one for key, one in found["variants"].items()}
    return found


def _present(value: Any, kinds: Kinds) -> Any:
    if not kinds or not isinstance(value, list | dict):
        return value
    schema = _schema(kinds)
    if isinstance(value, list):
        return [_present(one, schema.others) for one in value]
    found: dict[str, Any] = {}
    for old, one in value.items():
        key = present_key(old, schema.fields)
        if key == "disclosure" and isinstance(one, dict):  # which has no class
            found[key] = {present_key(part, ("existing",)): seen for part, seen in one.items()}
        elif key in _HAVE_VALUES and key in schema.fields and isinstance(one, str):
            found[key] = VALUES.get(one, one)
        else:
            found[key] = _present(one, schema.fields.get(key, schema.others))
    return found


@cache
def _schema(kinds: Kinds) -> _Schema:
    own: dict[str, Kinds] = {}
    others: Kinds = ()
    for kind in kinds:
        if get_origin(kind) is None:
            for name, hint in _hints(kind).items():
                own[name] = (*own.get(name, ()), *_plain(hint))
        else:  # the last argument: elements of a list, values of a mapping
            others += _plain(get_args(kind)[-1])
    return _Schema(own, others)


def _plain(hint: Any) -> Kinds:
    """The classes and containers among which a value is, without what has no keys."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _plain(arguments[0])
    if origin in (Union, UnionType):
        return tuple(kind for part in arguments for kind in _plain(part))
    if origin is tuple:
        return tuple(list[part] for part in arguments if part is not Ellipsis)  # type: ignore[valid-type]
    if origin is None and isinstance(hint, type):
        return tuple(one for one in _family(hint) if _is_object(one))
    return (hint,) if origin in (list, dict, Mapping, Sequence) else ()


def _family(kind: type) -> tuple[type, ...]:
    """The class and all below it: a plan has test cases of every workload."""
    subclasses: list[type] = kind.__subclasses__()
    return (kind, *(one for below in subclasses for one in _family(below)))


def _is_object(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "model_fields")


def _hints(kind: type) -> Mapping[str, Any]:
    if not is_dataclass(kind):
        return {name: one.annotation for name, one in kind.model_fields.items()}  # type: ignore[attr-defined]
    hints = get_type_hints(kind)
    own = {one.name: hints[one.name] for one in fields(kind)}
    variant = own.get("variant")  # its fields stand beside the others (topology.Flat)
    beside = _hints(variant) if isinstance(variant, type) and is_dataclass(variant) else {}
    return {**own, **beside}
