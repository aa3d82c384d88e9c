"""One browser for the tests of a module, and the pages they open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.report.chromium import Chromium, find
from analysis.report.page import write
from cluster.model.errors import StudyError
from tests.support.summary_factory import FACTORIES


@pytest.fixture(scope="package")  # closed before other tests measure
def browser() -> Iterator[Chromium]:
    try:
        find()
    except StudyError as error:
        pytest.fail(f"These tests need Chromium: {error}", pytrace=False)
    with Chromium() as started:
        yield started


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    made = {name: folder / f"{name}.html" for name in FACTORIES}
    for name, path in made.items():
        write(FACTORIES[name](), path)
    return made
