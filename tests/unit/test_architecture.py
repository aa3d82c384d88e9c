"""docs/architecture.md names existing functions, and every package says what belongs there."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from density_study.cluster import providers
from density_study.cluster.providers.provider import ALL_OURS
from docs.generator.pages import pages
from tests.conftest import LEFT_OUT

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ROOMS = [
    package.removeprefix("density_study.")
    for package in PYPROJECT["tool"]["importlinter"]["root_packages"]
]
MAX_FILES = 22
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
FUNCTIONS = re.findall(r"^\| [^|]+ \| `([\w.]+)` \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_named_function_exists(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(import_module(f"density_study.{module}"), function))


def test_every_package_of_a_room_says_what_belongs_there() -> None:
    rows = re.findall(r"^\| `(\w+/\w+)` \| (.+) \|$", pages()["packages.md"], re.M)
    with_code = {
        str(file.parent.relative_to(ROOT))
        for room in ROOMS
        for file in (ROOT / room).glob("*/*.py")
    }
    assert len(FUNCTIONS) >= 12
    assert {name for name, meaning in rows if len(meaning) > 20} == with_code


def test_the_package_of_providers_names_each() -> None:
    """Those that a study may name; `container-ssh` is `container` on hosts."""
    words = re.findall(r"`([\w-]+)`", providers.__doc__ or "")
    assert set(words) == set(ALL_OURS) - {"container-ssh"}


def test_no_folder_has_too_many_files_to_survey() -> None:
    files = subprocess.run(
        ["git", "ls-files", "*.py", "*.java"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    counts = Counter(str(Path(file).parent) for file in files)
    assert len(counts) > 50
    assert {folder: count for folder, count in counts.items() if count > MAX_FILES} == {}


def test_what_make_check_leaves_out_exists() -> None:
    for path, _, test in (name.partition("::") for name in LEFT_OUT):
        assert (ROOT / path).exists(), path
        assert not test or f"def {test}" in (ROOT / path).read_text("utf-8"), (path, test)


def test_no_module_of_tests_is_imported_by_another() -> None:
    """What several need is a module of its own, which a reader finds by its name."""
    files = subprocess.run(
        ["git", "ls-files", "tests/*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    imported = re.compile(r"^ *(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
    found = {file: imported.findall((ROOT / file).read_text(encoding="utf-8")) for file in files}
    assert len(found) > 500
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_output_of_programs_is_decoded_whatever_its_bytes() -> None:
    """`text=True` alone raises UnicodeDecodeError at a letter in Latin-1."""
    # Most files start none: their trees would take seconds.
    starts = re.compile(r"\.(?:run|Popen|check_output)\(")
    strict = [
        f"{path}:{call.lineno}"
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if starts.search(text := path.read_text(encoding="utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        and getattr(call.func, "attr", "") in {"run", "Popen", "check_output"}
        and (named := {word.arg for word in call.keywords}) & {"text", "encoding"}
        and "errors" not in named
    ]
    assert not strict
