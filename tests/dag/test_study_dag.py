"""A study's DAG in process: order, outcomes, guards. scenarios.py executes the runs, once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from density_study.dags.airflow_home.home import Home, project_root
from density_study.dags.stages.task_names import trial_task
from density_study.jobs.stage_names import STAGE_NAMES
from tests.dag.backend import SMALL
from tests.dag.furnished import furnish

pytestmark = pytest.mark.dag
PARSED_WITHIN_S = 0.3
"""CPU time for the DAG of one study, whose outline is cached. Hosts that measure pay it every minute."""
ANALYSIS = [f"analysis.{stage}" for stage in STAGE_NAMES]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scenarios")
    return ended(folder, "all-well", "bring-up-fails", "analysis-fails", "duet")


@pytest.fixture(scope="module")
def rare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Each scenario takes some 9 s of processor time."""
    folder = tmp_path_factory.mktemp("rare-scenarios")
    return ended(folder, "mapped", "trial-fails", "tear-down-fails")


def ended(folder: Path, *names: str) -> dict[str, Any]:
    furnish(folder / "airflow")
    argv = [sys.executable, "-m", "tests.dag.scenarios", str(folder), *names]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    value: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return value


def labels(run: dict[str, Any]) -> list[str]:
    return [label for _, _, label, _ in run["plan"]]


def task_of(kind: str, build: str, trial: str | None) -> str:
    return f"{build}.{trial_task(build, trial) if trial else kind}"


def outcomes(run: dict[str, Any]) -> dict[str, str]:
    """State of each step, by its label."""
    return {
        label: run["rows"][task_of(kind, build, trial)] for kind, build, label, trial in run["plan"]
    }


