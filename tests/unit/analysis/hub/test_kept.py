"""What the hub keeps: what did not change is not read again, and what changed is not shown as it was."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.comparison.acknowledged import NOTHING, Known, acknowledge
from density_study.analysis.comparison.change_points import change_points
from density_study.analysis.comparison.compare import compare
from density_study.analysis.comparison.numbers import numbers
from density_study.analysis.hub import kept as kept_module
from density_study.analysis.hub import page as page_module
from density_study.analysis.hub import results as results_module
from density_study.analysis.hub.kept import KEPT
from density_study.analysis.hub.results import results
from density_study.analysis.hub.trend import trend
from density_study.analysis.report.charts.figure import Panel
from density_study.analysis.summary.summary import Summary
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_tags import tag_run
from tests.support.made_runs.nightly_runs import hub, nightly, october, run_id, whole
from tests.support.summary_factory import FACTORIES

_AS_OF = re.compile(r"as of [\d: -]+UTC")


def night(number: int, ops_s: float = 100.0, study: str = "nightly") -> Summary:
    """With one test case: charts take the most time."""
    cases = nightly(number, ops_s).test_cases[:1]
    return nightly(number, study=study, test_cases=cases)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two studies of four runs; a run of each is a fifth slower, which its comparison says."""
    for study in ("nightly", "weekly"):
        for number in range(1, 5):
            root = whole(tmp_path, night(number, 100.0 if number < 4 else 80.0, study))
        earlier = [one.model_copy(update={"study": study}) for one in october()]
        compared = compare(earlier[-1:], night(4, 80.0, study), 0.05, earlier)
        assert compared.regressions
        (root / "report" / "comparison.json").write_text(compared.model_dump_json())
    return tmp_path


