"""`study compare` and refusals of `study plan`, without Airflow."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from density_study.analysis.comparison import history
from density_study.analysis.comparison.acknowledged import read_acknowledged
from density_study.analysis.comparison.history import read_summary_file
from density_study.analysis.hub.side_by_side import write
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main
from density_study.dags.stages.comparison import side_by_side
from density_study.dags.stages.earlier import WINDOW, Earlier
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan, study
from tests.support.made_runs.nightly_runs import nightly, october, run_id, write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Analysed runs of one study: the last is slower."""
    text = QUICKSTART.read_text().replace("study: quickstart", "study: nightly")
    november = (nightly(number, ops_s) for number, ops_s in ((1, 100.0), (2, 100.0), (3, 80.0)))
    for summary in (*october(), *november):
        root = write_run(tmp_path, summary)
        (root / "study.yaml").write_text(text)
        write_plan(plan(), root / "plan.json")
    return tmp_path


def _compare(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main.app, ["compare", *arguments], catch_exceptions=False)
    return result.exit_code, result.output


def test_a_slower_run_is_reported_with_exit_code_1(runs: Path) -> None:
    code, text = _compare(run_id(1), run_id(3), "--runs", str(runs))
    assert code == 1
    assert f"run      {run_id(3)} compared with {run_id(1)}" in text
    assert "result   Slower: 3 of 6 numbers" in text
    assert "regression        YCSB load, v1-flash: throughput 0.80x (" in text
    (accept,) = re.findall(r"study compare (.*) --acknowledge 'REASON'", text)
    words = (*accept.split(), "--acknowledge", "a new kernel")
    assert _compare(*words)[0] == 0, "the command works as it is printed, in any folder"
    with pytest.raises(InputError, match="two runs are compared with each other"):
        _compare(run_id(1), run_id(3), "--runs", str(runs), "--baseline", "rolling 2")


def test_an_unchanged_run_and_a_wide_tolerance_give_exit_code_0(runs: Path) -> None:
    assert _compare(run_id(1), run_id(2), "--runs", str(runs))[0] == 0
    assert _compare(run_id(1), run_id(3), "--runs", str(runs), "--tolerance", "50%")[0] == 0


def test_a_run_is_compared_with_a_window(runs: Path) -> None:
    code, text = _compare(run_id(3), "--baseline", "rolling 2", "--runs", str(runs))
    assert code == 1
    assert f"compared with {run_id(1)}, {run_id(2)}" in text
    assert _compare("--runs", str(runs))[0] == 1  # the newest against the one before


def test_an_acknowledged_level_is_no_regression_again(runs: Path) -> None:
    code, text = _compare(run_id(3), "--runs", str(runs), "--acknowledge", "new kernel")
    assert code == 0 and "known    " in text
    code, text = _compare(run_id(3), "--runs", str(runs))
    assert code == 0
    assert "acknowledged      YCSB load, v1-flash: throughput" in text
    with pytest.raises(InputError, match="shows no regression"):
        _compare(run_id(1), run_id(2), "--runs", str(runs), "--acknowledge", "again")
    (runs / "nightly" / "acknowledged.json").write_text('{"known": [')
    with pytest.raises(InputError, match=r"cannot be read: .*JSON"):
        _compare(run_id(3), "--runs", str(runs))


def test_an_acknowledged_regression_is_open_while_it_has_an_owner(runs: Path) -> None:
    """The hub lists it; the same command without an owner closes it."""
    accept = (run_id(3), "--runs", str(runs), "--acknowledge")
    code, _ = _compare(*accept, "being bisected", "--owner", "ada", "--ticket", "PERF-12")
    assert code == 0
    hub = (runs / "index.html").read_text()
    assert "Open regressions" in hub and ">ada<" in hub and ">PERF-12<" in hub
    known = read_acknowledged(runs / "nightly").known
    assert [one.effect for one in known] == [pytest.approx(0.8, abs=0.02)] * 3
    assert _compare(*accept, "new kernel")[0] == 0
    assert "Open regressions" not in (runs / "index.html").read_text()
    again = read_acknowledged(runs / "nightly").known
    assert [(one.reason, one.effect) for one in again] == [("new kernel", k.effect) for k in known]
    with pytest.raises(InputError, match="are for acknowledged regressions"):
        _compare(run_id(3), "--runs", str(runs), "--owner", "ada")


