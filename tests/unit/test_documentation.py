"""Checks beyond `make docs`: README's links, and the index of decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
DECISIONS = CHECKOUT / "docs" / "decisions"
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MOST_LINES = 90


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    links = LINK.findall((CHECKOUT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (CHECKOUT / link).exists()] == []


def test_readme_stays_one_page() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


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
