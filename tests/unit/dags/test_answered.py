"""The repetitions of each question of a run end once it is answered, also if the run is killed meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.state.events import QuestionsLeft
from density_study.cluster.state.journal import Journal
from density_study.dags.stages import study_stages
from density_study.dags.stages.conclusion import _bad_trials
from density_study.jobs.first_look import test_cases_so_far
from density_study.jobs.first_look.look import FirstLook
from density_study.workloads.base.rows import metric
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.execution.steps import what_is_left
from tests.support.made_runs.fake_cluster import (
    TWO_CONFIGURATIONS,
    World,
    carried_on,
    carry_on,
    open_again,
    world,
)

__all__ = ["world"]  # the fixture

STUDY = f"""\
study: answered
{TWO_CONFIGURATIONS}workloads:
  - ycsb: {{records: [20000], mixes: [c, e], threads: [8], duration: 20 s, warm_up: 5 s}}
expect:
  - {{name: reads, workload: c, compare: configuration, b_over_a: "> 1"}}
  - {{name: scans, workload: e, compare: configuration, b_over_a: "> 1"}}
repetitions: {{at_least: 5, at_most: 8}}
"""


@pytest.fixture
def run(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(study_stages, "_check_machine", lambda _run: None)
    monkeypatch.setattr(test_cases_so_far, "first_look", _look)
    return carried_on(tmp_path, STUDY)


def _look(record: Path) -> FirstLook:
    """b reads half as much again; it scans somewhat more, which is clear after some repetitions."""
    repetition, is_b = int(record.name[1]), record.name.split("-")[1:] and "-b-" in record.name
    noise = 0.01 * (-1) ** repetition * (1 if is_b else -1)
    gain = 1.0
    if is_b:
        gain = 1.5 if "-c-" in record.name else 1.045
    rate = metric("throughput", "ops/s", 1000.0 * gain * (1 + noise))
    return FirstLook(record.name, verdict="valid", metrics=(rate,))


def repetitions(world: World, mode: str) -> list[int]:
    trials = [act.split()[1] for act in world.acts if act.startswith("trial")]
    return sorted({int(trial[1]) for trial in trials if f"-{mode}-" in trial})


def test_each_question_ends_at_the_first_look_that_answers_it(run: Run, world: World) -> None:
    carry_on(run)
    assert repetitions(world, "c") == [1, 2, 3, 4, 5]
    ended = run.journal.events(QuestionsLeft)
    assert ended[0].repetition == 5 and ended[0].answered == ("reads",)
    last = repetitions(world, "e")[-1]
    assert 5 < last <= 8
    assert [event.answered for event in ended[1:]] == ([("scans",)] if last < 8 else [])
    assert what_is_left(run) == ""
    assert list(_bad_trials(run)) == []
    builds = {act.split()[1] for act in world.acts if act.startswith("up")}
    assert {build[:2] for build in builds} == {f"b{n}" for n in range(1, last + 1)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "killed_after", [41, *(pytest.param(steps, marks=pytest.mark.slow) for steps in (3, 20, 45))]
)
def test_a_killed_run_makes_the_same_decisions(run: Run, world: World, killed_after: int) -> None:
    carry_on(run, killed_after)
    again = load_run(run.root)
    open_again(again)
    carry_on(again)
    assert repetitions(world, "c") == [1, 2, 3, 4, 5]
    ended = Journal(run.root / "journal.jsonl").events(QuestionsLeft)
    assert [event.answered for event in ended][:1] == [("reads",)]
    assert len({event.repetition for event in ended}) == len(ended)
