"""Checks beyond `make docs`: README's links, and the index of decisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
DECISIONS = CHECKOUT / "docs" / "decisions"
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MOST_LINES = 90
MOST_WORDS = 22_000
"""Of prose, on README and the pages, without records of their time (decisions, proof, known answers)."""
MOST_OF_A_PAGE = 1_700
LONGER = {"docs/methodology.md": 2_650}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    links = LINK.findall((CHECKOUT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (CHECKOUT / link).exists()] == []


def test_readme_stays_one_page() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def words() -> dict[str, int]:
    """Words outside code blocks, by page; the source of the glossary is a page."""
    pages = [
        path
        for path in CHECKOUT.glob("docs/**/*.md")
        if not {"decisions", "proof", "reference", "known-answers.md"} & set(path.parts)
    ]
    counted = {}
    for path in (CHECKOUT / "README.md", *pages, CHECKOUT / "docs/generator/glossary.toml"):
        text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
        name = path.relative_to(CHECKOUT).as_posix()
        counted[name] = sum(bool(re.search(r"\w", word)) for word in text.split())
    return counted


def test_pages_stay_short(record_property: Callable[[str, object], None]) -> None:
    counted = words()
    for page, count in sorted(counted.items(), key=lambda item: item[1]):
        print(f"{count:6,} {page}")
    total = sum(counted.values())
    print(f"{total:6,} words")
    record_property("words", total)
    assert total <= MOST_WORDS
    assert {p: n for p, n in counted.items() if n > LONGER.get(p, MOST_OF_A_PAGE)} == {}


def test_every_decision_is_in_the_index_once() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in DECISIONS.glob("0*.md"))
    assert sorted(LINK.findall(index)) == pages


def test_a_decision_has_a_date_a_status_and_three_parts() -> None:
    for page in DECISIONS.glob("0*.md"):
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^Date: \d{4}-\d\d-\d\d\. Status: \w+", text, re.M), page.name
        headings = re.findall(r"^## (.+)$", text, re.M)
        assert headings == ["Context", "Decision", "Consequence"], page.name
        assert 10 <= len(text.splitlines()) <= 25, page.name


def test_no_page_has_a_sudo_rule_of_its_own() -> None:
    """`study sudo-rules` prints those that tests/security/privileges tries to break."""
    pages = [page for page in CHECKOUT.glob("docs/**/*.md") if page.parent != DECISIONS]
    assert [page for page in pages if "NOPASSWD" in page.read_text(encoding="utf-8")] == []
