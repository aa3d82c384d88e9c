"""`study export`: runs by folder or id, into a folder or a database, which the suffix decides."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from density_study.cluster.model import extras
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.file_fault import file_fault
from density_study.cluster.state.journal import JOURNAL, run_folders
from density_study.dags.cli.capacity.inputs import analysed_run
from density_study.dags.run_status.status import find_root
from density_study.workloads.tables import TABLES
from tests.support.made_runs.command import study
from tests.support.made_runs.tables import FIRST, SECOND, run


def test_runs_are_exported_to_a_folder_or_a_database(tmp_path: Path) -> None:
    named = [str(run(tmp_path, name)) for name in (FIRST, SECOND)]
    shown = study("export", *named, "--to", str(tmp_path / "out")).splitlines()
    assert shown[0] == f"nightly {FIRST}: {len(TABLES)} tables, 4 rows"
    assert shown[2] == f"to       {tmp_path / 'out'}"
    assert (tmp_path / "out" / "trials").is_dir()
    printed = json.loads(study("export", *named, "--to", str(tmp_path / "a.duckdb"), "--json"))
    assert [one["run"] for one in printed["runs"]] == [FIRST, SECOND]
    assert printed["runs"][0]["rows"]["verdicts"] == 1
    assert (tmp_path / "a.duckdb").is_file()


def test_an_unknown_run_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="20990101T000000Z"):
        study("export", "20990101T000000Z", "--to", "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("to", ["ftp://127.0.0.1:4318", "htp://127.0.0.1:4318", "file:///srv/out"])
def test_an_address_of_another_kind_is_no_folder(
    to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="not an address over HTTP"):
        study("export", str(run(tmp_path, FIRST)), "--to", to)
    assert not Path(to.split("//")[0]).exists()


def test_a_name_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(UnicodeEncodeError) as found:
        study("export", str(run(tmp_path, FIRST)), "--to", str(place))
    fault = file_fault(found.value)
    assert fault is not None
    assert fault.what == "a name has bytes that are not UTF-8."
    assert str(tmp_path) in fault.where


def test_a_database_needs_its_extra_and_a_folder_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "duckdb" else "installed")
    named = str(run(tmp_path, FIRST))
    study("export", named, "--to", str(tmp_path / "out"))
    with pytest.raises(InputError, match=r"--to a.duckdb needs the extra duckdb"):
        study("export", named, "--to", str(tmp_path / "a.duckdb"))
    assert not (tmp_path / "a.duckdb").exists()


def test_a_run_is_named_by_its_id_or_its_study_wherever_run_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By id, by study for the newest run, or by folder, from the folder that holds runs/."""
    runs = tmp_path / "runs"
    for name in (FIRST, SECOND):
        (run(tmp_path, name) / JOURNAL).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "density_study.dags.run_status.status.load_run",
        lambda folder: SimpleNamespace(root=folder.absolute()),
    )
    folders = [folder.name for folder in run_folders(runs)]
    assert folders[-1] == SECOND
    for named, found in ((FIRST, FIRST), ("nightly", SECOND), (f"runs/nightly/{FIRST}", FIRST)):
        assert find_root(Path(named), Path("runs")).name == found
        assert analysed_run(Path(named)).name == found
