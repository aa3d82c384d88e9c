"""Links, length and repetitions of the pages, and the index of decisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from density_study.cluster.providers.libvirt.programs import CONTROLLER, on_host
from tests.support.pages.word_counts import MOST_WORDS, pages, words

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
DECISIONS = DOCS / "decisions"
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
MADE = {"recording.html", "sample-report.html"}
"""By `make docs`, as well as reference/."""
MOST_LINES = 90
REPEATED_WORDS = 10
MOST_OF_A_PAGE = 1_700
LONGER = {"docs/methodology.md": 2_650}


def test_links_lead_somewhere() -> None:
    """So says `make docs`, too, for the pages; this test takes a moment."""
    every = [CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    links = [(page, *link) for page in every for link in LINK.findall(page.read_text("utf-8"))]
    assert len(links) > 300
    dead = []
    for page, path, anchor in links:
        target = page.parent / path if path else page
        if not target.exists():
            known = target.name in MADE or target.parent == DOCS / "reference"
        else:
            known = not anchor or target.suffix != ".md" or anchor in anchors(target)
        if not known:
            dead.append((page.name, path, anchor))
    assert dead == []


@cache
def anchors(page: Path) -> set[str]:
    """Of its headings, as Markdown's extension `toc` makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    shown = (re.sub(r"\]\([^)]*\)|[^\w\s-]", "", heading) for heading in HEADING.findall(text))
    return {re.sub(r"[-\s]+", "-", heading.strip().lower()) for heading in shown}


def test_every_page_is_in_the_site_and_no_other() -> None:
    named = set(re.findall(r": ([\w./-]+\.md)$", (CHECKOUT / "properdocs.yml").read_text(), re.M))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    apart = ("reference/", "decisions/0")  # generated; decisions are in an index of their own
    assert {p for p in there if not p.startswith(apart)} == {
        p for p in named if not p.startswith(apart)
    }


def test_readme_stays_one_page() -> None:
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def test_pages_stay_short(record_property: Callable[[str, object], None]) -> None:
    """`make test` prints the words of each page."""
    counted = words()
    total = sum(counted.values())
    record_property("words", total)
    assert total <= MOST_WORDS
    assert {p: n for p, n in counted.items() if n > LONGER.get(p, MOST_OF_A_PAGE)} == {}


def test_no_page_repeats_another() -> None:
    """Except for the sentence with which README and the site begin."""
    seen: dict[tuple[str, ...], str] = {}
    repeated = []
    for page, text in pages().items():
        shown = re.findall(
            r"[\w'/-]+", re.sub(r"^    .*$|`[^`]*`|\]\([^)]*\)", "", text, flags=re.M)
        )
        for words_in_order in zip(*(shown[n:] for n in range(REPEATED_WORDS)), strict=False):
            if seen.setdefault(words_in_order, page) != page:
                repeated.append((seen[words_in_order], page, " ".join(words_in_order)))
    assert [one for one in repeated if one[:2] != ("README.md", "docs/index.md")] == []


def test_the_tutorial_of_vms_installs_what_the_provider_needs() -> None:
    page = (CHECKOUT / "docs" / "tutorials" / "vms.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if "apt-get install" in line)
    needs = {
        package for need in (*CONTROLLER.needs, *on_host(False)) for package in need.package.split()
    }
    assert needs - {"util-linux"} == {*line.split()[2:]}  # every Debian has that one


def test_every_decision_is_in_the_index_once() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    pages = sorted(page.name for page in DECISIONS.glob("0*.md"))
    assert sorted(path for path, _ in LINK.findall(index)) == pages


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
