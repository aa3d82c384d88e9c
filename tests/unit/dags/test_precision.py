"""Repetitions end once the comparisons are precise enough, whatever happens to the run in between."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.state.events import RepetitionsEnded
from density_study.cluster.state.journal import Journal
from density_study.dags.stages import study_stages
from density_study.dags.stages.conclusion import _bad_trials
from density_study.jobs.first_look import test_cases_so_far
from density_study.jobs.first_look.look import FirstLook
from density_study.workloads.base.rows import metric
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.execution.steps import what_is_left
from tests.support.drafts import QUICKSTART
from tests.support.made_runs.fake_cluster import World, carried_on, carry_on, open_again, world

__all__ = ["world"]  # the fixture

PRECISE_AFTER = 7


@pytest.fixture
def run(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(study_stages, "_check_machine", lambda _run: None)
    text = QUICKSTART.read_text().replace(
        "repetitions: 1", "repetitions: {at_least: 5, at_most: 9, until: 2%}"
    )
    text = text.replace("[load, read45-insert55, scan95-insert5]", "[load]")
    return carried_on(tmp_path, text)


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Every trial has 1,000 ops/s, and with two workers per host somewhat more or less, so much that the
    interval becomes narrow at once, or never."""

    def measure(noise: float) -> None:
        def look(record: Path) -> FirstLook:
            repetition = int(record.name[1])
            is_dense = "-v2-" in record.name
            # the same mean in each variant; after PRECISE_AFTER repetitions there is no noise at all
            swing = noise * (-1) ** repetition if is_dense and repetition <= PRECISE_AFTER else 0.0
            rate = metric("throughput", "ops/s", 1000.0 * (1 + swing))
            return FirstLook(record.name, verdict="valid", metrics=(rate,))

        monkeypatch.setattr(test_cases_so_far, "first_look", look)

    return measure


def repetitions(world: World) -> list[int]:
    return sorted({int(act.split()[1][1]) for act in world.acts if act.startswith("trial")})


def test_repetitions_end_at_the_first_look_that_is_precise(
    run: Run, world: World, rates: Callable[[float], None]
) -> None:
    rates(0.0)
    carry_on(run)
    assert repetitions(world) == [1, 2, 3, 4, 5]
    (ended,) = run.journal.events(RepetitionsEnded)
    assert ended.repetition == 5
    assert {trial[:2] for trial in ended.spared} == {"b6", "b7", "b8", "b9"}
    assert what_is_left(run) == ""
    assert list(_bad_trials(run)) == []


@pytest.mark.slow
def test_comparisons_that_are_not_precise_get_every_repetition(
    run: Run, world: World, rates: Callable[[float], None]
) -> None:
    rates(0.2)
    carry_on(run)
    assert repetitions(world) == list(range(1, 10))
    assert list(run.journal.events(RepetitionsEnded)) == []


def test_comparisons_that_are_not_precise_end_with_the_budget(
    run: Run, world: World, rates: Callable[[float], None]
) -> None:
    """Its steps take no time here: the analysis alone fills the budget."""
    rates(0.2)
    study = run.root / "study.yaml"
    study.write_text(study.read_text() + "budget: 10 s\n")
    carry_on(load_run(run.root))
    assert repetitions(world) == [1, 2, 3, 4, 5]
    (ended,) = run.journal.events(RepetitionsEnded)
    assert (ended.repetition, ended.why) == (5, "too little time was left in the budget")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "killed_after", [40, *(pytest.param(steps, marks=pytest.mark.slow) for steps in (3, 60, 75))]
)
def test_a_killed_run_goes_on_and_ends_like_one_that_was_not(
    run: Run, world: World, rates: Callable[[float], None], killed_after: int
) -> None:
    rates(0.0)
    carry_on(run, killed_after)
    again = load_run(run.root)
    open_again(again)
    carry_on(again)
    assert repetitions(world) == [1, 2, 3, 4, 5]
    (ended,) = Journal(run.root / "journal.jsonl").events(RepetitionsEnded)
    assert ended.repetition == 5


@pytest.mark.slow
def test_a_repetition_that_has_begun_is_finished(
    run: Run, world: World, rates: Callable[[float], None]
) -> None:
    rates(0.2)
    sixth = next(
        step.index for step in run.plan.steps if step.repetition == 6 and step.kind == "down"
    )
    carry_on(run, sixth + 1)
    rates(0.0)  # as if an invalid trial had been cleared and measured again
    carry_on(run)
    assert repetitions(world) == [1, 2, 3, 4, 5, 6]
