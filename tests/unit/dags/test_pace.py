"""How long things took in earlier runs on the same hosts, and a budget that ends a run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.clock import SimulatedClock
from density_study.cluster.state.events import RunOpened, StepEnded, StepStarted
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.cli import main
from density_study.dags.stages.earlier import Earlier
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.dags.stages.pace import Pace
from density_study.dags.stages.planning import check_plan, within_budget
from density_study.dags.stages.precision import spent_s
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.planning.plan import make_plan, write_plan
from tests.support.drafts import QUICKSTART, host, plan, study

BUILD_S, AROUND = 120.0, 3.0
"""Bring-up with tear-down, and measured over estimated time around windows."""


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Each step of one build took longer than stated; the windows did not."""
    root = tmp_path / "runs" / "quickstart" / "20261120T201530Z"
    root.mkdir(parents=True)
    (root / "study.yaml").write_text(QUICKSTART.read_text())
    made = make_plan(study(), [host()])
    write_plan(made, root / "plan.json")
    clock = SimulatedClock(1.7e9)
    journal = Journal(root / "journal.jsonl", clock)
    journal.record(
        RunOpened(study="quickstart", run=root.name, tag="t", owner=Owner.of_process(os.getpid()))
    )
    for step in made.steps:
        window_s = step.test_case.adjustable_s if step.test_case else 0.0
        seconds = BUILD_S - 20.0 if step.kind == "up" else 20.0
        if step.kind == "trial":
            seconds = window_s + AROUND * (step.estimate_s - window_s)
        about = {"index": step.index, "kind": step.kind, "build": step.build, "trial": step.trial}
        journal.record(StepStarted(**about, label=step.label))
        clock.at_s += seconds
        journal.record(StepEnded(**about, outcome="ok", message=""))
    return load_run(root)


def test_earlier_runs_on_the_same_hosts_say_how_long_things_take(run: Run) -> None:
    runs = run.root.parents[1]
    found = Earlier(run.study, runs).pace
    assert found.runs == 1
    assert (found.build_s, found.around) == (pytest.approx(BUILD_S), pytest.approx(AROUND))
    assert "of 1 earlier run here: 120 s for a build" in found.words
    assert found.applied(run.plan).estimate_s > run.plan.estimate_s
    assert Earlier(study(stack={"hadoop": "3.4.1"}), runs).pace == Pace(), "other software"
    assert (
        Earlier(run.study, runs / "none").pace.words
        == "estimates for any host: no earlier run here"
    )


def test_estimates_that_another_version_recorded_do_not_count(run: Run) -> None:
    runs = run.root.parents[1]
    found = Earlier(run.study, runs).pace
    steps = tuple(
        one.model_copy(update={"estimate_s": 9 * one.estimate_s}) for one in run.plan.steps
    )
    write_plan(run.plan.model_copy(update={"steps": steps}), run.root / "plan.json")
    assert Earlier(run.study, runs).pace == found


def test_each_test_case_has_the_pace_that_it_had(run: Run) -> None:
    """TestDFSIO may be faster than stated where YCSB is slower. `study plan` shows the times as they were."""
    slow = next(step for step in run.plan.trials if step.test_case)
    text = run.journal.path.read_text().splitlines()
    at = next(
        n for n, line in enumerate(text) if f'"index": {slow.index},' in line and "ended" in line
    )
    events = [json.loads(line) for line in text]
    for event in events[at:]:
        event["t"] += 1000.0
    run.journal.path.write_text("".join(json.dumps(event) + "\n" for event in events))
    runs = run.root.parents[1]
    again = load_run(run.root)
    here = Earlier(again.study, runs).pace
    assert here.of(slow) > 500.0
    for one in run.plan.trials:
        if one.test_case and one.test_case.id != slow.test_case.id:  # type: ignore[union-attr]
            window_s = one.test_case.adjustable_s
            assert here.of(one) == pytest.approx(window_s + AROUND * (one.estimate_s - window_s))
    took_s = events[-1]["t"] - next(e["t"] for e in events if e["event"] == "step-started")
    assert here.applied(run.plan).estimate_s == pytest.approx(took_s, rel=0.01)
    command = ["plan", str(QUICKSTART), "--runs", str(runs), "--json"]
    answer = CliRunner().invoke(main.app, command, catch_exceptions=False)
    assert json.loads(answer.stdout)["estimate_s"] == pytest.approx(took_s + 10, rel=0.01)


