"""Paths that daemons cannot take are refused before anything is started, by every command alike."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner, Result

from density_study.cluster.lifecycle import needed
from density_study.cluster.machine.disk_type import Probe
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh import examined
from density_study.cluster.render.conf_files import text_file
from density_study.cluster.stack.cache import cache_root
from density_study.dags.cli import main
from density_study.workloads.execution.opening import open_run
from density_study.workloads.planning.planned_study import check_new_runs, new_runs

BAD = ["with space", "per%41cent", "dollar$x", "quote'd", 'quote"d', "a,b", "a:b", "a#b", "a\\b", "a;b",
       "new\nline", "a*b", "a&b", "a{b}", "a[b]", "a?b", "a<b", "a\u2028b"]  # fmt: skip
"""What Hadoop, a shell or a URI decodes, splits, expands or cuts."""
GOOD = ["läufe", "実行", "a-b_c.d+e=f@g~"]
FLAGS = ("--provider", "local", "--densities", "1", "--memory-gib", "4", "--repetitions", "1")


@pytest.fixture(autouse=True)
def _folder(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flash = Probe(str(tmp_path), random_4k_read_ms=0.1, reads=1)
    monkeypatch.setattr(examined, "probe", lambda _: flash)  # a busy disk shows no type
    assert call("init", "small.yaml", *FLAGS).exit_code == 0


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main.app, list(arguments), catch_exceptions=False)


@pytest.mark.parametrize("name", BAD)
def test_no_run_is_made_where_its_daemons_could_not_start(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used") as refused:
        check_new_runs(tmp_path / name)
    assert "--runs" in refused.value.where and "characters" in refused.value.remedy


@pytest.mark.parametrize("name", GOOD)
def test_letters_of_every_language_are_allowed(name: str, tmp_path: Path) -> None:
    check_new_runs(tmp_path / name)


def test_files_that_java_reads_as_latin_1_name_the_same_folder() -> None:
    """ZooKeeper once kept its data beside the folder that was made for it."""
    master = SimpleNamespace(address="127.0.0.1")
    values = {"data": "/läufe/実行/𝄞", "master": master, "port": lambda *_: 2181}
    text = text_file("zoo.cfg", values)
    assert text.isascii()
    assert r"/l\u00e4ufe/\u5b9f\u884c/\ud834\udd1e" in text


def test_plan_doctor_and_run_refuse_alike_and_reading_commands_do_not() -> None:
    with pytest.raises(InputError, match="cannot be used"):
        call("plan", "small.yaml", "--runs", "with space")
    examined = call("doctor", "small.yaml", "--runs", "with space")
    assert examined.exit_code == 1 and "cannot be used" in examined.output
    with pytest.raises(InputError, match="cannot be used"):
        open_run(Path("small.yaml"), Path("with space"))
    assert not Path("with space").exists()
    assert call("list", "--runs", "with space").exit_code == 0


def test_a_cache_with_a_space_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "my cache"))
    with pytest.raises(InputError, match="my cache") as refused, new_runs(tmp_path / "runs"):
        pass
    assert "DENSITY_STUDY_CACHE" in refused.value.where


def test_a_jdk_in_a_folder_with_a_space_is_a_fault_of_the_preflight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = needed.find_java()
    (tmp_path / "my jdk").symlink_to(java.home)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "my jdk"))
    with pytest.raises(InputError, match="my jdk"):
        needed.ensure_software(needed.Versions())


def test_doctor_leaves_no_folder_that_was_not_there(tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    examined = call("doctor", "small.yaml", "--runs", "new/runs")
    assert "disks are as declared" in examined.output
    assert "folder does not exist" not in examined.output
    assert sorted(path.name for path in tmp_path.iterdir()) in (
        before,
        sorted({*before, "runtime"}),
    )


def test_a_refused_run_leaves_no_folder_and_an_opened_one_does(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_runs(tmp_path / "a/b"):
        raise ZeroDivisionError
    assert not (tmp_path / "a").exists()
    with new_runs(tmp_path / "a/b"):
        (tmp_path / "a/b/run").mkdir()
    assert (tmp_path / "a/b/run").exists()


def test_a_user_without_a_home_folder_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container with a user id of its own."""

    def nobody() -> Path:
        raise RuntimeError

    for name in ("XDG_CACHE_HOME", "DENSITY_STUDY_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(InputError, match="no home folder") as refused:
        cache_root()
    assert refused.value.remedy == "set HOME to a folder of your own."


def test_a_read_only_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    with pytest.raises(InputError, match="nothing can be written"), new_runs(tmp_path / "runs"):
        pass
