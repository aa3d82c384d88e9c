"""Checks beyond `make docs`: README's links, and the index of decisions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.hosts.fixture import CUT_RULE, NETWORK_RULES, SUDO_RULE

CHECKOUT = Path(__file__).parents[2]
DECISIONS = CHECKOUT / "docs" / "decisions"
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
MOST_LINES = 150


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


@pytest.mark.parametrize("page", ["docs/providers.md", "docs/tutorials/two-hosts.md"])
def test_the_documented_sudo_rule_is_the_tested_one(page: str) -> None:
    assert f"```sudoers\n{SUDO_RULE}```" in (CHECKOUT / page).read_text(encoding="utf-8")


def test_the_documented_rule_for_cuts_is_the_tested_one() -> None:
    page = (CHECKOUT / "docs" / "providers.md").read_text(encoding="utf-8")
    assert f"```sudoers\n{CUT_RULE}```" in page


def test_the_documented_rules_for_networks_are_the_tested_ones() -> None:
    page = (CHECKOUT / "docs" / "how-to" / "compare-networks.md").read_text(encoding="utf-8")
    assert f"```sudoers\n{NETWORK_RULES}```" in page
