"""Words of README and the pages; `python -m tests.support.pages.word_counts` prints them (`make test`)."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
MOST_WORDS = 22_000
"""Of prose, on README and the pages, without records of their time (decisions, proof, known answers)."""


def pages() -> dict[str, str]:
    """README and the pages by name, without fenced blocks; the source of the glossary is a page."""
    paths = [
        path
        for path in CHECKOUT.glob("docs/**/*.md")
        if not {"decisions", "proof", "reference", "known-answers.md"} & set(path.parts)
    ]
    every = (CHECKOUT / "README.md", *sorted(paths), CHECKOUT / "docs/generator/glossary.toml")
    return {
        path.relative_to(CHECKOUT).as_posix(): re.sub(
            r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S
        )
        for path in every
    }


def words() -> dict[str, int]:
    """Words outside code blocks, by page."""
    return {
        name: sum(bool(re.search(r"\w", word)) for word in text.split())
        for name, text in pages().items()
    }


def main() -> None:
    counted = words()
    for page, count in sorted(counted.items(), key=lambda item: item[1]):
        print(f"{count:6,} {page}")
    print(f"{sum(counted.values()):6,} words of at most {MOST_WORDS:,}")


if __name__ == "__main__":
    main()
