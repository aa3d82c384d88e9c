"""A store's name is known in its own folder alone: elsewhere code asks the store."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.store import DEFAULT, stores

ROOT = Path(__file__).parents[4]
ROOMS = ("cluster", "workloads", "analysis", "jobs", "dags")
OWN = ROOT / "cluster" / "stores"
NAMES = sorted(name for name in stores() if name != DEFAULT)
"""The default store is the subject of this program: its name is also that of a stack, of software and of keys
of records. Of it only comparisons are found."""
WORD = re.compile("|".join(NAMES), re.IGNORECASE)
EXCEPTIONS = {
    "cluster/state/shell.py": "prefixes of environment variables that other programs of this machine read"
}


def sources() -> Iterator[Path]:
    for room in ROOMS:
        yield from (path for path in (ROOT / room).rglob("*.py") if not path.is_relative_to(OWN))


def named(text: str) -> list[int]:
    """Lines with a store's name in code: neither in comments nor in docstrings."""
    if not WORD.search(text):  # most files; their tokens would take seconds
        return []
    prose = {
        (node.value.lineno, node.value.end_lineno or 0)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }
    return [
        token.start[0]
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type != tokenize.COMMENT
        and WORD.search(token.string)
        and not any(first <= token.start[0] <= last for first, last in prose)
    ]


def compared(text: str) -> list[int]:
    """Lines that compare something with the default store's name."""
    if DEFAULT not in text:
        return []
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        if isinstance(side, ast.Constant) and side.value == DEFAULT and "store" in ast.unparse(node)
    ]


def test_no_stores_name_is_outside_its_folder() -> None:
    found = {
        f"{name}:{line}"
        for path in sources()
        if (name := str(path.relative_to(ROOT))) not in EXCEPTIONS
        for line in named(path.read_text(encoding="utf-8"))
    }
    assert found == set()


def test_no_store_knows_another() -> None:
    """A folder names its own stores alone."""
    for folder in (path for path in OWN.iterdir() if (path / "store.py").exists()):
        others = [name for name in stores() if not name.startswith(folder.name)]
        imported = re.compile(rf"density_study\.cluster\.stores\.({'|'.join(others)})\b")
        assert [p.name for p in folder.glob("*.py") if imported.search(p.read_text())] == []


def test_nothing_is_compared_with_the_default_store() -> None:
    for path in sources():
        text = path.read_text(encoding="utf-8")
        assert compared(text) == [], path
        assert not re.search("is_hbase|on_hadoop", text), path


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('if store.name == "redis":\n    pass\n', [1]),
        ("def _kudu_memory(): ...\n", [1]),
        ('x = {\n    "redis-cluster": 1,\n}\n', [2]),
        ('"""Of Redis."""\n# Kudu\nx = 1\n"""Cassandra has none."""\n', []),
    ],
)
def test_a_stores_name_is_found(text: str, lines: list[int]) -> None:
    assert named(text) == lines


def test_a_comparison_is_found() -> None:
    assert compared('if topology.store.name == "hbase":\n    pass\n') == [1]
    assert compared('if name == "hbase":\n    pass\n') == []