def test_junit_has_a_case_per_number_and_a_failure_per_regression(runs: Path) -> None:
    code, text = _compare(run_id(1), run_id(3), "--runs", str(runs), "--format", "junit")
    assert code == 1
    (suite,) = ElementTree.fromstring(text)
    counts = [int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == [6, 3, 0, len(suite.findall("testcase/skipped"))]
    slow = [case for case in suite.iter("testcase") if case.find("failure") is not None]
    assert [case.attrib["classname"] for case in slow] == ["study.nightly"] * 3
    assert slow[0].attrib["name"] == "YCSB load, v1-flash: throughput"
    message = slow[0].find("failure").attrib["message"]  # type: ignore[union-attr]
    assert message.startswith("YCSB load, v1-flash: throughput 0.80x (0.7")
    facts = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert (facts["run"], facts["baseline"], facts["tolerance"]) == (run_id(3), run_id(1), "5.0%")
    code, text = _compare(run_id(1), run_id(2), "--runs", str(runs), "--format", "junit")
    assert (code, ElementTree.fromstring(text)[0].attrib["failures"]) == (0, "0")


def test_junit_skips_what_cannot_be_compared_and_stays_xml(runs: Path) -> None:
    added = nightly(3).test_cases[0].model_copy(update={"test_case": "new\x1b", "label": "new"})
    write_run(runs, nightly(3, test_cases=(*nightly(3).test_cases, added)))
    _, text = _compare(run_id(1), run_id(3), "--runs", str(runs), "--format", "junit")
    cases = ElementTree.fromstring(text)[0].findall("testcase")
    (new,) = [case for case in cases if case.attrib["name"] == "new? on v1-flash"]
    assert "missing in a run" in new.find("skipped").attrib["message"]  # type: ignore[union-attr]


def test_markdown_is_a_table_with_the_headline_and_the_causes(runs: Path) -> None:
    code, text = _compare(run_id(1), run_id(3), "--runs", str(runs), "--format", "markdown")
    assert code == 1
    lines = text.splitlines()
    assert lines[0] == f"# nightly: run {run_id(3)} compared with {run_id(1)}"
    assert lines[2].startswith("**Slower: 3 of 6 numbers are worse by more than 5.0%.")
    assert lines[4].startswith("| Outcome | Test case | Topology |")
    row = next(line for line in lines if line.startswith("| regression"))
    assert re.fullmatch(
        r"\| regression \| .* \| throughput \| 0\.80x \| 0\.\d\d to 0\.\d\d \| .* \|", row
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    (
        ((october()[0].run,), "no earlier run"),
        ((run_id(3), "--baseline", "last"), "not a baseline"),
        ((run_id(3), "--tolerance", "5"), "not a quantity in percent"),
        ((run_id(3), "--baseline", "20260101T000000Z"), "not analysed"),
        (("20260101T000000Z",), "not the folder or the id of a run"),
        ((run_id(3), "--json", "--format", "junit"), "two formats are requested"),
    ),
)
def test_incomparable_runs_are_refused(
    runs: Path, arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        _compare(*arguments, "--runs", str(runs))


def other_study(runs: Path, text: str) -> Path:
    """An analysed run of another study, with the test cases of the first."""
    root = write_run(runs, nightly(4, 80.0, study="upgrade"))
    (root / "study.yaml").write_text(text)
    write_plan(plan(), root / "plan.json")
    return root


def test_runs_of_two_studies_stand_side_by_side(runs: Path, tmp_path: Path) -> None:
    text = QUICKSTART.read_text().replace("study: quickstart", "study: upgrade")
    root = other_study(runs, text.replace("seed: 20130226", "seed: 7"))
    page = tmp_path / "compare.html"
    code, printed = _compare(run_id(1), str(root), "--runs", str(runs), "--html", str(page))
    assert code == 0, "nobody knows how much runs of the other study differ"
    assert f"run      {run_id(4)} compared with nightly/{run_id(1)}" in printed
    assert f"page     {page}" in printed
    shown = page.read_text()
    assert "the night is unknown" in shown
    assert "The study files of both runs differ" in shown and ">7<" in shown


def test_a_study_file_that_cannot_be_read_is_named(runs: Path, tmp_path: Path) -> None:
    root = other_study(runs, "study: [")
    page = tmp_path / "compare.html"
    pair = side_by_side(runs / "nightly" / run_id(1), root, 0.05)
    write(pair, page)
    assert pair.declared is None
    assert "They are not known:" in page.read_text() and "study.yaml" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--html", "c.html"), "fewer are named"),
        ((run_id(3), "--html", "c.html"), "fewer are named"),
        ((run_id(1), run_id(3), "--html", "."), "no file can be written"),
        ((run_id(1), run_id(3), "--html", "nowhere/c.html"), "no file can be written"),
        ((run_id(1), run_id(1), "--html", "c.html"), "compared with itself"),
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
    assert Earlier(declared, runs).noise.spread == pytest.approx(0.07)
    measured = Earlier(study(study="nightly", compare=compared), runs).noise
    assert measured.spread == pytest.approx(0.02, rel=0.4) and "seen" in measured.source
    assert "of other studies" in Earlier(study(compare=compared), runs).noise.source
    assert "assumed" in Earlier(study(compare=compared), runs / "none").noise.source
    hosts = [{"name": "there", "memory": "9 GiB", "roles": ["master", "worker", "client"]}]
    elsewhere = study(study="nightly", compare=compared, hosts=hosts)
    assert "assumed" in Earlier(elsewhere, runs).noise.source, "the noise is that of its hosts"
    for key, value in (("duet", 4.0), ("quiet", True)):
        other = study(study="nightly", compare=compared).model_copy(update={key: value})
        assert "assumed" in Earlier(other, runs).noise.source, f"and that of studies with {key}"


def test_a_plan_reads_the_newest_summaries_and_each_once(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study of years has hundreds, of many MiB."""
    read = []

    def counted(path: Path, run: str) -> Summary:
        read.append(run)
        return read_summary_file(path, run)

    monkeypatch.setattr(history, "read_summary_file", counted)
    spec = tmp_path / "nightly.yaml"
    spec.write_text(QUICKSTART.read_text().replace("study: quickstart", "study: nightly"))
    command = ["plan", str(spec), "--runs", str(runs)]
    assert CliRunner().invoke(main.app, command, catch_exceptions=False).exit_code == 0
    every = sorted(root.parents[1] for root in runs.glob("nightly/*/report/summary.json"))
    assert sorted(read) == [str(root) for root in every[-WINDOW:]] and len(every) > WINDOW
