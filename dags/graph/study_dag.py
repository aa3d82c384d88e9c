"""`study_dag`: the DAG of one study.

    open ─► build 1 ─► build 2 ─► … ─► analysis ─► conclude
              │                            └─► regression
              └─ up ─► every trial ─► down

`open` is a setup and `conclude` its teardown: between them the run holds its hosts. `up` and `down` are setup
and teardown of one cluster. So Clear on a trial also clears these four, and Airflow runs `down` and
`conclude` whatever happens in between. Builds follow one another by their dependencies. The trials of a build
do not depend on one another, so that Clear on one does not clear the others; the DAG runs one task at a time,
by priority, and priorities follow the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, TaskGroup, TriggerRule

from density_study.cluster.model.plain import counted, escaped
from density_study.dags.notify.late import deadline
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.dags.stages.outline import BuildOutline, Outline, TrialOutline
from density_study.dags.stages.task_names import ANALYSIS, TRIALS, build_group, dag_id, trial_task
from density_study.dags.tasks import study_tasks as tasks
from density_study.dags.tasks.own_process import own_process
from density_study.dags.tasks.params import study_params
from density_study.dags.tasks.study_tasks import ROOT
from density_study.workloads.base.quantity import duration

SLACK = 5.0
LEAST = timedelta(minutes=30)
"""A task is stopped this much after its own timeouts; a bring-up, after SLACK times its estimate."""
ANALYSIS_LIMIT = timedelta(hours=6)

OPERATING = """
**Clear** on a trial builds its cluster again, measures that trial as a new attempt, takes the cluster down
and analyses the run again. The earlier record stays in `records.superseded/`, outside the numbers. Clear on a
group repeats that build. With *Downstream* ticked, later builds are cleared too; they keep their records and
are shown as skipped. Clear of the whole DAG run resumes an unfinished run, else it starts a new one.

**Mark failed** (or success) on the DAG run stops the run: its cluster is taken down and the run ends as
failed. Trigger the study again to resume it. A single task that is marked by hand is not measured; its trial
is left.

