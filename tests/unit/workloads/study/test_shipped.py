"""A shipped study is found by its name, from any folder; a file comes first."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from density_study.workloads.study.shipped import FOLDER, shipped_studies, study_path


def test_a_bare_name_is_a_shipped_study(tmp_path: Path) -> None:
    assert study_path(Path("quickstart"), tmp_path) == FOLDER / "quickstart.yaml"
    assert len(shipped_studies()) >= 6


def test_a_file_of_this_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "quickstart").write_text("study: mine\n")
    assert study_path(Path("quickstart"), tmp_path) == tmp_path / "quickstart"
    (tmp_path / "genomics").mkdir()  # a folder is no study
    assert study_path(Path("genomics"), tmp_path) == FOLDER / "genomics.yaml"


@pytest.mark.parametrize("named", ("quickstart.yaml", "studies/quickstart", "/x/quickstart"))
def test_a_path_is_never_a_name(named: str, tmp_path: Path) -> None:
    assert study_path(Path(named), tmp_path) == tmp_path / named


def test_a_misspelt_name_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean quickstart") as caught:
        study_path(Path("quikstart"), tmp_path)
    assert caught.value.where == "quikstart"
    with pytest.raises(
        InputError, match="name a file, or block-cache-off, block-cache, capacity-curve, collectors"
    ):
        study_path(Path("zzz"), tmp_path)


def test_a_folder_is_named_as_one(tmp_path: Path) -> None:
    """It was "there is no such file"."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "night.yaml").touch()
    with pytest.raises(InputError, match="this is a folder, and not the file of a study") as caught:
        study_path(Path("mine"), tmp_path)
    assert str(tmp_path / "mine" / "night.yaml") in caught.value.remedy


def test_commands_take_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main.app, ["plan", "quickstart"], catch_exceptions=False)
    assert result.exit_code == 0 and "study quickstart: " in result.output
