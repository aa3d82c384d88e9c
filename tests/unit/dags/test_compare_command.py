"""`study compare` and refusals of `study plan`, without Airflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from analysis.hub.side_by_side import write
from cluster.model.errors import InputError
from dags.cli import main
from dags.stages.comparison import side_by_side
from dags.stages.planning import noise
from tests.support.drafts import QUICKSTART, plan, study
from tests.unit.analysis.test_compare import _id, _summary, _write
from workloads.planning.plan import write_plan


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Three analysed runs of one study: the third is slower."""
    text = QUICKSTART.read_text().replace("study: quickstart", "study: nightly")
    for number, ops_s in ((1, 100.0), (2, 100.0), (3, 80.0)):
        root = _write(tmp_path, _summary(number, ops_s))
        (root / "study.yaml").write_text(text)
        write_plan(plan(), root / "plan.json")
    return tmp_path


def _compare(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main.app, ["compare", *arguments], catch_exceptions=False)
    return result.exit_code, result.output


def test_a_slower_run_is_reported_with_exit_code_1(runs: Path) -> None:
    code, text = _compare(_id(1), _id(3), "--runs", str(runs))
    assert code == 1
    assert f"run      {_id(3)} compared with {_id(1)}" in text
    assert "result   Slower: 3 of 6 numbers" in text
    assert "regression        YCSB load, v1-flash: throughput 0.80x (" in text


def test_an_unchanged_run_and_a_wide_tolerance_give_exit_code_0(runs: Path) -> None:
    assert _compare(_id(1), _id(2), "--runs", str(runs))[0] == 0
    assert _compare(_id(1), _id(3), "--runs", str(runs), "--tolerance", "50%")[0] == 0


def test_a_run_is_compared_with_a_window(runs: Path) -> None:
    code, text = _compare(_id(3), "--baseline", "rolling 2", "--runs", str(runs))
    assert code == 1
    assert f"compared with {_id(1)}, {_id(2)}" in text
    assert _compare("--runs", str(runs))[0] == 1  # the newest against the one before


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        ((_id(1),), "no earlier run"),
        ((_id(3), "--baseline", "last"), "not a baseline"),
        ((_id(3), "--tolerance", "5"), "not a quantity in percent"),
        ((_id(3), "--baseline", "20260101T000000Z"), "not analysed"),
        (("20260101T000000Z",), "not the folder of a run"),
    ),
)
def test_incomparable_runs_are_refused(
    runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _compare(*arguments, "--runs", str(runs))


def other_study(runs: Path, text: str) -> Path:
    """An analysed run of another study, with the settings of the first."""
    root = _write(runs, _summary(4, 80.0, study="upgrade"))
    (root / "study.yaml").write_text(text)
    write_plan(plan(), root / "plan.json")
    return root


def test_runs_of_two_studies_stand_side_by_side(runs: Path, tmp_path: Path) -> None:
    text = QUICKSTART.read_text().replace("study: quickstart", "study: upgrade")
    root = other_study(runs, text.replace("seed: 20130226", "seed: 7"))
    page = tmp_path / "compare.html"
    code, printed = _compare(_id(1), str(root), "--runs", str(runs), "--html", str(page))
    assert code == 1
    assert f"run      {_id(4)} compared with nightly/{_id(1)}" in printed
    assert f"page     {page}" in printed
    shown = page.read_text()
    assert "Slower: 3 of 6 numbers" in shown
    assert "The study files of both runs differ" in shown and ">7<" in shown


def test_a_study_file_that_cannot_be_read_is_named(runs: Path, tmp_path: Path) -> None:
    root = other_study(runs, "study: [")
    page = tmp_path / "compare.html"
    pair = side_by_side(runs / "nightly" / _id(1), root, 0.05)
    write(pair, page)
    assert pair.declared is None
    assert "They are not known:" in page.read_text() and "study.yaml" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--html", "c.html"), "fewer are named"),
        ((_id(3), "--html", "c.html"), "fewer are named"),
        ((_id(1), _id(3), "--html", "."), "no file can be written"),
        ((_id(1), _id(3), "--html", "nowhere/c.html"), "no file can be written"),
        ((_id(1), _id(1), "--html", "c.html"), "compared with itself"),
    ],
)
def test_a_page_that_cannot_be_made_is_bad_input(
    runs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        _compare(*arguments, "--runs", str(runs))
    assert not list(tmp_path.glob("**/*.html"))


def test_the_spread_between_builds_is_declared_measured_or_assumed(runs: Path) -> None:
    compared = {"baseline": "rolling 5", "tolerance": "5%"}
    declared = study(study="nightly", compare={**compared, "spread": "7%"})
    assert noise(declared, runs).spread == pytest.approx(0.07)
    measured = noise(study(study="nightly", compare=compared), runs)
    assert measured.spread == pytest.approx(0.02, rel=0.4) and "seen" in measured.source
    assert "assumed" in noise(study(compare=compared), runs).source
