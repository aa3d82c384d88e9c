"""A damaged or hostile run is its own line of the hub and of the list, and stops nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.analysis.comparison.history import earlier, read_summary
from density_study.analysis.hub.files import HUB
from density_study.analysis.hub.kept import KEPT
from density_study.analysis.hub.page import rebuild
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import NotPlainError, read_plain
from density_study.workloads.execution.run_facts import facts_of_runs
from tests.security.outputs.damages import HOSTILE, NUMBERS
from tests.support.made_runs.nightly_runs import hub, nightly, run_id, whole

pytestmark = pytest.mark.usefixtures("watchdog")


PLACES = ("report/summary.json", "report/comparison.json", "plan.json")


@pytest.mark.parametrize("where", PLACES)
def test_one_run_stops_no_other(tmp_path: Path, where: str) -> None:
    """All kinds of damage at once, each in a run of its own, between two sound runs."""
    damages = [
        change for how, change in HOSTILE.items() if where == PLACES[0] or how not in NUMBERS
    ]
    count = len(damages) + 2
    roots = [whole(tmp_path, nightly(number)) for number in range(1, count + 1)]
    for root, damage in zip(roots[1:], damages, strict=False):
        (root / where).touch()
        damage(root / where)
    text = hub(tmp_path)
    assert f"{count} runs of 1 study" in text
    for number in (1, count):
        assert f"nightly/{run_id(number)}/report/index.html" in text
    if where == PLACES[0]:
        assert text.count("No results: ") >= len(HOSTILE) - len(NUMBERS)
    assert [facts.run for facts in facts_of_runs(tmp_path)] == [run_id(n + 1) for n in range(count)]
    assert earlier(roots[-1])


@pytest.mark.parametrize("how", [name for name in HOSTILE if name not in NUMBERS])
def test_a_summary_that_cannot_be_read_is_bad_input(tmp_path: Path, how: str) -> None:
    root = whole(tmp_path, nightly(1))
    HOSTILE[how](root / "report" / "summary.json")
    with pytest.raises(InputError) as refused:
        read_summary(root)
    assert refused.value.remedy and "\n" not in refused.value.where


@pytest.mark.parametrize(
    "line",
    ("1", "[]", '"x"', '{"event": {}}', '{"format": 1}', '{"format": 1, "event": []}', "null"),
)
def test_lines_of_a_journal_stop_no_hub(tmp_path: Path, line: str) -> None:
    whole(tmp_path, nightly(1))
    bad = whole(tmp_path, nightly(2))
    with (bad / "journal.jsonl").open("a") as journal:
        journal.write(f"{line}\n")
    assert "2 runs of 1 study" in hub(tmp_path)


def test_names_that_no_encoding_has_stop_no_hub(tmp_path: Path) -> None:
    whole(tmp_path, nightly(1))
    whole(tmp_path, nightly(2)).rename(tmp_path / "nightly" / "\udcff\x1b")
    assert "2 runs of 1 study" in hub(tmp_path)


def test_the_hub_writes_through_no_link(tmp_path: Path) -> None:
    whole(tmp_path / "runs", nightly(1))
    victim = tmp_path / "victim"
    victim.write_text("kept")
    for name in (".index.lock", HUB, KEPT):
        (tmp_path / "runs" / name).symlink_to(victim)
        rebuild(tmp_path / "runs")
        assert victim.read_text() == "kept"
        (tmp_path / "runs" / name).unlink()
    (tmp_path / "runs" / HUB).unlink()
    os.mkfifo(tmp_path / "runs" / HUB)
    rebuild(tmp_path / "runs")


def test_what_another_user_kept_is_no_part_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague's folder of runs, with a file beside the hub that says what is on its page."""
    runs = tmp_path / "runs"
    whole(runs, nightly(1))
    monkeypatch.setenv("DENSITY_STUDY_STATE", str(tmp_path / "theirs"))
    hub(runs)
    kept = (runs / KEPT).read_text()
    assert "<tr " in kept
    (runs / KEPT).write_text(kept.replace("<tr ", "<form action=https://evil.example><tr "))
    assert "evil.example" not in hub(runs)  # nor what was changed since
    (runs / KEPT).write_text(kept.replace("<tr ", "<tr class=planted "))
    monkeypatch.setenv("DENSITY_STUDY_STATE", str(tmp_path / "ours"))
    assert "planted" not in hub(runs)
    assert oct((tmp_path / "ours" / "secret").stat().st_mode)[-3:] == "600"


def test_files_of_others_are_read_only_if_plain_and_bounded(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"12345")
    assert read_plain(plain, 5) == b"12345"
    (tmp_path / "link").symlink_to(plain)
    os.mkfifo(tmp_path / "pipe")
    for path, most in (
        (plain, 4),
        (tmp_path / "link", 5),
        (tmp_path / "pipe", 5),
        (Path("/dev/zero"), 5),
    ):
        with pytest.raises(NotPlainError):
            read_plain(path, most)
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "none", 5)
