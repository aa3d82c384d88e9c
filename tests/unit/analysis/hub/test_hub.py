"""The results hub: every run is in it, hostile names stay text, and nothing foreign is overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import altair as alt
import pytest

from density_study.analysis.comparison.change_points import change_points
from density_study.analysis.comparison.compare import compare
from density_study.analysis.hub.files import HUB
from density_study.analysis.hub.page import rebuild
from density_study.analysis.hub.results import results
from density_study.analysis.hub.trend import NEWEST, trend
from density_study.analysis.summary.summary import Summary
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.run_tags import tag_run
from tests.support.made_runs.nightly_runs import hub, nightly, october, run_id, whole
from tests.support.report_pages import Elements
from tests.support.summary_factory import eight_repetitions


def cells(text: str, run: str) -> list[str]:
    """The cells of a run's row, as text."""
    row = re.search(rf"<tr data-run[^>]*>(?:(?!</tr>).)*{run}.*?</tr>", text, re.S)
    assert row, f"{run} has no row"
    plain = re.sub(r"<[^>]+>", " ", row[0].split("</th>", 1)[1])
    return [" ".join(cell.split()) for cell in re.split(r"\n\s*\n|\n", plain) if cell.strip()]


def test_runs_are_listed_with_state_verdicts_headline_and_tags(tmp_path: Path) -> None:
    first, second = (whole(tmp_path, nightly(run)) for run in (1, 2))
    Journal(second / "journal.jsonl").write("run-opened", study="nightly", run=run_id(2), tag="t/1")
    Journal(second / "journal.jsonl").write("run-ended", outcome="failed", message="")
    tag_run(first, {"ticket": "PERF-12"})
    compared = compare([nightly(1)], nightly(2, ops_s=80.0), 0.05, october())
    (second / "report" / "comparison.json").write_text(compared.model_dump_json())
    text = hub(tmp_path)
    assert "<title>Results: 2 runs of 1 study</title>" in text
    shown = " ".join(cells(text, run_id(1)))
    assert "ok" in shown and "ticket=PERF-12" in shown and "not compared" in shown
    assert nightly(1).headline.split(":")[0] in shown
    shown = " ".join(cells(text, run_id(2)))
    assert "failed" in shown and "Slower: 3 of 6 numbers" in shown
    assert Elements(text).of("td", **{"data-value": "1"}) == ["1", "1"], "one valid trial in each"
    links = {unquote(str(a["href"])) for _, a, _ in Elements(text).having("a") if a.get("href")}
    assert {f"nightly/{run_id(run)}/report/index.html" for run in (1, 2)} <= links


def broken(root: Path, how: str) -> None:
    summary = root / "report" / "summary.json"
    if how == "no summary":
        summary.unlink()
    elif how == "another format":
        summary.write_text(json.dumps({**json.loads(summary.read_text()), "format": 99}))
    elif how == "half a summary":
        summary.write_text(summary.read_text()[:1000])
    elif how == "not a summary":
        summary.write_text("[1, 2]")
    elif how == "no plan":
        (root / "plan.json").unlink()
    elif how == "another journal":
        with (root / "journal.jsonl").open("a") as journal:
            journal.write('{"format": 99}\n')


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("no summary", "No results: the run has no summary: it was not analysed."),
        ("another format", "No results: summary.json has format 99"),
        ("half a summary", "No results: the summary cannot be read"),
        ("not a summary", "No results: the summary cannot be read"),
        ("no plan", "plan.json: No such file or directory."),
        ("another journal", "journal.jsonl:4: the line has format 99"),
    ],
)
def test_a_run_that_cannot_be_read_is_listed_with_its_reason(
    tmp_path: Path, how: str, reason: str
) -> None:
    whole(tmp_path, nightly(1))
    bad = whole(tmp_path, nightly(2))
    broken(bad, how)
    text = hub(tmp_path)
    assert "2 runs of 1 study" in text
    shown = " ".join(cells(text, run_id(2)))
    assert reason in shown
    assert str(tmp_path) not in text, "the page may be shown to others"
    assert "ok" in cells(text, run_id(1))


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    alert = "</script><img src=x onerror=alert(1)>"
    test_cases = tuple(
        entry.model_copy(update={"label": f"{alert} {number}", "disk_type": alert})
        for number, entry in enumerate(nightly(1).test_cases)
    )
    for run in (1, 2):
        changes = {"headline": alert, "question": alert, "test_cases": test_cases}
        tag_run(whole(tmp_path, nightly(run, **changes)), {"note": f'"{alert}'})
    odd = tmp_path / "<b>study" / "r&un?#"
    Journal(odd / "journal.jsonl").write("run-ended", outcome="ok", message="")
    elements = Elements(hub(tmp_path))
    assert not elements.having("img") and not elements.having("b study")
    assert [a.get("href") for _, a, _ in elements.having("link")] == ["data:,"]
    tags = [
        json.loads(str(a["data-tags"])) for _, a, _ in elements.having("tr") if "data-tags" in a
    ]
    assert sorted(tags) == [[], [f'note="{alert}'], [f'note="{alert}']]


