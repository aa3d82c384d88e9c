"""Hooks: told of every build and trial, in order, and what one that fails may stop."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.workloads.execution import hooks
from density_study.workloads.execution.hooks import Hook, Moment, tell
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, steps_left
from tests.support.made_runs.fake_cluster import World, run, world

__all__ = ["run", "world"]  # fixtures
MOMENT = Moment("before", "trial", "s", "r", "b1", "t1")


def program(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "hook"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    monkeypatch.setenv("DENSITY_STUDY_HOOK", str(file))
    return file


def entry_point(monkeypatch: pytest.MonkeyPatch, called: Any) -> None:
    monkeypatch.setattr(hooks, "values_of", lambda *_: [("a = b:c", Hook(called))])


def test_a_program_is_told_before_and_after_every_step(
    run: Run, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    program(tmp_path, f'echo "$1,$2,$3,$4,$5,$6,$7" >> {told}', monkeypatch)
    world.fail_trial = lambda trial: trial == run.plan.trials[0].trial
    for step in steps_left(run):
        carry_out(run, step)
    lines = told.read_text().splitlines()
    failed = run.plan.trials[0].trial
    expected = []
    for step in run.plan.steps:
        about = f"{step.kind},quickstart,r1,{step.build},{step.trial or ''}"
        outcome = "failed" if step.trial == failed else "ok"
        expected += [f"before,{about},", f"after,{about},{outcome}"]
    assert lines == expected


@pytest.mark.parametrize("error", [RuntimeError("maintenance"), SystemExit("maintenance")])
def test_a_trial_does_not_begin_where_its_hook_fails_and_is_due_again(
    error: BaseException, run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(moment: Moment) -> None:
        if moment.kind == "trial":
            raise error

    entry_point(monkeypatch, refuse)
    up, trial = run.plan.steps[:2]
    assert carry_out(run, up).outcome == "ok"
    outcome = carry_out(run, trial)
    assert outcome.outcome == "skipped" and "maintenance" in outcome.message
    assert world.ups_and_trials == [f"up {up.build}"]
    assert trial in steps_left(run)


def test_a_build_does_not_come_up_where_its_hook_fails_but_is_always_removed(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    up = run.plan.steps[0]
    down = next(step for step in run.plan.steps if step.kind == "down")
    carry_out(run, up)
    entry_point(monkeypatch, lambda _: 1 / 0)  # type: ignore[arg-type, return-value]
    assert carry_out(run, down).outcome == "ok"
    assert f"down {down.build}" in world.acts
    outcome = carry_out(run, up)
    assert (outcome.outcome, world.ups_and_trials) == ("failed", [f"up {up.build}"])
    assert "division by zero" in outcome.message


def test_a_hook_that_fails_afterwards_changes_no_outcome(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(moment: Moment) -> None:
        if moment.when == "after":
            raise OSError("calendar is down")

    entry_point(monkeypatch, fail)
    outcome = carry_out(run, run.plan.steps[0])
    assert (outcome.outcome, "calendar is down" in outcome.message) == ("ok", True)


@pytest.mark.parametrize(
    ("text", "words"),
    [("echo no room >&2; exit 3", "exit code 3: no room"), ("sleep 9", "more than")],
)
def test_a_program_that_fails_or_hangs_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    file = program(tmp_path, text, monkeypatch)
    monkeypatch.setattr(hooks, "LIMIT_S", 0.3)
    with pytest.raises(StudyError, match=words) as caught:
        tell(MOMENT)
    assert str(file) in str(caught.value) and "before t1" in str(caught.value)


def test_what_a_program_leaves_in_the_background_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It held the output open, and the hook seemed to take all its time."""
    program(tmp_path, f"(sleep 2; touch {tmp_path}/late) & echo begun", monkeypatch)
    monkeypatch.setattr(hooks, "LIMIT_S", 1.0)
    tell(MOMENT)
    assert not (tmp_path / "late").exists()


def test_nothing_of_a_program_survives_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell was killed, and the program that it waited for went on in the trial."""
    beat = tmp_path / "beat"
    loop = f"for i in $(seq 40); do echo >> {beat}; sleep 0.1; done"
    program(tmp_path, f"({loop}) & wait", monkeypatch)
    monkeypatch.setattr(hooks, "LIMIT_S", 0.5)
    with pytest.raises(StudyError, match="more than"):
        tell(MOMENT)
    beaten = beat.stat().st_size
    time.sleep(0.4)
    assert 0 < beat.stat().st_size == beaten


def test_of_a_long_output_the_end_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "yes | head -c 3000000; echo the reason >&2; exit 1", monkeypatch)
    with pytest.raises(StudyError, match=r"(?s)exit code 1: .*the reason") as caught:
        tell(MOMENT)
    assert len(str(caught.value)) < 1000


def test_a_program_that_others_may_change_or_that_is_missing_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = program(tmp_path, f"touch {tmp_path}/started", monkeypatch)
    file.chmod(0o777)
    with pytest.raises(InputError, match="choose what runs here as you"):
        tell(MOMENT)
    assert not (tmp_path / "started").exists()
    file.unlink()
    with pytest.raises(StudyError, match="No such file"):
        tell(MOMENT)
