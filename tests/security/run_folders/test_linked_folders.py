"""Folders of a stranger's run that are links: no command reads or writes where they lead."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.hub.page import rebuild
from density_study.cluster.model.errors import StudyError
from density_study.dags.cli.agents.server import Tools
from density_study.workloads.tables import TABLES, TRIALS
from density_study.workloads.tables.store import write_rows
from tests.security.run_folders.crafted import Canaries, state_of, study
from tests.support.made_runs.nightly_runs import nightly, run_id, whole

FOLDERS = ("report", *(pytest.param(name, marks=pytest.mark.thorough)
                       for name in ("tables", "records", "tables/trials")))  # fmt: skip
_watched: list[tuple[Path, list[str]]] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    for folder, seen in _watched:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = os.path.realpath(os.fsdecode(arguments[0]))
            if path.startswith(f"{folder}/"):
                seen.append(path)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[str]]:
    """Paths below `elsewhere` that this process opens."""
    if not _watched:
        sys.addaudithook(_note)  # it cannot be removed
    _watched.clear()
    seen: list[str] = []
    _watched.append((tmp_path / "elsewhere", seen))
    yield seen
    _watched[:] = [(Path("/nowhere"), [])]


def run_of(runs: Path, number: int) -> Path:
    """An analysed run with all tables, and a closed record."""
    root = whole(runs, nightly(number))
    for table in TABLES.values():
        write_rows(root, table, [])
    write_rows(root, TRIALS, [{"study": "nightly", "run": root.name, "trial": "t"}])
    (root / "records" / "t").mkdir(parents=True)
    (root / "records" / "t" / "manifest.json").write_text("{}")
    (root / "report" / "comparison.json").write_text("{}")
    return root


def commands(runs: Path, root: Path, other: Path, out: Path) -> None:
    """Every command that reads runs. Some may fail, with a message."""
    study("list", "--runs", runs, "--json")
    study("status", root, "--runs", runs)
    study("compare", root, other)
    study("compare", other, root)
    study("compare", root, other, "--html", out / "pair.html")
    study("export", root, "--to", out / "parquet")
    study("export", root, "--to", out / "all.duckdb")
    study("capacity", "fit", "--run", root, "-o", out / "model.json")
    study("reap", "--runs", runs)
    study("rm", root, "--runs", runs, "--yes")
    rebuild(runs)
    tools = Tools(runs)
    for tool in (tools.findings, tools.numbers, tools.trials, tools.regressions):
        for name in (root.name, root.parent.name):
            try:
                tool(name)
            except StudyError as error:
                assert error.remedy
    tools.list_runs()


@pytest.mark.parametrize("name", FOLDERS)
def test_nothing_is_read_or_written_where_a_folder_leads(
    name: str, runs: Path, canaries: Canaries, opened: list[str], tmp_path: Path
) -> None:
    other, root = run_of(runs, 1), run_of(runs, 2)
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    moved = root / name
    target = elsewhere / moved.name
    moved.rename(target)
    moved.symlink_to(target)
    before = state_of(elsewhere)
    opened.clear()
    commands(runs, runs / "nightly" / run_id(2), runs / "nightly" / run_id(1), out)
    assert opened == []
    assert state_of(elsewhere) == before
    canaries.check()
    assert other.is_dir()
