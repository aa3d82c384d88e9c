"""A small study, and an output that others recorded, to import."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.security.lossless.simulated import SPEC, without_analysis

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder with one output of YCSB."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    shutil.copy(SAMPLES / "ycsb-0.17.0_both.out", folder / "out.txt")
    return folder


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """The file of a small study."""
    (tmp_path / "tiny.yaml").write_text(SPEC)
    return tmp_path / "tiny.yaml"


@pytest.fixture
def unanalysed() -> Iterator[None]:
    """The whole test is without the analysis."""
    with without_analysis():
        yield
