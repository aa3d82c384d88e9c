"""Numbers and words that YAML 1.1 reads as something else than a person does."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.yaml_text import parse_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10", 10),
        ("0.5", 0.5),
        ("-7", -7),
        ("1_000", 1000),
        ("0x10", 16),
        ("'010'", "010"),
        ("12:30", "12:30"),
        ("1:30.5", "1:30.5"),
        ("-1:30:00", "-1:30:00"),
        ("2026-11-26", "2026-11-26"),
    ],
)
def test_a_scalar_is_what_it_looks_like(text: str, value: object) -> None:
    found = parse_yaml(f"key: {text}\n", "f.yaml").value
    assert found == {"key": value}
    assert isinstance(found, dict) and type(found["key"]) is type(value)


@pytest.mark.parametrize("text", ["010", "-017", "00", "0_7", "[1, 010]"])
def test_an_octal_number_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InputError, match="begins with a zero, which makes it octal") as caught:
        parse_yaml(f"first: 1\nkey: {text}\n", "f.yaml")
    assert caught.value.where == "f.yaml:2"


@pytest.mark.parametrize(("text", "said"), [("-017", "-17"), ("010", "10"), ("00", "0")])
def test_the_remedy_is_text_first_and_keeps_the_sign(text: str, said: str) -> None:
    """Most are hashes and names of digits: without the zero they are others."""
    with pytest.raises(InputError, match=rf"write text in quotes, or the number {said}\."):
        parse_yaml(f"key: {text}\n", "f.yaml")


@pytest.mark.parametrize(("text", "value"), [("010", 8), ("-017", -15), ("12:30", 750)])
def test_a_recorded_number_is_what_it_was(text: str, value: int) -> None:
    assert parse_yaml(f"key: {text}\n", "f.yaml", recorded=True).value == {"key": value}
