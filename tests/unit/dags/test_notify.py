"""What receivers are told about a run, and that they are told once; nothing is sent here."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.lifecycle.reap import Failed, Swept
from density_study.cluster.state.events import (
    AnalysisEnded,
    Notified,
    RunEnded,
    RunOpened,
    TornDown,
)
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.settings import VARIABLES
from density_study.dags.notify import incident
from density_study.dags.notify import tell as tell_module
from density_study.dags.notify.incident import message_of
from density_study.dags.notify.message import Message, report_of
from density_study.dags.notify.tell import could_not_open, tell, tell_killed, telling
from density_study.dags.stages.comparison import acknowledge, compare_run
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.planning.plan import write_plan
from density_study.workloads.study.notify import Receiver
from tests.support.drafts import QUICKSTART, plan
from tests.support.hostile.files import HOSTILE
from tests.support.made_runs.nightly_runs import nightly, october, run_id, write_run

STUDY = (
    QUICKSTART.read_text().replace("study: quickstart", "study: nightly")
    + "compare: {baseline: rolling 1, tolerance: 5%}\n"
    + "notify: [{webhook: hook}, {mail: [a@example.org], events: [failure]}]\n"
)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Message]]:
    """(receiver, message) of each message, in place of Airflow's notifiers."""
    messages: list[tuple[str, Message]] = []

    def send(
        message: Message, receivers: tuple[Receiver, ...], context: Mapping[str, Any] = {}
    ) -> tuple[str, ...]:
        messages.extend((r.name, message) for r in receivers if message.event in r.events)
        return ("web hook hook: the receiver answered 500",)

    monkeypatch.setattr(tell_module, "send", send)
    return messages


def run_of(runs: Path, number: int, ops_s: float = 100.0, fault: str = "", **of: Any) -> Run:
    """A run that ended: analysed, unless it failed."""
    root = runs / "nightly" / run_id(number)
    if number == 1:
        for earlier in october():
            write_run(runs, earlier)
    if not fault:
        write_run(runs, nightly(number, ops_s, **of))
    root.mkdir(parents=True, exist_ok=True)
    (root / "study.yaml").write_text(STUDY)
    write_plan(plan(), root / "plan.json")
    journal = Journal(root / JOURNAL)
    journal.record(RunOpened(study="nightly", run=root.name, tag=f"nightly/{root.name}"))
    journal.record(TornDown(outcome="ok", message=""))
    journal.record(AnalysisEnded(stage="report"))
    outcome = "failed" if fault else "ok"
    journal.record(RunEnded(outcome=outcome, message=fault, finished=not fault))  # type: ignore[arg-type]
    return load_run(root)


def resumed(runs: Path) -> Run:
    """A run that was opened again, and has not ended."""
    run = run_of(runs, 1)
    run.journal.record(RunOpened(study="nightly", run=run.id, tag=run.tag, resumed=True))
    return run


def told(run: Run) -> Notified | None:
    tell(str(run.root))
    return run.journal.last(Notified)


def test_a_good_run_is_not_worth_a_message(tmp_path: Path, sent: list[Any]) -> None:
    run_of(tmp_path, 1)
    assert told(run_of(tmp_path, 2)) is None
    assert sent == []


def test_a_regression_says_what_how_much_why_and_where(tmp_path: Path, sent: list[Any]) -> None:
    run_of(tmp_path, 1)
    event = told(run_of(tmp_path, 2, 80.0))
    assert event is not None and event.occasion == "regression"
    assert event.baseline == (run_id(1),)
    ((receiver, message),) = sent  # the mail is for failures only
    assert receiver == "web hook hook"
    assert message.headline.startswith("YCSB load, v1-flash: throughput 0.80x (0.7")
    assert message.headline.endswith(", and 2 more")
    assert len(message.lines[:-1]) == len(message.numbers) == 3
    assert f"study compare {tmp_path}/nightly/{run_id(2)} --acknowledge" in message.lines[-1]
    low, high = message.numbers[0].low, message.numbers[0].high
    assert low and high and low < 0.8 < high < 0.9
    assert message.subject in message.text and f"compared with: {run_id(1)}" in message.text
    assert message.report.startswith(str(tmp_path / "nightly" / run_id(2)))
    assert (tmp_path / "nightly" / run_id(2) / "report" / "comparison.json").exists()


