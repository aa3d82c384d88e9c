"""A runs folder, a runtime folder and a registry of the test's own, with canaries beside them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing

from density_study.cluster.state import presence
from tests.security.run_folders.crafted import Canaries

# `study` makes its tree of commands once per process; so do hundreds of calls in one.
typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)


@pytest.fixture(autouse=True)
def places(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSITY_STUDY_STATE", str(tmp_path / "state"))
    monkeypatch.setattr(presence, "_DYING_S", 0.1)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture
def canaries(tmp_path: Path) -> Iterator[Canaries]:
    with Canaries(tmp_path / "home") as made:
        yield made
