"""All texts for users avoid outdated terms: pages, help, errors, the report's templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.generator.cli_page import commands
from docs.generator.pages import pages

CHECKOUT = Path(__file__).parents[2]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
_COUNTED = (
    r"(?:operations?|rows?|samples?|requests?|genomes?|units?|builds?|trials?|maps?|bytes|[MG]iB)"
)
_EACH = r"(?:second|minute|hour|day|week|variant|unit|host|node|trial|map|task|file|stream|build|genome)"
PREFERRED = {
    r"SLAs?": "SLO",
    r"(?:add[-_]blocks|blocks=\d+|blocks: \d+)": "repetition",
    r"so many": "n, or 'this number of'",
    r"told": "reported, shown, given",
    r"said": "reported, stated",
    r"asked": "requested, given",
    r"comes? to(?= be\b| an end| its end| nothing)": "is, ends",
    rf"{_COUNTED} an? {_EACH}": "per",
    r"(?:a variant|a unit)(?= or more\b| of evidence)": "per variant, per unit",
    r"(?:go|goes|going|gone|went) on with": "resume, continue",
    r"(?:hold|held|holds) against": "compare with",
    r"sign(?:ed|s)? on(?: to)?": "log in",
    r"patience": "timeout scale",
    r"(?:a|by|of) dice": "rng",
    r"cost pairs?": "overhead pair",
}
"""Outdated term, as a pattern for whole words -> the preferred term (docs/reference/glossary.md)."""
RENAMED = {
    r"[Aa]rms?": "variant",
    r"[Mm]edium(?! of)": "disk type",
    r"given clusters?": "existing cluster",
    r"(?:reproduced|contradicted)": "confirmed, refuted",
}
"""The same, of words that pages of their time keep (CONTRIBUTING.md)."""
OF_THEIR_TIME = re.compile(r"docs/(?:decisions|proof|known-answers)")
OLD = {re.compile(rf"\b(?:{old})\b"): new for old, new in PREFERRED.items()}
OLD_TOO = {**OLD, **{re.compile(rf"\b(?:{old})\b"): new for old, new in RENAMED.items()}}
DEFINES_THEM = {
    "glossary.md": ("SLA",),
    "CONTRIBUTING.md": ("arm", "arms", "medium", "given cluster", "reproduced", "contradicted"),
}
"""Pages that must use an outdated term, to state that we do not use it."""
ERRORS = re.compile(r"\w*(?:Error|Fault)")


def _pages() -> Iterator[tuple[str, str]]:
    for path in (
        CHECKOUT / "README.md",
        CHECKOUT / "CONTRIBUTING.md",
        *CHECKOUT.glob("docs/**/*.md"),
    ):
        if path.parent.name == "reference":
            continue  # as it was when `make docs` ran
        yield path.relative_to(CHECKOUT).as_posix(), path.read_text(encoding="utf-8")
    yield from pages().items()
    for path in CHECKOUT.glob("analysis/report/templates/*.j2"):
        text = re.sub(r"\{[{%#].*?[}%#]\}", "", path.read_text(encoding="utf-8"), flags=re.S)
        yield path.relative_to(CHECKOUT).as_posix(), text


def _help() -> Iterator[tuple[str, str]]:
    for name, command in commands():
        texts = [command.help, command.epilog, *(parameter.help for parameter in command.params)]
        yield f"{name} --help", "\n".join(text or "" for text in texts)


def _errors() -> Iterator[tuple[str, str]]:
    """The literal text in the arguments of every raised error, by file."""
    for path in (path for room in ROOMS for path in sorted((CHECKOUT / room).rglob("*.py"))):
        calls = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and ERRORS.fullmatch(node.func.id)
        ]
        texts = [
            part.value
            for call in calls
            for argument in (*call.args, *(keyword.value for keyword in call.keywords))
            for part in ast.walk(argument)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        if texts:
            yield path.relative_to(CHECKOUT).as_posix(), "\n".join(texts)


@cache
def texts() -> dict[str, str]:
    return dict([*_pages(), *_help(), *_errors()])


def faults(name: str, text: str) -> list[str]:
    allowed = DEFINES_THEM.get(name, ())
    return [
        f"{match[0]!r}: write {new}"
        for pattern, new in (OLD if OF_THEIR_TIME.match(name) else OLD_TOO).items()
        for match in pattern.finditer(text)
        if match[0] not in allowed
    ]


def test_texts_use_the_preferred_terms() -> None:
    found = {name: faults(name, text) for name, text in texts().items()}
    assert {name: old for name, old in found.items() if old} == {}


def test_every_kind_of_text_is_checked() -> None:
    names = texts().keys()
    assert {"README.md", "study run --help", "dags/cli/arguments.py"} <= names
    assert any(name.endswith(".j2") for name in names)
    assert len(names) > 100


@pytest.mark.parametrize(
    "text",
    (
        "the run is told",
        "2 builds a variant",
        "the second arm",
        "an SLA",
        "--add-blocks 2",
        "it goes on with it",
    ),
)
def test_outdated_terms_are_detected(text: str) -> None:
    assert faults("a page", text)


@pytest.mark.parametrize("text", ("HDFS blocks", "has a unit", "told-you-so.md"[4:], "asks"))
def test_technical_terms_are_accepted(text: str) -> None:
    assert faults("a page", text) == []
