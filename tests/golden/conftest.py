"""Golden files: rendered output, stored beside the tests and reviewed.

`make golden` (pytest tests/golden --golden) regenerates them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"
Compare = Callable[[str, Mapping[str, str]], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="make the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """golden(name, {path: text}) compares a tree with tests/golden/files/<name>, file by file."""
    anew = request.config.getoption("--golden", default=False)
    return _write if anew else _compare


def _write(name: str, tree: Mapping[str, str]) -> None:
    shutil.rmtree(FILES / name, ignore_errors=True)
    for path, text in tree.items():
        target = FILES / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def _compare(name: str, tree: Mapping[str, str]) -> None:
    root = FILES / name
    expected = {str(p.relative_to(root)): p.read_text() for p in root.rglob("*") if p.is_file()}
    assert sorted(expected) == sorted(tree), "files came or went: see `make golden`"
    for path, text in tree.items():
        assert text == expected[path], f"{path} changed: see `make golden`"
