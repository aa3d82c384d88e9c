"""A run measures its noise after its first repetitions, and its journal decides how many follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.analysis.findings import question_power
from density_study.analysis.summarise.summarise import _plan
from density_study.cluster.state.events import Event, NoiseMeasured
from density_study.dags.run_status.progress import progress
from density_study.dags.stages import precision, study_stages
from density_study.jobs.first_look import test_cases_so_far
from density_study.jobs.first_look.look import FirstLook
from density_study.workloads.base.rows import metric
from density_study.workloads.execution.run import Run, load_run, spared_trials
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
study: replanned
{TWO_CONFIGURATIONS}workloads:
  - ycsb: {{records: [20000], mixes: [c], threads: [8], duration: 20 s, warm_up: 5 s}}
expect:
  - {{name: reads, workload: c, compare: configuration, b_over_a: "> 1"}}
"""
RESERVE = "repetitions: {at_least: 5, planned: 8, at_most: 12}\n"


@pytest.fixture
def begin(
    runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, float], Run]:
    """A run whose variants do not differ, but by this much noise of alternating sign."""
    monkeypatch.setattr(study_stages, "_check_machine", lambda _run: None)

    def opened(keys: str, noise: float) -> Run:
        def look(record: Path) -> FirstLook:
            swing = noise * (-1) ** repetition_of(record.name) * ("-b-" in record.name)
            rate = metric("throughput", "ops/s", 1000.0 * (1 + swing))
            return FirstLook(record.name, verdict="valid", metrics=(rate,))

        monkeypatch.setattr(test_cases_so_far, "first_look", look)
        return carried_on(tmp_path, STUDY + keys)

    return opened


def repetition_of(trial: str) -> int:
    return int(trial.partition("-")[0][1:])


def repetitions(world: World) -> list[int]:
    return sorted({repetition_of(act.split()[1]) for act in world.acts if act.startswith("trial")})


def test_a_quiet_run_leaves_its_reserve(begin: Callable[[str, float], Run], world: World) -> None:
    run = begin(RESERVE, 0.002)
    carry_on(run)
    (seen,) = run.journal.events(NoiseMeasured)
    assert (seen.repetition, seen.last, seen.planned) == (5, 8, 8)
    assert {*map(repetition_of, seen.spared)} == {9, 10, 11, 12}
    assert repetitions(world)[-1] <= 8 and what_is_left(run) == ""
    (reads,) = seen.questions
    assert reads.low < reads.noise < reads.high and reads.enough == 5 and reads.power > 0.99


@pytest.mark.parametrize("killed_after", (None, 30, 31, 40))
def test_a_noisy_run_takes_more_also_if_it_is_killed(
    begin: Callable[[str, float], Run], world: World, killed_after: int | None
) -> None:
    run = begin(RESERVE, 0.2)
    if killed_after:
        carry_on(run, killed_after)
        run = load_run(run.root)
        open_again(run)
    carry_on(run)
    (seen,) = run.journal.events(NoiseMeasured)
    assert (seen.last, seen.spared) == (12, ())
    plan = _plan(run.root, run.journal)
    assert plan and plan.precise and plan.precise.planned == 12, "the analysis has the same looks"
    assert run.plan.precise and run.plan.precise.planned == 8, "plan.json stays as it was checked"


def test_more_is_planned_only_as_far_as_the_budget_pays(
    begin: Callable[[str, float], Run], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(f"{RESERVE}budget: 1 h\n", 0.2)
    each_s = sum(step.estimate_s for step in run.plan.steps if step.repetition == 1)
    # five are done, and what is left pays four and a half more at their pace
    took_s = 3600 - 10 - 4.5 * each_s
    monkeypatch.setattr(precision, "_took", lambda _run: (took_s, 1.0))
    carry_on(run)
    (seen,) = run.journal.events(NoiseMeasured)
    assert (seen.last, seen.planned) == (9, 9)
    assert {*map(repetition_of, seen.spared)} == {10, 11, 12}


@pytest.mark.parametrize(("number", "after"), [(8, 4), (5, 3), (3, 2), (2, None)])
def test_a_fixed_number_stays_and_the_run_says_what_it_can_show(
    begin: Callable[[str, float], Run], world: World, number: int, after: int | None
) -> None:
    run = begin(f"repetitions: {number}\nbudget: 99 h\n", 0.2)
    carry_on(run)
    assert repetitions(world) == list(range(1, number + 1))
    seen = run.journal.last(NoiseMeasured)
    line = progress(run.plan, run.journal.events(Event), 0.0).noise
    if after is None:
        assert seen is None and line == ""
        return
    assert seen and (seen.repetition, seen.last, seen.spared) == (after, None, ())
    assert line.startswith(f"after {after} repetitions, reads: noise between builds ")
    assert f"with {number} repetitions" in line and "would be enough" in line


def test_a_run_that_decides_nothing_looks_for_its_questions_once(
    begin: Callable[[str, float], Run], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before each build of the repetition: a plan of many test cases takes seconds."""
    run, looks = begin("repetitions: 5\nquestions: []\n", 0.2), []
    monkeypatch.setattr(question_power, "questions_of", lambda *_: looks.append(0) or ())
    carry_on(run)
    assert len(looks) == 1 and not run.journal.last(NoiseMeasured)


def test_what_the_noise_does_not_ask_for_is_spared_before_any_look(
    begin: Callable[[str, float], Run],
) -> None:
    run = begin(RESERVE, 0.2)
    rest = run.plan.after(8)
    run.journal.record(NoiseMeasured(repetition=5, questions=(), planned=8, last=8, spared=rest))
    assert spared_trials(run.journal) == {*rest}
    assert (
        "noise of no question is known" in progress(run.plan, run.journal.events(Event), 0.0).noise
    )


def test_before_the_noise_is_known_the_reserve_is_no_work_to_come(
    begin: Callable[[str, float], Run],
) -> None:
    run = begin(RESERVE, 0.2)
    seen = progress(run.plan, run.journal.events(Event), 0.0)
    of_planned = sum(step.estimate_s for step in run.plan.steps if step.repetition <= 8)
    assert seen.remaining_s == pytest.approx(of_planned + 10.0)
