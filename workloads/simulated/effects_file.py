"""Reads declared effects: by name, from a shipped set or from a YAML file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.effects import MODEL, NONE, Effect, Effects, level_of
from density_study.workloads.base.yaml_text import parse_yaml, read_text
from density_study.workloads.study.factors.registry import factors

_TOP = frozenset({"effects", "alike", "service"})
_OPERATIONS = frozenset({"read", "insert", "update", "scan"})
_TIMES = frozenset({"cpu_ms", "client_ms", "wait_ms", "serial_ms"})
_KEYS = frozenset({"factor", "level", "workload", "speed", "per_level"})
_SETS = files(__package__) / "sets"


def named_effects(name: str) -> Effects:
    """`model`: only those of the queueing model. `none`: all variants alike. Else a shipped set of effects
    or a file. InputError if it is neither, or says what it cannot."""
    if name == MODEL:
        return Effects()
    if name == NONE:
        return Effects(NONE, alike=("*",))
    if _is_shipped(name):
        text = (_SETS / f"{name}.yaml").read_text(encoding="utf-8")
    elif Path(name).is_file():
        text = read_text(Path(name))
    else:
        raise InputError(
            "there are no such effects.",
            f"--effects {name[:80]}",
            "name a YAML file, or one of model, none and talk.",
        )
    return _effects(name, parse_yaml(text, name).value)


def check_effects(effects: Effects, variants: Iterable[Topology], modes: Set[str]) -> None:
    """InputError for effects of a factor that does not exist, of a level that no variant has, or of a
    workload that the study lacks: they would change nothing. A shipped set also serves studies with fewer
    levels. modes: those of the study's workloads."""
    built = tuple(variants)
    globs = dict.fromkeys((*effects.alike, *(one.workload for one in effects.declared)))
    for glob in () if _is_shipped(effects.name) else globs:
        if not any(fnmatchcase(mode, glob) for mode in modes):
            raise InputError(
                f"no workload of the study is {glob[:60]!r}.",
                f"--effects {effects.name}",
                f"write one that it has: {', '.join(sorted(modes))}.",
            )
    for one in effects.declared:
        if one.factor not in factors():
            raise InputError(
                f"there is no factor {one.factor[:60]!r}.", f"--effects {effects.name}",
                f"write one of {', '.join(factors())}.",
            )  # fmt: skip
        levels = dict.fromkeys(level_of(topology, one.factor) or "no level" for topology in built)
        found, wanted = one.level in levels, repr(one.level[:60])
        if one.per_level:
            found, wanted = any(level.isdecimal() and int(level) > 1 for level in levels), "above 1"
        if not (found or _is_shipped(effects.name)):
            raise InputError(
                f"no variant of the study has {one.factor} {wanted}.",
                f"--effects {effects.name}",
                f"write a level that one has: {', '.join(levels)}.",
            )


def _is_shipped(name: str) -> bool:
    return f"{name}.yaml" in {shipped.name for shipped in _SETS.iterdir()}


def _effects(name: str, value: Any) -> Effects:
    keys = value if isinstance(value, dict) else {}
    entries, alike, service = keys.get("effects"), keys.get("alike", []), keys.get("service", {})
    if not isinstance(entries, list) or not entries or not set(keys) <= _TOP:
        raise InputError(
            "it needs the key `effects` with a list, and may have `alike` and `service`.",
            name,
            "write effects: [{factor: disk_type, level: hdd, workload: random, speed: 0.5}].",
        )
    if not isinstance(alike, list) or not all(isinstance(glob, str) for glob in alike):
        raise InputError("`alike` is not a list of workloads.", name, "write alike: [read, load].")
    if not _is_service(service):
        raise InputError(
            "`service` has no times in ms of read, insert, update or scan.",
            name,
            "write service: {scan: {cpu_ms: 0.4, client_ms: 0.1, wait_ms: 1, serial_ms: 0.1}}.",
        )
    declared = (_effect(entry, f"{name}, effect {n}") for n, entry in enumerate(entries, 1))
    found = Effects(name, tuple(declared), tuple(alike), service)
    places = [(one.factor, one.level, one.workload) for one in found.declared]
    for n, place in enumerate(places, 1):
        if place in places[: n - 1]:
            raise InputError(
                f"it is of the same factor, level and workload as effect {places.index(place) + 1}, and both "
                "would multiply.",
                f"{name}, effect {n}",
                "write one of them.",
            )
    return found


def _is_service(value: Any) -> bool:
    if not isinstance(value, dict) or not set(value) <= _OPERATIONS:
        return False
    times = [one for one in value.values() if isinstance(one, dict) and set(one) <= _TIMES]
    numbers = [ms for one in times for ms in one.values()]
    are_times = (type(ms) in (int, float) and 0 <= ms <= 1e6 for ms in numbers)
    return len(times) == len(value) and all(are_times)


def _effect(entry: Any, where: str) -> Effect:
    remedy = (
        "write {factor: disk_type, level: hdd, workload: random, speed: 0.5}, or per_level: true "
        "for level."
    )
    if not isinstance(entry, Mapping) or not set(entry) <= _KEYS:
        raise InputError(f"its keys are not among {', '.join(sorted(_KEYS))}.", where, remedy)
    speed, factor = entry.get("speed"), entry.get("factor")
    factor = "disk_type" if factor == "medium" else factor  # its name in earlier versions
    if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0.001 <= speed <= 1000:
        raise InputError("`speed` is not a number from 0.001 to 1000.", where, remedy)
    if not all(type(entry.get(key, "")) in (str, int, float) for key in ("level", "workload")):
        raise InputError(
            "`level` or `workload` is not text; on and off need quotes.", where, remedy
        )
    if not isinstance(factor, str) or ("level" in entry) == bool(entry.get("per_level")):
        raise InputError("it needs `factor`, and either `level` or `per_level`.", where, remedy)
    return Effect(
        factor,
        str(entry.get("level", "")),
        str(entry.get("workload", "*")),
        float(speed),
        bool(entry.get("per_level")),
    )