@pytest.mark.parametrize(
    ("name", "of"),
    [("all-well", "results"), pytest.param("mapped", "rare", marks=pytest.mark.slow)],
)
def test_the_plans_order_is_executed_though_the_last_task_starts_first(
    name: str, of: str, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(of)[name]
    assert run["order"] == [*labels(run), *STAGE_NAMES]
    assert (run["state"], run["ended"], run["standing"]) == ("success", True, [])
    assert set(run["rows"].values()) == {"success"}


def test_both_clusters_of_a_duet_are_up_while_its_trials_run(results: dict[str, Any]) -> None:
    """Of the second repetition, one trial fails: the other task of its pair is not affected."""
    run = results["duet"]
    assert run["order"] == [*labels(run), *STAGE_NAMES]
    kinds = [kind for kind, *_ in run["plan"]]
    assert kinds == 2 * ["up", "up", *4 * ["trial"], "down", "down"]
    states = outcomes(run)
    assert states.pop("trial b2-v1-flash-a ycsb-c-r1000-t1") == "failed"
    assert set(states.values()) == {"success"}
    assert (run["state"], run["ended"], run["standing"]) == ("failed", True, [])


def test_every_step_is_a_task_named_after_its_action(results: dict[str, Any]) -> None:
    run = results["all-well"]
    steps = {task_of(kind, build, trial) for kind, build, _, trial in run["plan"]}
    assert set(run["rows"]) == {"open", *steps, *ANALYSIS, "conclude"}
    assert "b1-v1-flash.up" in steps
    assert any(task.endswith("testdfsio-write-n2") for task in steps)


@pytest.mark.slow
def test_a_study_with_many_trials_has_a_mapped_task_per_build(rare: dict[str, Any]) -> None:
    run = rare["mapped"]
    assert {task for task in run["rows"] if task.startswith("b1-v1-flash.")} == {
        "b1-v1-flash.up",
        *(f"b1-v1-flash.trials[{n}]" for n in range(5)),
        "b1-v1-flash.down",
    }


def test_a_failed_bring_up_fails_its_trials_and_the_next_build_continues(
    results: dict[str, Any],
) -> None:
    run = results["bring-up-fails"]
    outcome = outcomes(run)
    assert outcome["up b1-v1-flash"] == "failed"
    rest = {s for label, s in outcome.items() if "b1-v1" in label and label != "up b1-v1-flash"}
    assert rest == {"upstream_failed"}
    assert {state for label, state in outcome.items() if "b1-v2" in label} == {"success"}


def test_a_half_built_cluster_is_torn_down_before_the_next_is_built(
    results: dict[str, Any],
) -> None:
    order = results["bring-up-fails"]["order"]
    assert order.index("down b1-v1-flash") == order.index("up b1-v1-flash") + 1
    assert order.index("down b1-v1-flash") < order.index("up b1-v2-flash")


def test_a_failed_bring_up_fails_the_run_but_the_report_is_written(results: dict[str, Any]) -> None:
    run = results["bring-up-fails"]
    assert run["state"] == "failed"
    assert {run["rows"][task] for task in ("open", *ANALYSIS)} == {"success"}
    assert run["rows"]["conclude"] == "failed"


@pytest.mark.slow
def test_a_failed_trial_is_red_not_repeated_and_fails_the_run(rare: dict[str, Any]) -> None:
    run = rare["trial-fails"]
    label = "trial b1-v1-flash testdfsio-write-n2"
    assert outcomes(run)[label] == "failed"
    assert {state for other, state in outcomes(run).items() if other != label} == {"success"}
    assert run["order"] == [*labels(run), *STAGE_NAMES], "one attempt, and the rest goes on"
    assert (run["state"], run["rows"]["conclude"]) == ("failed", "failed")


@pytest.mark.slow
def test_a_failed_tear_down_fails_the_run_after_a_second_attempt(rare: dict[str, Any]) -> None:
    run = rare["tear-down-fails"]
    failing = run["order"].count("down b1-v2-flash")
    assert failing >= 2, "the task, then `conclude`"
    assert run["rows"]["b1-v2-flash.down"] == "failed"
    assert not run["ended"], "the host is not given to others before it is clear"
    assert run["state"] == "failed"
    assert run["rows"]["analysis.report"] == "success"


def test_a_failed_analysis_is_retried_twice_and_fails_the_run(results: dict[str, Any]) -> None:
    run = results["analysis-fails"]
    assert run["rows"]["analysis.series"] == "failed"
    assert run["rows"]["analysis.report"] == "upstream_failed"
    assert run["order"].count("series") == 3
    assert (run["state"], run["rows"]["conclude"]) == ("failed", "failed")


def test_a_misspelt_key_starts_nothing(results: dict[str, Any]) -> None:
    run = results["bad conf"]
    assert (run["state"], run["runs"]) == ("failed", 1)
    assert run["rows"].pop("open") == "failed"
    assert set(run["rows"].values()) == {"upstream_failed"}


def test_params_outside_their_schema_are_refused(results: dict[str, Any]) -> None:
    assert "fresh" in results["bad params"]
    assert "is not of type 'boolean'" in results["bad params"]


def test_the_dags_folder_holds_a_dag_per_study_and_imports_without_errors(tmp_path: Path) -> None:
    """As Airflow's dag-processor sees it: .airflowignore, the files, the params' schema."""
    code = (
        "import json, time\n"
        "from density_study.dags.airflow_home.home import home, migrate_once\n"
        "from airflow.dag_processing.dagbag import DagBag\n"
        "bag = DagBag()\n"
        "from density_study.dags.graph.catalogue import study_files, read_outline\n"
        "from density_study.dags.graph.study_dag import study_dag\n"
        "cost_s = {}\n"
        "for study in study_files():\n"
        "    before = time.process_time()\n"
        "    study_dag(read_outline(study.path).outline, study.path, 'runs')\n"
        "    cost_s[study.path.stem] = time.process_time() - before\n"
        "dag = bag.dags['study_quickstart']\n"
        "retries = {t.task_id.rpartition('.')[2]: t.retries for t in dag.tasks}\n"
        "limits = [t.execution_timeout is not None for t in dag.tasks]\n"
        "docs = [t.doc_md for t in dag.tasks]\n"
        "print(json.dumps([list(bag.dags), bag.import_errors,\n"
        "    [stat.file for stat in bag.dagbag_stats], dag.max_active_runs, dag.max_active_tasks,\n"
        "    {k: p.schema for k, p in dag.params.items()}, retries, limits, docs, dag.doc_md,\n"
        "    {name: len(dag.tasks) for name, dag in bag.dags.items()}, cost_s]))\n"
    )
    environment = Home(tmp_path / "airflow", project_root()).command_environment()
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(
        argv, capture_output=True, text=True, env={**environment}, cwd=tmp_path, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout.splitlines()[-1])
    dags, errors, files, runs, at_once, schema, retries, limits, docs, about, tasks, cost_s = found
    shipped = (project_root() / "workloads" / "studies").glob("*.yaml")
    studies = [f"study_{path.stem}" for path in shipped]
    assert (set(dags), errors) == ({"capacity_plan", "reap_clusters", *studies}, {})
    assert sorted(Path(file).name for file in files) == [
        "capacity_plan.py",
        "invalid_studies.py",
        "reap_clusters.py",
        "studies.py",
    ]
    assert (runs, at_once) == (1, 1)
    assert {key: each["title"] for key, each in schema.items()} == {"fresh": "Start a new run"}
    assert {task: n for task, n in retries.items() if n} == dict.fromkeys(STAGE_NAMES, 2)
    assert tasks["study_talk-2013"] == 3 * 50 + len(STAGE_NAMES) + 2, (
        "more than 200 trials are one mapped task in each of 50 builds"
    )
    assert len(cost_s) == len(studies)
    assert max(cost_s.values()) < PARSED_WITHIN_S, cost_s
    assert all(limits)
    assert all(docs)
    assert "6 trials on 2 builds" in about
    assert "`b1-v2-flash`" in about
    trial = next(doc for doc in docs if "TestDFSIO write" in doc)
    assert "| files | 2 |" in trial


def test_reap_clusters_runs_alone_and_removes_remains_of_a_killed_run(
    results: dict[str, Any],
) -> None:
    reap = results["reap"]
    assert (reap["schedule"], reap["retries"]) == ("@hourly", 2)
    assert reap["states"] == ["success", "success"]
    assert reap["alive_after_look"] is True
    assert reap["exit"] == -15


def test_texts_of_a_study_are_plain_text_on_airflows_pages(airflow: None) -> None:
    """Its pages show Markdown: an image would load from another host, a link lead there."""
    from density_study.dags.graph.study_dag import _about, _about_trial
    from density_study.dags.stages.outline import BuildOutline, Outline, TrialOutline

    evil = "![x](http://192.0.2.1/a.png) <img src=http://192.0.2.1/b> [a](javascript:x)\n\n# b | c"
    trial = TrialOutline("t", evil, 1.0, 1.0, {evil: evil})
    build = BuildOutline("b1", evil, (trial,))
    outline = Outline(
        "s", evil, "local", (), None, None, None, False, False, 1.0, 1.0, 1.0, (build,)
    )
    for page in (_about(outline), _about_trial(trial)):
        assert "http" in page
        meant = re.sub(r"\\.", "", page)  # without what is escaped
        assert not [mark for mark in ("![", "](", "<", "\n# b") if mark in meant]
        assert {line.count("|") for line in meant.splitlines() if line.startswith("|")} <= {3, 5}


@pytest.mark.parametrize(("key", "queue"), [("", "default"), ("queue: rack-1\n", "rack-1")])
def test_the_queue_of_a_study_is_that_of_all_its_tasks(
    airflow: None, tmp_path: Path, key: str, queue: str
) -> None:
    """So one worker can carry out the whole study."""
    from density_study.dags.graph.catalogue import read_outline
    from density_study.dags.graph.study_dag import study_dag

    path = tmp_path / "small.yaml"
    path.write_text(SMALL + key)
    dag = study_dag(read_outline(path).outline, path, "runs")
    assert (len(dag.tasks), {task.queue for task in dag.tasks}) == (15, {queue})
