"""--set key=value."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import parse_overrides


def test_values_are_yaml() -> None:
    pairs = [
        "repetitions=2",
        "stack.base_port=22000",
        "factors.vms_per_host=[1, 2]",
        "question=a=b?",
    ]
    assert parse_overrides(pairs) == {
        "repetitions": 2,
        "stack.base_port": 22000,
        "factors.vms_per_host": [1, 2],
        "question": "a=b?",
    }


@pytest.mark.parametrize("pair", ["repetitions", "=2", "repetitions=[1"])
def test_an_invalid_override_is_named(pair: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_overrides([pair])
    assert caught.value.where == f"--set {pair}"
