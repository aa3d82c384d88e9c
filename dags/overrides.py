"""`--set key=value`: overrides of a study's keys, from the command line."""

from __future__ import annotations

from collections.abc import Iterable

import yaml

from cluster.errors import InputError


def parse_overrides(pairs: Iterable[str]) -> dict[str, object]:
    """["blocks=2", "stack.base_port=22000"] to {"blocks": 2, "stack.base_port": 22000}.

    Values are YAML, as in the study file. InputError for what is no key=value.
    """
    overrides: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise InputError("it is not key=value.", f"--set {pair}", "write --set blocks=2.")
        overrides[key] = _value(text, pair)
    return overrides


def _value(text: str, pair: str) -> object:
    try:
        value: object = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(
            "its value is not YAML.", f"--set {pair}", "write the value as in a study file."
        ) from error
    return value
