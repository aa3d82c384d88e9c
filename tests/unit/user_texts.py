"""All texts that users read: pages, help, errors, the report's templates."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docs.generator.cli_page import commands
from docs.generator.pages import pages

CHECKOUT = Path(__file__).parents[2]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
OF_THEIR_TIME = re.compile(r"docs/(?:decisions|proof|known-answers)")
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
