"""docs/methodology.md has every rule of measurement, and its tests exist."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CHECKOUT = TESTS.parent
PAGE = (CHECKOUT / "docs" / "methodology.md").read_text(encoding="utf-8")
RULES = {
    int(number): text
    for number, text in re.findall(r"^### Rule (\d+): (.*?)(?=^##)", PAGE, re.M | re.S)
}
PARTS = ("- Mistake: ", "- Source: ", "- Tests: ")
NAMED = re.compile(
    r"`(unit|property|golden|spark|dag|live|browser)/(?:[\w/]+/)?(test_\w+\.py)(?:::(\w+))?`"
)
CITED = re.compile(r"\bmethods? (\d+)(?:(?:,| and) (\d+))?")
"""Notations of a rule in code: "(method 7)", "(method 5, 16)", "(methods 4 and 19)"."""


def test_every_rule_is_present_in_order() -> None:
    assert list(RULES) == list(range(1, 26))


def test_every_rule_names_its_mistake_its_source_and_its_tests() -> None:
    for number, text in RULES.items():
        assert [part for part in PARTS if part not in text] == [], number
        assert NAMED.search(text), number


def test_every_named_test_exists() -> None:
    """In any file below the folder of its kind."""
    for kind, file, name in NAMED.findall(PAGE):
        sources = [path.read_text(encoding="utf-8") for path in (TESTS / kind).rglob(file)]
        assert sources, f"{kind}/{file}"
        assert any(f"def {name}(" in source for source in sources) or not name, f"{file}::{name}"


def test_every_rule_cited_in_code_is_present() -> None:
    rooms = ("cluster", "workloads", "jobs", "analysis", "dags")
    code = [
        path.read_text(encoding="utf-8")
        for room in rooms
        for path in Path(CHECKOUT / room).rglob("*.py")
    ]
    cited = {
        int(number) for text in code for found in CITED.findall(text) for number in found if number
    }
    assert len(cited) > 10
    assert cited <= set(RULES)
