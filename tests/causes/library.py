"""Runs disturbed and quiet trials in random order on one cluster, by the steps of a study.

The run is a study's: its folder, plan, journal and records are what `study run` makes, and it resumes as one
does. Only its trials differ: they are one test case, measured again and again. What was done to each stands
in disturbed.jsonl beside the journal, which no analysis reads.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.own_runs import PLAN, register
from density_study.workloads.execution.opening import RunRequest, clear_trials, open_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run, what_is_left
from density_study.workloads.planning.plan import Plan, Step, plan_text, write_plan
from tests.causes.disturbance import HERE, Workload, disturbances
from tests.causes.disturbing import NotDisturbedError, answering, classes_of, disturbing

QUIET = "quiet"
LEAST_QUIET = 7
"""Of a run: a lasting cause shows by comparison with other trials. The first one warms the servers, and
does not count."""


def carried_out(workload: Workload, kinds: Sequence[str], runs: Path, fresh: bool = False) -> Path:
    """The folder of a finished run with a trial of each of `kinds`, names of disturbances or QUIET. Resumes
    an unfinished one. InputError if that has other trials, or if the folder is below /tmp."""
    if runs.absolute().is_relative_to("/tmp"):
        remedy = "choose another one: containers get a /tmp of their own."
        raise InputError("the folder of the runs is below /tmp.", str(runs), remedy)
    run = _opened(workload, kinds, runs, fresh)
    known = disturbances()
    try:
        classes_of(run)
        for step in run.plan.steps:
            kind = kind_of(step.trial or "")
            try:
                with disturbing(run, step, known.get(kind)):
                    outcome = carry_out(run, step)
            except NotDisturbedError as error:  # a resumed run measures it again
                clear_trials(run, [str(step.trial)])
                print(f"{step.label}: {error}: {error.__cause__}", flush=True)
                continue
            if (step.kind, outcome.outcome) == ("up", "ok"):
                answering(run)
            print(f"{step.label}: {outcome.outcome} {outcome.message}".rstrip(), flush=True)
    finally:
        close_run(run)
        end_run(run, "ok", finished=not what_is_left(run))
    return run.root


def quiet_trials(asked: int, part: int, whole: int) -> int:
    """How many of the quiet trials belong to a run with `part` of `whole` disturbed trials."""
    return max(LEAST_QUIET, math.ceil(asked * part / whole))


def kind_of(trial: str) -> str:
    """The disturbance of a trial of this library, or QUIET: b1-v3-flash-durable-007-gc-pause."""
    _, _, rest = trial.partition("--")
    return rest.partition("-")[2]


def warms_up(trial: str) -> bool:
    """Whether it is the quiet trial that comes first: it is neither scored nor compared with."""
    return trial.partition("--")[2] == f"001-{QUIET}"


def _opened(workload: Workload, kinds: Sequence[str], runs: Path, fresh: bool) -> Run:
    run = open_run(HERE / f"{workload}.yaml", runs, request=RunRequest(fresh=fresh))
    trials = sorted(kind_of(str(step.trial)) for step in run.plan.trials)
    if trials == sorted(kinds):
        return run
    if (run.root / "disturbed.jsonl").exists():
        close_run(run)
        end_run(run, "ok", finished=False)
        raise InputError(
            "the unfinished run has other trials.", str(run.root), "finish it, or use --fresh."
        )
    plan = planned(run.plan, kinds)
    register(run.root, plan_text(plan))
    write_plan(plan, run.root / PLAN)
    (run.root / "disturbed.jsonl").touch()
    return replace(run, plan=plan)


def planned(plan: Plan, kinds: Sequence[str]) -> Plan:
    """One build with a trial of each kind, in random order. A quiet one comes first: it warms the servers up.

    All have one test case: of several, the one at a fixed rate.
    """
    up, *trials, down = (step for step in plan.steps if step.repetition == 1)
    like = max(trials, key=lambda step: bool(step.test_case and step.test_case.is_paced))
    order = list(kinds)
    Random(f"{plan.seed}/{len(order)}").shuffle(order)
    order.insert(0, order.pop(order.index(QUIET)))
    steps = [up, *(_trial(like, number, kind) for number, kind in enumerate(order, 1))]
    steps.append(down.model_copy(update={"index": len(steps)}))
    return plan.model_copy(update={"steps": tuple(steps)})


def _trial(like: Step, number: int, kind: str) -> Step:
    names = {"trial": f"{like.build}--{number:03d}-{kind}", "label": f"trial {number} {kind}"}
    return like.model_copy(update={"index": number, "order": number - 1, **names})


def disturbed(root: Path) -> dict[str, dict[str, float]]:
    """Of each trial of the run that was disturbed, when that was `begun` and `ended`, epoch seconds."""
    lines = map(json.loads, (root / "disturbed.jsonl").read_text(encoding="utf-8").splitlines())
    return {line.pop("trial"): line for line in lines if "begun" in line}
