"""No file imports one that imports it, directly or over others; import-linter compares packages only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
IMPORT = re.compile(
    r"^ *((?:from density_study[\w.]* import (?:\([^)]*\)|[^\n]*))|import density_study[^\n]*)",
    re.MULTILINE,
)
"""A statement: the trees of whole files would take seconds."""
JAVA = {
    path.stem: path for path in (ROOT / "workloads" / "ycsb" / "java").rglob("src/main/**/*.java")
}


def python_imports() -> dict[str, set[str]]:
    """Module -> modules that it imports anywhere, within functions and for types too."""
    files = {path: module_of(path) for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    known = set(files.values())
    return {
        name: set(imported(imports_of(path.read_text(encoding="utf-8")), known)) - {name}
        for path, name in files.items()
    }


def imports_of(text: str) -> ast.Module:
    return ast.parse("\n".join(IMPORT.findall(text)))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("density_study", *parts)).removesuffix(".__init__")


def imported(tree: ast.Module, known: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                yield part if part in known else node.module


def java_imports() -> dict[str, set[str]]:
    """Class -> classes of this project that its text names, without comments and strings."""
    noise = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.DOTALL)
    words = {
        name: set(re.findall(r"\b[A-Z]\w*", noise.sub(" ", path.read_text(encoding="utf-8"))))
        for name, path in JAVA.items()
    }
    return {name: (found & set(JAVA)) - {name} for name, found in words.items()}


def circle(imports: Mapping[str, Iterable[str]]) -> list[str]:
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("imports", [python_imports, java_imports])
def test_there_is_no_circle_of_files(imports: object) -> None:
    graph = imports()  # type: ignore[operator]
    assert sum(len(others) for others in graph.values()) > 20
    assert circle(graph) == []


def test_a_circle_is_found() -> None:
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == {"a", "b", "c"}


def test_imports_are_found_wherever_they_stand() -> None:
    text = "from density_study.a import (\n    b,\n)\n\ndef f():\n    import density_study.c as c  # late\n"
    found = imported(imports_of(text), {f"density_study.{name}" for name in ("a", "a.b", "c")})
    assert set(found) == {"density_study.a.b", "density_study.c"}
