"""A runtime folder of the test's own, and a small run that others recorded, to import."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.security.lossless.simulated import SPEC

SAMPLES = Path(__file__).parents[2] / "samples"
MAP = """
study: theirs
hosts: [{name: h1, cores: 4, memory: 8 GiB}]
variants: {a1: {nodes: [{name: w1, host: h1}]}}
"""


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
def unanalysed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands without the analysis, which has tests of its own."""
    import density_study.jobs.pipeline as pipeline

    monkeypatch.setattr(pipeline, "analyse", lambda _: None)
