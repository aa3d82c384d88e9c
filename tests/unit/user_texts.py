"""All texts that users and readers of the code see: pages, help, messages, reports, templates, docstrings."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from docs.generator.cli_page import commands
from docs.generator.pages import pages
from docs.generator.sample import kept

CHECKOUT = Path(__file__).parents[2]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
OF_THEIR_TIME = re.compile(r"docs/(?:decisions|proof|known-answers)")
ERRORS = re.compile(r"\w*(?:Error|Fault)")
WORDS = re.compile(r"(?:[A-Za-z][\w'-]*[,;:]? ){3}")
"""What a text has that is no name, path or pattern."""
LITERALS = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`")
"""Of JavaScript."""


def _pages() -> Iterator[tuple[str, str]]:
    for path in (
        CHECKOUT / "README.md",
        *map(CHECKOUT.joinpath, ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
        *CHECKOUT.glob("workloads/studies/*.yaml"),
        *CHECKOUT.glob("docs/**/*.md"),
    ):
        if path.parent.name == "reference":
            continue  # as it was when `make docs` ran
        yield path.relative_to(CHECKOUT).as_posix(), path.read_text(encoding="utf-8")
    yield from pages().items()
    for path in CHECKOUT.glob("docs/generator/*.json.gz"):
        shown = kept(path.name.partition(".")[0])
        said = (shown.headline, shown.undecided, *(w.message for w in shown.warnings))
        yield path.relative_to(CHECKOUT).as_posix(), "\n\n".join(filter(None, said))
    for path in CHECKOUT.glob("analysis/report/templates/*.j2"):
        yield path.relative_to(CHECKOUT).as_posix(), _visible(path.read_text(encoding="utf-8"))


def _visible(template: str) -> str:
    """What a reader sees of a template, and what a screen reader says; ` in place of each value."""
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", template, flags=re.S)
    text = re.sub(r"\{\{.*?\}\}", "`", text, flags=re.S)
    labels = re.findall(r'(?:aria-label|title)="([^"]+)"', text)
    inline = re.sub(r"</?(?:a|b|span|code|abbr)\b[^>]*>", "", text)
    lines = re.sub(r"<[^>]+>", "\n\n", inline).splitlines()
    return "\n\n".join((*(line.strip() for line in lines), *labels))


def _help() -> Iterator[tuple[str, str]]:
    for name, command in commands():
        texts = [command.help, command.epilog, *(parameter.help for parameter in command.params)]
        yield f"{name} --help", "\n".join(text or "" for text in texts)


def _files(*suffixes: str) -> Iterator[tuple[str, str]]:
    """Name and text of each file of the rooms that has one of these suffixes."""
    for path in (path for room in ROOMS for path in sorted((CHECKOUT / room).rglob("*"))):
        if path.suffix in suffixes:
            yield path.relative_to(CHECKOUT).as_posix(), path.read_text(encoding="utf-8")


class _Module(NamedTuple):
    documentation: str
    strings: str
    errors: str


@cache
def _modules() -> dict[str, _Module]:
    """No syntax tree is kept: the garbage collector would visit millions of nodes again and again."""
    return {name: _read(ast.parse(text)) for name, text in _files(".py")}


def _read(tree: ast.Module) -> _Module:
    stated = list(_stated(tree))
    public = (_dedented(str(node.value)) for is_public, node in stated if is_public)
    literals = _literals(tree, {node for _, node in stated})
    texts = (text for text in literals if WORDS.search(text))
    return _Module("\n\n".join(public), "\n\n".join(texts), "\n".join(_errors(tree)))


def _is_text(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _stated(tree: ast.AST, public: bool = True) -> Iterator[tuple[bool, ast.Constant]]:
    """Every string that is a statement, with whether it documents something public."""
    before: ast.AST | None = None
    for node in getattr(tree, "body", ()):
        named = getattr(node, "name", "")
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and _is_text(node.value)
        ):
            name = (
                before.targets[0]
                if isinstance(before, ast.Assign)
                else getattr(before, "target", None)
            )
            yield public and not getattr(name, "id", "").startswith("_"), node.value
        yield from _stated(node, public and not named.startswith("_"))
        before = node


def _literal(node: ast.AST) -> str:
    """The text of a string, with ` in place of each value; "" for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_literal(part) if _is_text(part) else "`" for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) and _is_text(node) else ""


def _literals(tree: ast.AST, left_out: set[ast.AST]) -> Iterator[str]:
    """In any order."""
    left = [tree]
    while left:
        node = left.pop()
        if node in left_out:
            continue
        if text := _literal(node):
            yield text
        if not isinstance(node, ast.JoinedStr):
            left.extend(ast.iter_child_nodes(node))


def _errors(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and ERRORS.fullmatch(node.func.id)
        ):
            for argument in (*node.args, *(k.value for k in node.keywords)):
                yield from map(_literal, ast.walk(argument))


def _docstrings() -> Iterator[tuple[str, str]]:
    """By file, what documents its module and its public classes, functions and values."""
    for name, module in _modules().items():
        yield f"docstrings of {name}", module.documentation


def _dedented(text: str) -> str:
    """Without the indentation that a page would have for code."""
    return re.sub(r"^ {4}(?=\S)", "", text, flags=re.M)


def _strings() -> Iterator[tuple[str, str]]:
    """By file, each string that is a text: messages, warnings, descriptions of keys, words of reports."""
    yield from ((name, module.strings) for name, module in _modules().items())
    for name, text in _files(".js"):
        texts = (first or second for first, second in LITERALS.findall(text))
        yield name, "\n\n".join(text for text in texts if WORDS.search(text))
    for name, text in _files(".toml"):
        yield name, "\n\n".join(text for text in _values(tomllib.loads(text)) if WORDS.search(text))


def _values(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _values(inner)


def errors() -> dict[str, str]:
    """By file, the literal text in the arguments of every raised error."""
    return {name: module.errors for name, module in _modules().items()}


@cache
def texts() -> dict[str, str]:
    return dict([*_pages(), *_help(), *_strings(), *_docstrings()])
