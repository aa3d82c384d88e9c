"""Study files become outlines, from the file alone and through a cache."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from density_study.cluster.model import topology
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.settings import VARIABLES
from density_study.dags.airflow_home.home import OPEN_RUN, home, project_root
from density_study.dags.graph import catalogue
from density_study.dags.graph.catalogue import read_outline, study_files
from density_study.dags.stages import outline as outline_module
from density_study.dags.stages.outline import NAMED_TRIALS, Outline, outline_of, steps_of
from density_study.workloads.planning import planned_study

SHIPPED = sorted((project_root() / "workloads" / "studies").glob("*.yaml"))
STUDY = """\
study: mine
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client]}
factors: {vms_per_host: [1, 2]}
workloads:
  - testdfsio: {modes: [write, read], files: 2, file_size: 1 MiB}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path / "airflow"))
    studies = tmp_path / "studies"
    studies.mkdir()
    monkeypatch.setenv(VARIABLES["studies"], str(studies))
    return studies


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were planned, because the cache did not have them."""
    found: list[Path] = []
    original = planned_study.outlined_study
    monkeypatch.setattr(
        planned_study, "outlined_study", lambda path: found.append(path) or original(path)
    )
    return found


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_outline_of_a_shipped_study_has_the_steps_of_its_plan(path: Path) -> None:
    made = planned_study.outlined_study(path)
    outline = outline_of(made.study, made.plan)
    assert outline.steps == steps_of(made.plan)
    assert Outline.from_json(outline.to_json()) == outline
    assert [t.trial for b in outline.builds for t in b.trials] == [
        s.trial for s in made.plan.trials
    ]
    assert outline.is_mapped == (len(made.plan.trials) > NAMED_TRIALS)
    assert read_outline(path).outline == outline


def test_the_assumed_plan_has_the_steps_of_the_plan_on_this_machine() -> None:
    quickstart = project_root() / "workloads" / "studies" / "quickstart.yaml"
    here = planned_study.plan_study(quickstart).plan
    assert steps_of(planned_study.outlined_study(quickstart).plan) == steps_of(here)


def test_an_unchanged_file_is_not_planned_again(folder: Path, planned: list[Path]) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY)
    first = read_outline(path)
    os.utime(path, (1, 1))
    assert read_outline(path) == first
    assert planned == [path]


def test_an_edited_file_is_planned_again_and_its_old_entry_removed(
    folder: Path, planned: list[Path], tmp_path: Path
) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY)
    assert read_outline(path).outline.trials == 4  # type: ignore[union-attr]
    path.write_text(STUDY.replace("[write, read]", "[write]"))
    assert read_outline(path).outline.trials == 2  # type: ignore[union-attr]
    assert planned == [path, path]
    assert len(list((tmp_path / "airflow" / "outlines").iterdir())) == 1


def test_other_code_makes_every_outline_anew(
    folder: Path, planned: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY)
    read_outline(path)
    monkeypatch.setattr(catalogue, "_code", lambda: "another version")
    read_outline(path)
    assert planned == [path, path]


def test_the_code_that_makes_outlines_counts_as_code() -> None:
    made_by = (outline_module, planned_study, topology)
    folders = [project_root() / folder for folder in catalogue._CODE]
    for module in made_by:
        assert any(
            Path(str(module.__file__)).resolve().is_relative_to(folder) for folder in folders
        ), module


def test_the_label_of_a_build_names_its_levels(folder: Path) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY.replace("[1, 2]}", "[1], stack: [{hadoop: 3.4.1}, {hadoop: 3.4.2}]}"))
    outline = read_outline(path).outline
    assert outline is not None
    assert sorted(build.label for build in outline.builds) == [
        f"repetition 1: 1 worker per host on flash, hadoop-3.4.{patch}" for patch in (1, 2)
    ]


def test_an_invalid_file_names_file_line_and_key_and_hides_no_other(
    folder: Path, planned: list[Path]
) -> None:
    (folder / "good.yaml").write_text(STUDY)
    bad = folder / "bad.yaml"
    bad.write_text(STUDY.replace("study: mine", "study: bad") + "seeds: 3\n")
    for _ in range(2):
        found = {study.path.name: study for study in study_files()}
        assert found["good.yaml"].outline is not None
        assert found["bad.yaml"].outline is None
        assert f"{bad}:7, key seeds: unknown key 'seeds'" in found["bad.yaml"].fault
        assert "Remedy" in found["bad.yaml"].fault
        assert all(found[path.name].outline for path in SHIPPED)
    assert planned.count(bad) == 1, "a fault is cached too"


def test_a_file_that_was_valid_for_an_earlier_version_says_how_its_run_is_finished(
    folder: Path,
) -> None:
    old, never = folder / "old.yaml", folder / "never.yaml"
    old.write_text(STUDY + "stack: {hadoop: 2.10.2}\n")
    never.write_text(STUDY + "stack: {hadop: 3.4.2}\n")
    hint = "It was valid earlier: `study run {}` resumes a run of it."
    fault = read_outline(old).fault
    assert "this project runs Hadoop 3" in fault and fault.endswith(hint.format(old))
    assert "valid earlier" not in read_outline(never).fault


def test_airflow_gets_the_faults_and_study_run_reads_no_other_study(
    folder: Path, planned: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_paths", lambda: iter(folder.glob("*.yaml")))
    (folder / "mine.yaml").write_text(STUDY.replace("files", "flies"))
    with pytest.raises(InputError, match="flies"):
        runpy.run_module("density_study.dags.invalid_studies")
    assert planned == [folder / "mine.yaml"]
    (folder / "mine.yaml").write_text(STUDY.replace("files", "fields"))
    monkeypatch.setenv(OPEN_RUN, "runs/other")
    runpy.run_module("density_study.dags.invalid_studies")
    assert planned == [folder / "mine.yaml"]


def test_a_study_name_belongs_to_the_first_file(folder: Path) -> None:
    (folder / "a.yaml").write_text(STUDY)
    (folder / "b.yaml").write_text(STUDY)
    found = {study.path.name: study for study in study_files()}
    assert found["a.yaml"].outline is not None
    assert found["b.yaml"].outline is None
    assert "'mine' is taken by" in found["b.yaml"].fault
    assert str(folder / "a.yaml") in found["b.yaml"].fault


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda path: path.write_bytes(b"\xff\xfe"), "UTF-8"),
        (lambda path: path.write_text("a: " + "x" * 2**18), "larger than 128 KiB"),
        (lambda path: path.write_text("- 1\n"), "not a mapping"),
        (lambda path: path.write_text(STUDY.replace("6 GiB", "1 MiB")), "MiB"),
    ],
)
def test_other_bad_files_are_faults_too(folder: Path, make: object, fault: str) -> None:
    path = folder / "bad.yaml"
    make(path)  # type: ignore[operator]
    study = read_outline(path)
    assert study.outline is None
    assert fault in study.fault
    assert str(path) in study.fault


def test_a_missing_folder_is_empty(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES["studies"], f"{folder}:/nowhere")
    assert [study.path for study in study_files()] == SHIPPED


def test_a_fault_of_a_plug_in_is_a_fault_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY)

    def broken(_: Path) -> None:
        raise ZeroDivisionError("in a workload of another package")

    monkeypatch.setattr(planned_study, "outlined_study", broken)
    assert "ZeroDivisionError: in a workload" in read_outline(path).fault


def test_a_read_only_home_is_no_error(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "airflow").write_text("a file, so that no folder can be made")
    path = folder / "mine.yaml"
    path.write_text(STUDY)
    assert read_outline(path).outline is not None


def test_a_cached_outline_needs_no_planning_code() -> None:
    """Airflow reads the outlines every minute, on hosts that are measuring."""
    code = (
        "import sys\n"
        "from density_study.dags.graph.catalogue import study_files\n"
        "study_files()\n"
        "print(sorted(m for m in ('pydantic', 'yaml', 'density_study.workloads.planning.plan') "
        "if m in sys.modules))\n"
    )
    for expected in ("['density_study.workloads.planning.plan', 'pydantic', 'yaml']", "[]"):
        ended = subprocess.run(
            [sys.executable, "-c", code], cwd=project_root(), capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert ended.stdout.strip() == expected


@pytest.mark.parametrize(
    "text", ("", "{", "[]", '{"builds": 1}', '{"study": "mine", "builds": []}')
)
def test_a_damaged_outline_is_made_anew(folder: Path, planned: list[Path], text: str) -> None:
    path = folder / "mine.yaml"
    path.write_text(STUDY)
    outline = read_outline(path).outline
    (kept,) = (home().root / "outlines").iterdir()
    kept.write_text(text)
    assert read_outline(path).outline == outline
    assert planned == [path, path]
