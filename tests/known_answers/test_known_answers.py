"""The quick known answers meet their goals; docs/known-answers.md lists all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.known_answers.__main__ import KNOWN
from tests.known_answers.answer import KnownAnswer
from tests.known_answers.key_skew import skew

PAGE = Path(__file__).parents[2] / "docs" / "known-answers.md"


@pytest.mark.thorough
@pytest.mark.parametrize("known", [k for k in KNOWN.values() if k.quick], ids=lambda k: k.name)
def test_a_quick_known_answer_meets_its_goal(known: KnownAnswer) -> None:
    answers = known.measure()
    assert answers and [answer for answer in answers if not answer.holds] == []


@pytest.mark.thorough
def test_keys_of_the_quickstart_are_as_skewed_as_it_says() -> None:
    """`make prove` has those of all shipped studies."""
    answers = skew(["quickstart"])
    assert answers and [answer for answer in answers if not answer.holds] == []


@pytest.mark.parametrize("name", KNOWN)
def test_the_page_lists_it(name: str) -> None:
    assert f"| {name} |" in PAGE.read_text(encoding="utf-8")