def test_a_failure_is_told_with_its_reason_to_both(tmp_path: Path, sent: list[Any]) -> None:
    event = told(run_of(tmp_path, 1, fault="3 of 4 steps are left"))
    assert event is not None and event.occasion == "failure"
    assert [receiver for receiver, _ in sent] == ["web hook hook", "mail to a@example.org"]
    assert sent[0][1].subject == "nightly: failure: 3 of 4 steps are left"


def test_a_run_that_was_killed_is_a_failure_with_its_reason(
    tmp_path: Path, sent: list[Any]
) -> None:
    run = resumed(tmp_path)
    tell(str(run.root), "its process ended by SIGKILL")
    assert sent[0][1].headline == "its process ended by SIGKILL"


def test_an_end_that_could_not_be_journalled_is_a_failure_with_its_reason(
    tmp_path: Path, sent: list[Any]
) -> None:
    run = resumed(tmp_path)
    with pytest.raises(OSError), telling(str(run.root)):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(run.root))
    assert re.search("the disk of .* is full", sent[0][1].headline)


def test_no_fault_of_the_comparison_keeps_back_the_message_about_a_failure(
    tmp_path: Path, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path, 1, fault="a daemon died")
    (run.root / "report").mkdir()
    (run.root / "report" / "summary.json").touch()

    def full(_: Run) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(run.root))

    monkeypatch.setattr(incident, "compare_run", full)
    tell(str(run.root))
    assert sent[0][1].headline == "a daemon died"


def test_a_killed_run_that_cannot_be_removed_is_told_as_well(
    tmp_path: Path, sent: list[Any]
) -> None:
    """A host that is lost stays lost while people sleep."""
    run = resumed(tmp_path)
    swept = Swept(failed=(Failed(run.tag, "host 'h1': no answer."), Failed("gone/r1", "?")))
    tell_killed(tmp_path, swept)
    tell_killed(tmp_path, swept)  # an hour later
    assert len(sent) == 2, "each receiver once"
    assert sent[0][1].headline.startswith("the run was killed")
    assert sent[0][1].headline.endswith("host 'h1': no answer.")


def test_a_run_is_told_once_and_again_only_when_it_is_opened_again(
    tmp_path: Path, sent: list[Any]
) -> None:
    run = run_of(tmp_path, 1, fault="stopped")
    tell(str(run.root))
    tell(str(run.root))
    assert len(sent) == 2  # two receivers
    event = run.journal.last(Notified)
    assert event is not None and event.faults == ("web hook hook: the receiver answered 500",)
    run_of(tmp_path, 1, fault="stopped again")
    tell(str(run.root))
    assert len(sent) == 4


def test_a_recovery_follows_a_failure_once(tmp_path: Path, sent: list[Any]) -> None:
    tell(str(run_of(tmp_path, 1, fault="a daemon died").root))
    sent.clear()
    event = told(run_of(tmp_path, 2))
    assert event is not None and event.occasion == "recovery"
    ((_, message),) = sent
    assert f"after a failure in run {run_id(1)}" in message.headline
    assert f"failure in run {run_id(1)}: a daemon died" in message.lines
    assert told(run_of(tmp_path, 3)) is None


def test_a_resumed_run_recovers_from_its_own_failure(tmp_path: Path, sent: list[Any]) -> None:
    tell(str(run_of(tmp_path, 1, fault="stopped").root))
    event = told(run_of(tmp_path, 1))
    assert event is not None and event.occasion == "recovery"


def test_a_slow_level_that_became_usual_is_no_recovery(tmp_path: Path, sent: list[Any]) -> None:
    run_of(tmp_path, 1)
    tell(str(run_of(tmp_path, 2, 80.0).root))
    assert told(run_of(tmp_path, 3, 80.0)) is None, "its baseline, run 2, is as slow"
    event = told(run_of(tmp_path, 4))
    assert event is not None and event.occasion == "recovery"
    assert any(line.startswith("now: YCSB load") for line in sent[-1][1].lines)


@pytest.mark.usefixtures("watchdog")
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(how, marks=pytest.mark.slow if number % 3 else ())
        for number, how in enumerate(HOSTILE)
    ],
)
def test_a_damaged_comparison_of_an_earlier_run_hides_no_recovery(
    how: str, tmp_path: Path, sent: list[Any]
) -> None:
    run_of(tmp_path, 1)
    slow = run_of(tmp_path, 2, 80.0)
    tell(str(slow.root))
    path = slow.root / "report" / "comparison.json"
    path.unlink()
    HOSTILE[how](path)
    event = told(run_of(tmp_path, 3))
    assert event is not None and event.occasion == "recovery"


