"""CONTRIBUTING's table of rules names tests that are there, and leaves no rule out."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TEXT = (TESTS.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d+) \| (.+?) \| (.+) \|$", TEXT, re.M)
NAMED = re.findall(
    r"`((?:unit|property|golden|spark|dag|live|browser)/[\w/]+\.py)(?:::(\w+))?`", TEXT
)


def test_every_rule_has_its_row_in_order() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(3, 23))


def test_every_test_that_guards_a_rule_exists() -> None:
    assert len(NAMED) >= len(ROWS)
    for file, name in NAMED:
        assert (TESTS / file).is_file(), file
        source = (TESTS / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in source, f"{file}::{name}"