class Work:
    """The runs that were read, and the studies whose trends were drawn, since it was last `taken`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[str] = []
        self.drawn: list[str] = []
        read, draw = results_module._run, page_module.trend

        def reading(folder: Path) -> Any:
            self.read.append(f"{folder.parent.name} {folder.name}")
            return read(folder)

        def drawing(summaries: Any, changes: Any, id_: str) -> Any:
            self.drawn.append(id_)
            return draw(summaries, changes, id_)

        monkeypatch.setattr(results_module, "_run", reading)
        monkeypatch.setattr(page_module, "trend", drawing)

    def taken(self) -> tuple[list[str], list[str]]:
        found = sorted(self.read), sorted(self.drawn)
        self.read.clear()
        self.drawn.clear()
        return found


def shown(runs: Path) -> str:
    return _AS_OF.sub("", hub(runs))


def anew(runs: Path) -> str:
    """The hub as it is where nothing is kept."""
    (runs / KEPT).unlink()
    return shown(runs)


def test_one_more_run_is_read_and_only_its_study_is_drawn(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work(monkeypatch)
    first = shown(runs)
    assert [len(one) for one in work.taken()] == [8, 2]
    assert shown(runs) == first
    assert work.taken() == ([], [])
    whole(runs, night(5, study="weekly"))
    text = shown(runs)
    assert work.taken() == ([f"weekly {run_id(5)}"], ["trend-weekly"])
    assert run_id(5) in text and anew(runs) == text


def rewritten(root: Path) -> None:
    """Other numbers in a file of the same size, whose time is put back."""
    path = root / "report" / "summary.json"
    before, text = path.stat(), path.read_text()
    changed = text.replace(night(2).headline, night(2).headline[::-1])
    assert changed != text
    path.write_text(changed)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def moved(root: Path) -> None:
    """A folder whose files are as they were is a link now, behind which nothing is read."""
    aside = root / "aside"
    (root / "report").rename(aside)
    (root / "report").symlink_to(aside)


CHANGES: dict[str, Callable[[Path], object]] = {
    "a tag": lambda root: tag_run(root, {"ticket": "PERF-1"}),
    "another outcome": lambda root: Journal(root / "journal.jsonl").write(
        "run-ended", outcome="failed", message=""
    ),
    "other numbers": rewritten,
    "no report": lambda root: (root / "report" / "index.html").unlink(),
    "a capacity plan": lambda root: (root / "report" / "capacity-plan.html").write_text("a plan"),
    "a comparison": lambda root: (root / "report" / "comparison.json").write_text(
        compare([night(1)], night(2, 70.0), 0.05, october()).model_dump_json()
    ),
    "a damaged plan": lambda root: (root / "plan.json").write_text("{"),
    "no study": lambda root: (root / "study.yaml").unlink(),
    "a linked folder": moved,
    "acknowledged": lambda root: acknowledge(
        root.parent,
        [Known(number=name, run=run_id(4), owner="ada") for name in numbers_of(root.parents[1])],
    ),
}


def numbers_of(runs: Path) -> list[str]:
    (study, _) = results(runs)
    return [one.finding.id for one in study.runs[-1].regressions]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_shown(runs: Path, change: str) -> None:
    before = shown(runs)
    CHANGES[change](runs / "nightly" / run_id(2))
    after = shown(runs)
    assert after != before
    assert anew(runs) == after


def test_a_run_that_is_over_without_an_end_is_not_kept(runs: Path) -> None:
    """Whether somebody works on it is in no file."""
    root = whole(runs, night(5))
    with subprocess.Popen(["sleep", "600"]) as process:
        owner = Owner.of_process(process.pid).to_json()
        Journal(root / "journal.jsonl").write(
            "run-opened", study="nightly", run=root.name, tag="t/1", owner=owner
        )
        before = shown(runs)
        process.kill()
    after = shown(runs)
    assert ("running" in before, "interrupted" in after) == (True, True)
    assert anew(runs) == after


def test_what_was_kept_by_another_program_is_not_used(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown(runs)
    monkeypatch.setattr(kept_module, "_program", lambda: "another")
    work = Work(monkeypatch)
    shown(runs)
    assert [len(one) for one in work.taken()] == [8, 2]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: re.sub(r" .*", " {}", text),
        lambda text: re.sub(r" .*", " [", text),
        lambda text: text.replace('"', ""),
        lambda text: "no line of it",
        lambda text: text * 2,
    ],
)
def test_a_damaged_file_is_made_again(
    runs: Path, damage: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = shown(runs)
    whole(runs, night(5))
    text = (runs / KEPT).read_text()
    (runs / KEPT).write_text(damage(text))
    after = shown(runs)
    assert after != first
    work = Work(monkeypatch)
    assert shown(runs) == after and work.taken() == ([], [])
    assert anew(runs) == after


def test_what_cannot_be_kept_is_logged_and_the_page_is_there(
    runs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (runs / KEPT).mkdir()
    text = hub(runs)
    assert "8 runs of 2 studies" in text
    assert "what is kept beside the results hub was not written" in caplog.text


def test_runs_that_are_gone_are_forgotten(runs: Path) -> None:
    shown(runs)
    lines = (runs / KEPT).read_text().splitlines()
    assert len(lines) == 8 + 2
    (runs / "nightly" / run_id(4) / "journal.jsonl").unlink()
    shown(runs)
    kept = (runs / KEPT).read_text().splitlines()
    assert len(kept) == 7 + 2 and len(set(kept) & set(lines)) == 7 + 1


def drawn(panels: tuple[Panel, ...]) -> list[tuple[object, ...]]:
    return [(panel.title, panel.description, panel.rows) for panel in panels]


@pytest.mark.parametrize("name", ["one", "eight"])
def test_what_is_left_out_of_a_summary_changes_no_trend_and_no_number(name: str) -> None:
    summary = FACTORIES[name]()
    every = [summary.model_copy(update={"run": run_id(number)}) for number in range(1, 10)]
    slim = [results_module._without_the_rest(one) for one in every]
    whole_figure, slim_figure = (trend(some, (), "trend") for some in (every, slim))
    assert whole_figure and slim_figure
    assert drawn(whole_figure.panels) == drawn(slim_figure.panels)
    assert change_points(every) == change_points(slim)
    for key in {(one.test_case, one.topology) for one in summary.test_cases}:
        found = [of_numbers(key, some) for some in (every, slim)]
        assert found[0] == found[1]
    assert len(slim[0].model_dump_json()) < len(summary.model_dump_json())


def of_numbers(key: tuple[str, str], every: list[Summary]) -> list[tuple[object, ...]]:
    found = numbers(key, every[:-1], every[-1], NOTHING)
    return [(one.id, one.measure, one.course) for one in found]