def test_an_acknowledged_regression_is_told_once(tmp_path: Path, sent: list[Any]) -> None:
    """Neither again, nor as a recovery; the next one is told."""
    run_of(tmp_path, 1)
    slow = run_of(tmp_path, 2, 80.0)
    tell(str(slow.root))
    compared = compare_run(slow)
    assert compared is not None
    acknowledge(slow.root, compared, "a new kernel")
    assert message_of(slow) is None
    assert [told(run_of(tmp_path, number, 80.0)) for number in (3, 4)] == [None, None]
    event = told(run_of(tmp_path, 5, 64.0))
    assert event is not None and event.occasion == "regression"


def test_a_regression_is_forgiven_when_its_baseline_is_gone(
    tmp_path: Path, sent: list[Any]
) -> None:
    first = run_of(tmp_path, 1)
    tell(str(run_of(tmp_path, 2, 80.0).root))
    first.root.rename(tmp_path / "gone")
    event = told(run_of(tmp_path, 3, 80.0))
    assert event is not None and event.occasion == "recovery"


def test_a_comparison_that_is_impossible_is_a_failure(tmp_path: Path, sent: list[Any]) -> None:
    run = run_of(tmp_path, 1)
    text = STUDY.replace("rolling 1", "20260101T000000Z")
    (run.root / "study.yaml").write_text(text)
    event = told(load_run(run.root))
    assert event is not None and event.occasion == "failure"
    assert "could not be compared" in sent[0][1].headline


def test_a_study_without_receivers_is_not_compared(tmp_path: Path, sent: list[Any]) -> None:
    run_of(tmp_path, 1)
    slow = run_of(tmp_path, 2, 80.0)
    (slow.root / "study.yaml").write_text(STUDY.partition("notify:")[0])
    assert told(load_run(slow.root)) is None
    assert sent == [] and not (slow.root / "report" / "comparison.json").exists()


def test_nothing_that_goes_wrong_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tell(str(tmp_path / "no-run"))
    assert "no message about the run could be made" in caplog.text
    run = run_of(tmp_path, 2)
    (run.root / "report" / "summary.json").write_text("{}")
    tell(str(run.root))

    def broken(*_: Any) -> None:
        raise RuntimeError("https://secret")

    monkeypatch.setattr(tell_module, "send", broken)
    tell(str(run_of(tmp_path, 3, fault="x").root))
    assert "RuntimeError" in caplog.text and "secret" not in caplog.text


def test_a_run_that_could_not_start_is_told_from_its_study(tmp_path: Path, sent: list[Any]) -> None:
    spec = tmp_path / "nightly.yaml"
    spec.write_text(STUDY)
    error = RuntimeError("host w1 is busy.\nTraceback")

    def task(file: Path) -> SimpleNamespace:
        return SimpleNamespace(op_kwargs={"spec": str(file)})

    could_not_open({"task": task(spec), "exception": error})
    assert sent[0][1].headline == "the run could not start: host w1 is busy."
    could_not_open({"task": task(tmp_path / "none.yaml")})
    assert len(sent) == 2, "without a study nobody can be told, and nothing is raised"


def test_the_link_is_the_address_of_the_web_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path, 1)
    monkeypatch.setenv(VARIABLES["reports_url"], "https://reports.example.org/runs/")
    assert report_of(run.root) == f"https://reports.example.org/runs/nightly/{run.id}"
    (run.root / "report" / "index.html").touch()
    address = f"https://reports.example.org/runs/nightly/{run.id}/report/index.html"
    assert report_of(run.root) == address
    message = Message("failure", "s", "r", "a <b>", report=address)
    assert f'<a href="{address}">' in message.html and "a &lt;b&gt;" in message.html


def test_a_subject_is_one_line_and_long_messages_are_cut() -> None:
    message = Message("failure", "s", "r", "two\nlines " + "x" * 500, tuple(map(str, range(100))))
    assert "\n" not in message.subject and len(message.subject) < 210
    assert "and 70 more" in message.text.splitlines()


def test_the_message_of_a_failed_run_includes_its_regressions(
    tmp_path: Path, sent: list[Any]
) -> None:
    run_of(tmp_path, 1)
    run = run_of(tmp_path, 2, 80.0)
    run.journal.record(RunEnded(outcome="failed", message="a leftover", finished=False))
    message = message_of(run)
    assert message is not None and message.event == "failure"
    assert message.headline == "a leftover" and len(message.numbers) == 3
