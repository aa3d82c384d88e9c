"""`Effects`: what levels of factors do to the speed of workloads on a simulated cluster, as declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.resources import files
from math import log
from pathlib import Path
from typing import Any

import yaml

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology

MODEL, NONE = "model", "none"
_OF_VARIANT = ("vms_per_host", "regionservers_per_node", "disk_type")
_MOST_BYTES = 128 * 1024
_NO_SCALAR = (ValueError, LookupError, AttributeError)  # of a date 2020-13-45, or !!bool maybe
_TOP = frozenset({"effects", "alike", "service"})
_OPERATIONS = frozenset({"read", "insert", "update", "scan"})
_TIMES = frozenset({"cpu_ms", "client_ms", "wait_ms", "serial_ms"})
_KEYS = frozenset({"factor", "level", "workload", "speed", "per_level"})


@dataclass(frozen=True)
class Effect:
    """Variants with `level` of `factor` run `workload` (a glob of its mode: read, scan95-insert5) `speed`
    times as fast. `per_level`: once for each VM or server above one, at the levels from two on."""

    factor: str
    level: str
    workload: str
    speed: float
    per_level: bool = False

    def times(self, topology: Topology, mode: str) -> float:
        """The factor on the speed; 1 where the effect does not apply."""
        if not fnmatchcase(mode, self.workload):
            return 1.0
        found = _level(topology, self.factor)
        if self.per_level:
            return self.speed ** max(int(found) - 1, 0) if found.isdecimal() else 1.0
        return self.speed if found == self.level else 1.0


@dataclass(frozen=True)
class Effects:
    """`name` for people. `alike`: globs of the workloads that every variant runs like the first one, whatever
    the model says; declared effects come on top. `service`: service times of operations instead of the
    shipped ones."""

    name: str = MODEL
    declared: tuple[Effect, ...] = ()
    alike: tuple[str, ...] = ()
    service: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def are_alike(self, mode: str) -> bool:
        return any(fnmatchcase(mode, glob) for glob in self.alike)

    def log_speed(self, topology: Topology, mode: str) -> float:
        return sum(log(effect.times(topology, mode)) for effect in self.declared)

    @classmethod
    def named(cls, name: str) -> Effects:
        """`model`: those of the queueing model alone. `none`: all variants alike. Else a shipped set of
        effects or a file. InputError if it is neither, or says what it cannot."""
        if name == MODEL:
            return cls()
        if name == NONE:
            return cls(NONE, alike=("*",))
        shipped = files(__package__) / "sets" / f"{name}.yaml"
        path = Path(name)
        if not (shipped.is_file() or path.is_file()):
            raise InputError(
                "there are no such effects.",
                f"--effects {name[:80]}",
                "name a YAML file, or one of model, none and talk.",
            )
        try:
            text = shipped.read_text() if shipped.is_file() else _text(path)
            if any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(text)):
                raise ValueError("aliases (*name) are not taken")
            value = yaml.safe_load(text)
        except (OSError, yaml.YAMLError, RecursionError, *_NO_SCALAR) as error:
            raise InputError(
                f"this cannot be read as YAML: {' '.join(str(error).split())[:120]}.",
                name,
                "correct the file.",
            ) from error
        return _effects(name, value)


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES // 1024} KiB")
    return content.decode(errors="replace")


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
        raise InputError("`alike` is no list of workloads.", name, "write alike: [read, load].")
    if not _is_service(service):
        raise InputError(
            "`service` has no times in ms of read, insert, update or scan.",
            name,
            "write service: {scan: {cpu_ms: 0.4, client_ms: 0.1, wait_ms: 1, serial_ms: 0.1}}.",
        )
    declared = (_effect(entry, f"{name}, effect {n}") for n, entry in enumerate(entries, 1))
    return Effects(name, tuple(declared), tuple(alike), service)


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
        raise InputError("`speed` is no number from 0.001 to 1000.", where, remedy)
    if not all(type(entry.get(key, "")) in (str, int, float) for key in ("level", "workload")):
        raise InputError("`level` or `workload` is no text; on and off need quotes.", where, remedy)
    if not isinstance(factor, str) or ("level" in entry) == bool(entry.get("per_level")):
        raise InputError("it needs `factor`, and either `level` or `per_level`.", where, remedy)
    return Effect(
        factor,
        str(entry.get("level", "")),
        str(entry.get("workload", "*")),
        float(speed),
        bool(entry.get("per_level")),
    )


def _level(topology: Topology, factor: str) -> str:
    if factor in _OF_VARIANT:
        return str(getattr(topology.variant, factor))
    return str(topology.levels.get(factor, ""))
