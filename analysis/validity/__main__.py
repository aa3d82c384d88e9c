"""`python -m analysis.validity` prints every rule with its cause and remedy, as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.validity.rules import RULES


def table() -> Iterator[str]:
    yield "| check | a trial that violates it is | cause | remedy |"
    yield "|---|---|---|---|"
    for rule in RULES:
        verdict = "valid, with a flag" if rule.broken == "flag" else rule.broken
        yield f"| {rule.check} | {verdict} | {rule.reason} | {rule.remedy} |"


if __name__ == "__main__":
    print("\n".join(table()))
