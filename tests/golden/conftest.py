"""Golden files: rendered output, stored beside the tests and reviewed.

`make golden` (pytest tests/golden --golden) regenerates them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from difflib import SequenceMatcher, unified_diff
from pathlib import Path, PurePath

import pytest

FILES = Path(__file__).parent / "files"
Compare = Callable[[str, Mapping[str, str]], None]
PROPERTY = re.compile(
    r"  <property>\n    <name>(.*)</name>\n    <value>(.*)</value>\n  </property>"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="make the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """golden(name, {path: text}) compares a tree with tests/golden/files/<name>.txt."""

    def compare(name: str, tree: Mapping[str, str]) -> None:
        file, text = FILES / f"{name}.txt", in_short(tree)
        if request.config.getoption("--golden", default=False):
            file.write_text(text, encoding="utf-8")
        before, now = file.read_text(encoding="utf-8").splitlines(), text.splitlines()
        changed = "\n".join(unified_diff(before, now, lineterm=""))
        assert not changed, f"it changed: see `make golden`\n{changed}"

    return compare


def in_short(tree: Mapping[str, str]) -> str:
    """All files in one text, which shows every change of each: files of many nodes differ in few lines, so a
    file is given as its differences from an earlier one. Hadoop's properties have a line each."""
    done: dict[str, list[str]] = {}
    sections = []
    for path, text in tree.items():
        lines = PROPERTY.sub(r"\1 = \2", text).split("\n")
        alike = [one for one in done if PurePath(one).suffix == PurePath(path).suffix]
        base = min(alike, key=lambda one: distance(done[one], lines), default="")
        if base and distance(done[base], lines) < len(lines) // 2:
            sections += [f"== {path} like {base}:", *differences(done[base], lines)]
        else:
            sections += [f"== {path}:", *lines]
        done[path] = lines
    return "\n".join(sections) + "\n"


def distance(before: list[str], after: list[str]) -> int:
    """Lines of only one of them."""
    one, other = Counter(before), Counter(after)
    return ((one - other) + (other - one)).total()


def differences(before: list[str], after: list[str]) -> Iterator[str]:
    """All of them: enough to make `after` from `before`: a line that occurs more than once has its number."""

    def place(index: int) -> str:
        line = before[index] if index >= 0 else "(start)"
        return line if before.count(line) == 1 else f"{line} (line {index + 1})"

    operations = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for kind, start, end, first, last in operations:
        if kind == "insert":
            yield f"  {place(start - 1)}"
        if kind != "equal":
            yield from (f"- {place(index)}" for index in range(start, end))
            yield from (f"+ {line}" for line in after[first:last])
