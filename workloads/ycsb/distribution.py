"""`KeyDistribution`: how requests are spread over the keys, as YCSB's core workload draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from density_study.workloads.base.checked import FaultyKeyError
from density_study.workloads.base.quantity import percent

PLAIN = ("zipfian", "uniform", "latest", "sequential")
_DEFAULTS = {"hotspot": (20.0, 80.0), "exponential": (85.714286, 95.0)}
_EXAMPLE = "zipfian, uniform, latest, sequential, or {hotspot: {keys: 20%, operations: 80%}}"


@dataclass(frozen=True)
class KeyDistribution:
    """hotspot: operations_percent of the operations go to keys_percent of the keys, the first ones.
    exponential: operations_percent of them go to the newest keys_percent of the keys. Others have neither."""

    name: str
    keys_percent: float | None = None
    operations_percent: float | None = None

    def __str__(self) -> str:
        if self.keys_percent is None:
            return self.name
        return f"{self.name}, {self.operations_percent:g} % to {self.keys_percent:g} % of the keys"

    def properties(self) -> dict[str, str]:
        """YCSB's."""
        found = {"requestdistribution": self.name}
        if self.keys_percent is None or self.operations_percent is None:
            return found
        keys, operations = self.keys_percent / 100, self.operations_percent / 100
        if self.name == "hotspot":
            return found | {
                "hotspotdatafraction": f"{keys:g}",
                "hotspotopnfraction": f"{operations:g}",
            }
        return found | {
            "exponential.percentile": f"{self.operations_percent:g}",
            "exponential.frac": f"{keys:g}",
        }


def distribution_of(value: object) -> KeyDistribution:
    """A distribution as a study writes it. ValueError describes the fault and shows an example."""
    if isinstance(value, KeyDistribution):
        return value
    if isinstance(value, str) and value in PLAIN:
        return KeyDistribution(value)
    if isinstance(value, str) and value in _DEFAULTS:
        return KeyDistribution(value, *_DEFAULTS[value])
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in _DEFAULTS:
        raise ValueError(f"{value!r} is not a distribution of keys; write {_EXAMPLE}")
    ((name, given),) = value.items()
    if not isinstance(given, dict) or not set(given) <= {"keys", "operations"}:
        raise FaultyKeyError(f"its keys are `keys` and `operations`; write {_EXAMPLE}", name)
    keys, operations = _DEFAULTS[name]
    if "keys" in given:
        keys = percent(given["keys"], "20%")
    if "operations" in given:
        operations = percent(given["operations"], "80%")
    if name == "exponential" and operations >= 100:
        raise FaultyKeyError("an exponential distribution has no end: write less than 100%", name)
    return KeyDistribution(name, keys, operations)


def _written(value: KeyDistribution) -> Any:
    """As `distribution_of` reads it; a name alone where nothing else differs from YCSB's defaults."""
    shares = (value.keys_percent, value.operations_percent)
    if shares in ((None, None), _DEFAULTS.get(value.name)):
        return value.name
    keys, operations = (f"{share:.10g}%" for share in shares if share is not None)
    return {value.name: {"keys": keys, "operations": operations}}


_SHARES = {"type": "object", "additionalProperties": False,
           "properties": {"keys": {"type": "string"}, "operations": {"type": "string"}}}  # fmt: skip
Keys = Annotated[
    KeyDistribution,
    BeforeValidator(distribution_of),
    PlainSerializer(_written),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": [*PLAIN, *_DEFAULTS]},
                *(
                    {"type": "object", "additionalProperties": False, "properties": {name: _SHARES},
                     "required": [name]}
                    for name in _DEFAULTS
                ),
            ]
        }
    ),
]  # fmt: skip
ZIPFIAN = KeyDistribution("zipfian")