def test_the_page_loads_nothing_and_runs_only_its_own_scripts(tmp_path: Path) -> None:
    whole(tmp_path, nightly(1))
    text = hub(tmp_path)
    policy = Elements(text).having("meta")[2][1]["content"]
    assert "default-src 'none'" in str(policy) and "unsafe-eval" not in str(policy)
    assert text.count("<script>") == str(policy).count("'sha256-") == 2
    for _, attributes, _ in Elements(text).all:
        for key in ("src", "href", "action"):
            assert not (attributes.get(key) or "").startswith(("http", "//", "/"))


def test_an_empty_folder_says_how_to_start(tmp_path: Path) -> None:
    assert "There is no run yet" in hub(tmp_path)


def test_a_page_of_somebody_else_is_not_overwritten(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole(tmp_path, nightly(1))
    (tmp_path / HUB).write_text("<html>my own page</html>")
    rebuild(tmp_path)
    assert (tmp_path / HUB).read_text() == "<html>my own page</html>"
    assert "is not ours" in caplog.text
    (tmp_path / HUB).unlink()
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / HUB).symlink_to(elsewhere)
    rebuild(tmp_path)
    assert not elsewhere.exists()
    (tmp_path / HUB).unlink()
    assert run_id(1) in hub(tmp_path)
    whole(tmp_path, nightly(2))
    assert run_id(2) in hub(tmp_path), "its own page is written again"


def test_a_folder_that_cannot_be_written_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / HUB).mkdir()
    rebuild(tmp_path)
    assert "results hub was not written" in caplog.text


def test_the_trend_has_the_numbers_of_the_summaries_and_the_change_points() -> None:
    summaries = [nightly(run, ops_s=100.0 if run < 9 else 80.0) for run in range(1, 15)]
    changes = change_points(summaries)
    figure = trend(summaries, changes, "trend")
    assert figure is not None
    assert [panel.title for panel in figure.panels] == [
        entry.label for entry in summaries[-1].test_cases
    ]
    for panel, entry in zip(figure.panels, summaries[-1].test_cases, strict=True):
        values = [row for row in panel.rows if row["part"] == "value"]
        assert [row["x"] for row in values] == [run_id(run) for run in range(1, 15)]
        assert values[-1]["value"] == entry.metrics[0].value
        (change,) = (row for row in panel.rows if row["part"] == "change")
        assert change["x"] == run_id(9) and "×0.80 since run" in change["tip"]
        assert change["tip"] in panel.description
        alt.Chart.from_dict({**panel.spec, "width": 300}).to_dict(validate=True)
        assert panel.svg.count("data-ref=") == 14 + 1
    assert len(figure.table.rows) == 3 * 14


def test_intervals_are_drawn() -> None:
    summary = eight_repetitions()
    later = summary.model_copy(update={"run": "20261121T201530Z"})
    figure = trend([summary, later], (), "trend")
    assert figure is not None
    rows = [row for panel in figure.panels for row in panel.rows]
    assert rows and all(row["low"] < row["value"] < row["high"] for row in rows)
    assert len(rows) == 2 * len([s for s in summary.test_cases if s.target_ops_s is None])


def test_runs_with_other_parameters_are_not_on_one_line() -> None:
    def run(number: int, seconds: float) -> Summary:
        entries = nightly(number).test_cases
        knobs = {"duration": seconds}
        changed = (entries[0].model_copy(update={"unnamed_knobs": knobs}), *entries[1:])
        return nightly(number, test_cases=changed)

    figure = trend([run(1, 60.0), run(2, 600.0), run(3, 600.0)], (), "trend")
    assert figure is not None
    assert [len(panel.rows) for panel in figure.panels] == [2, 3, 3]
    assert figure.notes[0].startswith("Not drawn: 1 more number, ")
    assert trend([run(1, 60.0)], (), "trend") is None, "one run has no trend"


def test_only_the_newest_runs_are_drawn_and_the_page_says_so() -> None:
    figure = trend([nightly(run) for run in range(1, NEWEST + 3)], (), "trend")
    assert figure is not None
    assert len(figure.panels[0].rows) == NEWEST
    assert (
        figure.notes[0]
        == f"The newest {NEWEST} of {NEWEST + 2} runs. Change points use all of them."
    )


def test_change_points_survive_a_run_that_lacks_a_test_case(tmp_path: Path) -> None:
    """One incomplete run must not hide every later change."""
    summaries = [nightly(run, ops_s=100.0 if run < 9 else 80.0) for run in range(1, 15)]
    holed = [
        one.model_copy(update={"test_cases": one.test_cases[1:]}) if one.run == run_id(4) else one
        for one in summaries
    ]
    assert {point.run for point in change_points(holed)} == {run_id(9)}
    assert len(change_points(holed)) == 3
    for one in holed:
        whole(tmp_path, one)
    (study,) = results(tmp_path)
    assert study.change_points == change_points(holed)
    assert change_points([]) == ()
