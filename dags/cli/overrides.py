"""`--set key=value`: override keys of a study on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from cluster.model.errors import InputError
from workloads.base.yaml_text import MAX_DEPTH, parse_yaml


def parse_overrides(pairs: Iterable[str]) -> dict[str, object]:
    """["repetitions=2", "stack.base_port=22000"] to {"repetitions": 2, "stack.base_port": 22000}.

    Values are YAML, as in the study file. InputError if a pair is not of the form key=value.
    """
    overrides: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        where = f"--set {pair[:80]}"
        if not equals or not key:
            raise InputError(
                "expected key=value.", where, "write it like this: --set repetitions=2."
            )
        if key.count(".") >= MAX_DEPTH:
            raise InputError(
                f"the key has more than {MAX_DEPTH} levels.",
                where,
                "write it like this: --set stack.base_port=22000.",
            )
        try:
            overrides[key] = parse_yaml(text, where).value
        except InputError as error:
            remedy = "write the value as in a study file."
            raise InputError(error.what, where, remedy) from error
    return overrides
