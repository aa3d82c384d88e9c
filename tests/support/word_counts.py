"""Words of README and the pages; `python -m tests.support.word_counts` prints them (`make test`)."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
MOST_WORDS = 22_000
"""Of prose, on README and the pages, without records of their time (decisions, proof, known answers)."""


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


def main() -> None:
    counted = words()
    for page, count in sorted(counted.items(), key=lambda item: item[1]):
        print(f"{count:6,} {page}")
    print(f"{sum(counted.values()):6,} words of at most {MOST_WORDS:,}")


if __name__ == "__main__":
    main()
