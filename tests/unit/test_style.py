"""Pages, help, messages, reports and docstrings are plain English: none of the habits that a review of fifty
sentences, and later draws of others, found."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.user_texts import CHECKOUT, OF_THEIR_TIME, errors, texts

WAS = CHECKOUT / "tests" / "samples" / "prose" / "fifty_sentences.txt"
"""One sentence a line, as they were."""
BEGIN = r"(?:^|(?<=[.:;] )|(?<=\| ))"
OURS = {
    re.compile(habit.replace("{BEGIN}", BEGIN)): better
    for better, patterns in tomllib.loads(WAS.with_name("habits.toml").read_text("utf-8")).items()
    for habit in patterns
}
OF_CHECKOUT = re.compile(
    r"(?:docs|tests|workloads/studies|analysis)/[\w/.-]+|CONTRIBUTING|README"
    r"|\bmake (?:setup|study|test|live)\b"
)
"""A place in the repository."""
MODULE = re.compile(r"python3? -m \w")
OF_DEVELOPERS = {"cluster/stack/__main__.py"}
"""Only in a checkout are locks written."""
NO_PROSE = re.compile(r"^```.*?^```|^ {4}\S.*$|`[^`\n]*`", re.M | re.S)


def _sentences(text: str) -> Iterator[str]:
    """Paragraphs of a page in one line each, and rows of its tables; without code."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[-|#>])|\n(?=\d+\. )", NO_PROSE.sub("`", text)):
        yield " ".join(paragraph.split()).lstrip("-> ")


def habits(text: str) -> list[str]:
    return [
        f"{found[0]!r}: {better}"
        for sentence in _sentences(text)
        for habit, better in OURS.items()
        for found in habit.finditer(sentence)
    ]


def test_texts_have_none_of_the_habits() -> None:
    read = {name: habits(text) for name, text in texts().items() if not OF_THEIR_TIME.match(name)}
    assert {name: found for name, found in read.items() if found} == {}


@pytest.mark.parametrize("was", WAS.read_text(encoding="utf-8").splitlines())
def test_each_of_the_fifty_sentences_would_fail(was: str) -> None:
    assert habits(was)


def test_no_error_sends_its_reader_to_a_file_of_the_repository() -> None:
    """Whoever installed the wheel has none."""
    named = {name: OF_CHECKOUT.findall(text) for name, text in errors().items()}
    assert {name: found for name, found in named.items() if found} == {}


def test_a_remedy_names_a_command_and_no_module() -> None:
    read = {name: text for name, text in texts().items() if not name.startswith("docstrings")}
    found = {name for name, text in read.items() if name.endswith(".py") and MODULE.search(text)}
    assert found == OF_DEVELOPERS


@pytest.mark.parametrize(
    "name",
    (
        "README.md",
        "study run --help",
        "dags/cli/arguments.py",  # an error
        "analysis/summarise/undecided.py",  # a sentence of the report
        "analysis/validity/rules.toml",
        "analysis/report/templates/page.html.j2",
        "analysis/report/static/inside.js",
        "docstrings of cluster/model/errors.py",
    ),
)
def test_every_kind_of_text_is_read(name: str) -> None:
    assert len(texts()[name].split()) > 4


def test_there_are_fifty() -> None:
    assert len(set(Path(WAS).read_text(encoding="utf-8").splitlines())) == 50
