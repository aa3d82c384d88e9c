"""`--set key=value`: overrides of a study's keys, from the command line."""

from __future__ import annotations

from collections.abc import Iterable

from cluster.model.errors import InputError
from workloads.base.yaml_text import MAX_DEPTH, parse_yaml


def parse_overrides(pairs: Iterable[str]) -> dict[str, object]:
    """["repetitions=2", "stack.base_port=22000"] to {"repetitions": 2, "stack.base_port": 22000}.

    Values are YAML, as in the study file. InputError for what is no key=value.
    """
    overrides: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        where = f"--set {pair[:80]}"
        if not equals or not key:
            raise InputError("it is not key=value.", where, "write --set repetitions=2.")
        if key.count(".") >= MAX_DEPTH:
            raise InputError("no key of a study is so deep.", where, "write --set repetitions=2.")
        try:
            overrides[key] = parse_yaml(text, where).value
        except InputError as error:
            remedy = "write the value as in a study file."
            raise InputError(error.what, where, remedy) from error
    return overrides