Nothing that measures is retried. The analysis is, twice.
"""


def study_dag(outline: Outline, spec: Path, runs: str, run: str = "") -> DAG:
    """The DAG of the study in `spec`. `run`: folder of a run that is open already, for `study run`."""
    dag = DAG(
        dag_id=dag_id(outline.study),
        schedule=[Asset(outline.asset)] if outline.asset else outline.cron,
        params=study_params(fresh=bool(outline.asset or outline.cron)),
        max_active_runs=1,
        max_active_tasks=1,
        catchup=False,
        tags=sorted({"study", outline.provider, *outline.workloads}),
        description=outline.question or f"The study {outline.study}.",
        doc_md=_about(outline),
        default_args={
            "retries": 0,
            "weight_rule": "absolute",
            "pre_execute": own_process,
            **({"queue": outline.queue} if outline.queue else {}),
        },
        deadline=deadline(str(spec), outline.estimate_s + ANALYSIS_ESTIMATE_S)
        if outline.reports_late_runs
        and not run  # no scheduler looks at the deadlines of `study run`
        else None,
    )
    first = 2 * len(outline.builds) + outline.trials + len(tasks.STAGES) + 3
    weights = count(first, -1)  # the highest comes first
    with dag:
        opened = tasks.open_run.override(
            poke_interval=tasks.LOOK_FOR_HOST_EVERY_S,
            priority_weight=next(weights),
            execution_timeout=LEAST,
        )(spec=str(spec), runs=runs, steps=outline.steps, run=run).as_setup()
        last = opened
        for standing in _at_once(outline.builds):
            last = _builds(outline, standing, last, last is opened, weights)
        reported = _analysis(last, weights)
        concluded = tasks.conclude.override(
            priority_weight=next(weights),
            execution_timeout=None if run else ANALYSIS_LIMIT,  # `study run --keep` may take days
        )(ROOT)
        reported >> concluded.as_teardown(setups=opened, on_failure_fail_dagrun=True)
        if outline.compared:
            reported >> tasks.regression.override(execution_timeout=ANALYSIS_LIMIT)(ROOT)
    return dag


def _at_once(builds: Sequence[BuildOutline]) -> Iterator[tuple[BuildOutline, ...]]:
    """Builds one at a time, and those of a duet together."""
    by_name = {build.build: build for build in builds}
    for build in builds:
        if build.build in by_name:
            standing = [by_name.pop(name) for name in (build.build, build.beside) if name]
            yield tuple(standing)


def _builds(
    outline: Outline,
    standing: Sequence[BuildOutline],
    before: Any,
    is_first: bool,
    weights: Iterator[int],
) -> Any:
    """A group for each build: up, the trials, down. They follow the task `before`, whatever became of that.
    Of a duet, trials begin once both builds are up."""
    groups = [TaskGroup(build_group(build.build), tooltip=build.label) for build in standing]
    limit = _limit(outline, SLACK * outline.up_estimate_s)
    ups: list[Any] = []
    trials: list[Any] = []
    last = before
    for build, group in zip(standing, groups, strict=True):
        # Behind a setup, which `open` and `up` are, only all_success is allowed: after a fault, nothing runs.
        rule = TriggerRule.ALL_SUCCESS if is_first or ups else TriggerRule.ALL_DONE
        with group:
            up = tasks.up.override(
                poke_interval=tasks.LOOK_FOR_TURN_EVERY_S,
                trigger_rule=rule,
                priority_weight=next(weights),
                execution_timeout=limit,
            )(ROOT, build.build)
        last >> up
        last = up
        ups.append(up)
    for build, group in zip(standing, groups, strict=True):
        with group:
            trials += _trials(outline, build, weights)
    last >> trials
    last = trials
    for build, group, up in zip(standing, groups, ups, strict=True):
        with group:
            down = tasks.down.override(priority_weight=next(weights), execution_timeout=limit)(
                ROOT, build.build
            )
        last >> down.as_teardown(setups=up, on_failure_fail_dagrun=True)
        last = down
    return last


def _trials(outline: Outline, build: BuildOutline, weights: Iterator[int]) -> list[Any]:
    if outline.is_mapped:
        longest_s = max((trial.limit_s for trial in build.trials), default=0.0)
        return [
            tasks.trial.override(
                task_id=TRIALS,
                map_index_template="{{ step | default(task.op_kwargs['trial'], true) }}",
                priority_weight=next(weights),
                execution_timeout=_limit(outline, longest_s),
            )
            .partial(root=ROOT)
            .expand(trial=[trial.trial for trial in build.trials])
        ]
    return [
        tasks.trial.override(
            task_id=trial_task(build.build, trial.trial),
            priority_weight=next(weights),
            execution_timeout=_limit(outline, trial.limit_s),
            doc_md=_about_trial(trial),
        )(ROOT, trial.trial)
        for trial in build.trials
    ]


def _analysis(before: Any, weights: Iterator[int]) -> Any:
    with TaskGroup(ANALYSIS, tooltip="From the records to the report"):
        last = before
        for stage in tasks.STAGES:
            made = stage.override(priority_weight=next(weights), execution_timeout=ANALYSIS_LIMIT)(
                ROOT
            )
            last >> made
            last = made
    return last


def _limit(outline: Outline, limit_s: float) -> timedelta:
    return outline.slowest * (LEAST + timedelta(seconds=limit_s))


def _about(outline: Outline) -> str:
    rows = "\n".join(
        f"| `{build.build}` | {escaped(build.label)} | {len(build.trials)} "
        f"| {duration(_estimate_s(outline, build))} |"
        for build in outline.builds
    )
    return (
        f"{escaped(outline.question) or f'The study {outline.study}.'}\n\n"
        f"{counted(outline.trials, 'trial')} on {counted(len(outline.builds), 'build')}, about "
        f"{duration(outline.estimate_s)}.\n\n"
        f"| build | cluster | trials | about |\n|---|---|---|---|\n{rows}\n{OPERATING}"
    )


def _estimate_s(outline: Outline, build: BuildOutline) -> float:
    return outline.up_estimate_s + sum(trial.estimate_s for trial in build.trials)


def _about_trial(trial: TrialOutline) -> str:
    rows = "\n".join(
        f"| {escaped(key)} | {escaped(value)} |" for key, value in trial.parameters.items()
    )
    return (
        f"**{escaped(trial.label)}**, about {duration(trial.estimate_s)}. Record: `records/{trial.trial}`\n\n"
        f"| parameter | value |\n|---|---|\n{rows}\n"
    )