def test_a_run_counts_what_it_took_and_what_its_next_repetition_would_take(run: Run) -> None:
    took_s = sum(event.t for event in run.journal.events(StepEnded)) - sum(
        event.t for event in run.journal.events(StepStarted)
    )
    every = {str(step.trial) for step in run.plan.trials}
    assert spent_s(run, every, 1) == pytest.approx(took_s)
    assert spent_s(run, (), 1) == pytest.approx(2 * took_s), "as long as it took before"


def test_repetitions_that_run_in_any_case_must_fit_the_budget(tmp_path: Path) -> None:
    little = {"budget": "10 min", "repetitions": {"at_least": 5, "at_most": 9}}
    with pytest.raises(
        InputError, match=r"5 repetitions take about .* the budget is 10 min\."
    ) as no:
        check_plan(study(**little), plan(**little), QUICKSTART, Earlier(study(**little), tmp_path))
    assert "leave `repetitions` out" in no.value.remedy


def test_what_fits_at_the_pace_of_earlier_runs_is_not_refused_for_stated_times(run: Run) -> None:
    """And what does not is refused, although the stated times fit."""
    runs = run.root.parents[1]
    here = Earlier(run.study, runs).pace
    wanted: dict[str, Any] = {"repetitions": {"at_least": 5, "at_most": 9}, "questions": []}
    stated_s = 5 * plan(**wanted, budget="9 h").estimate_s / 9
    taken_s = 5 * here.applied(plan(**wanted, budget="9 h")).estimate_s / 9
    assert taken_s > stated_s + 60
    between = wanted | {"budget": f"{(stated_s + taken_s) / 2:.0f} s"}
    with pytest.raises(InputError, match="5 repetitions take about"):
        check_plan(study(**between), plan(**between), QUICKSTART, Earlier(study(**between), runs))
    check_plan(
        study(**between), plan(**between), QUICKSTART, Earlier(study(**between), runs / "none")
    )
    enough = wanted | {"budget": f"{taken_s + 11:.0f} s"}
    check_plan(study(**enough), plan(**enough), QUICKSTART, Earlier(study(**enough), runs))
    without_analysis = wanted | {"budget": f"{taken_s + 5:.0f} s"}
    with pytest.raises(InputError, match="5 repetitions take about"):
        check_plan(
            study(**without_analysis),
            plan(**without_analysis),
            QUICKSTART,
            Earlier(study(**without_analysis), runs),
        )


def test_power_and_time_are_those_of_the_repetitions_that_the_budget_pays() -> None:
    """Of at most eleven, seven fit: the others run only if questions end sooner."""
    wanted: dict[str, Any] = {"repetitions": {"at_least": 5, "at_most": 11}}
    each_s = plan(**wanted).estimate_s / 11
    bounded = study(**wanted, budget=f"{7.5 * each_s + ANALYSIS_ESTIMATE_S:.0f} s")
    lasting = within_budget(bounded, plan(**wanted))
    assert lasting.repetitions == 7 == max(step.repetition for step in lasting.steps)
    assert lasting.precise == plan(**wanted).precise, "the looks share the error as before"
    assert within_budget(study(**wanted), plan(**wanted)) == plan(**wanted)
    short = study(**wanted, budget="1 min")
    assert within_budget(short, plan(**wanted)).repetitions == 5, "they run in any case"


def test_a_budget_without_repetitions_is_to_be_fitted() -> None:
    assert study(budget="2 h").fit_s is None, "the quickstart has a number of repetitions"
    assert study(budget="2 h").budget == 7200.0
