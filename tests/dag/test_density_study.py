"""The DAG in process: order, outcomes, guards. scenarios.py executes the runs, once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dags.airflow_home.home import Home, project_root

pytestmark = pytest.mark.dag
ANALYSIS = ["ingest", "metrics", "verdicts", "series", "report"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("scenarios")
    from tests.dag.scenarios import SCENARIOS

    for name in SCENARIOS:
        (folder / name).mkdir()
    argv = [sys.executable, "-m", "tests.dag.scenarios", str(folder)]
    ended = subprocess.run(argv, capture_output=True, text=True, cwd=project_root(), check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    value: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return value


def states(results: dict[str, Any]) -> dict[str, str]:
    return {task: state for task, index, _, state in results["rows"] if index == -1}


def steps(results: dict[str, Any]) -> list[tuple[str, str]]:
    return [(label, state) for task, _, label, state in results["rows"] if task == "step"]


def test_the_plans_order_is_executed_though_slots_are_handed_out_in_reverse(
    results: dict[str, Any],
) -> None:
    run = results["all well"]
    assert run["order"] == [*run["plan"], *ANALYSIS]
    by_slot = [label for label, _ in steps(run)]
    assert by_slot != run["plan"], "the slots were handed out in order: nothing was proved"


def test_every_step_is_a_row_named_after_its_action(results: dict[str, Any]) -> None:
    run = results["all well"]
    assert sorted(label for label, _ in steps(run)) == sorted(run["plan"])
    assert {state for _, state in steps(run)} == {"success"}


def test_a_run_without_faults_succeeds_and_leaves_nothing_behind(results: dict[str, Any]) -> None:
    run = results["all well"]
    assert (run["state"], run["ended"], run["standing"]) == ("success", True, [])


def test_a_failed_bring_up_skips_its_trials_and_the_next_build_continues(
    results: dict[str, Any],
) -> None:
    run = results["bring-up fails"]
    outcome = dict(steps(run))
    first = [label for label in run["plan"] if "b1-v1" in label]
    assert outcome[first[0]] == "failed"
    assert {outcome[label] for label in first[1:-1]} == {"skipped"}
    assert {state for label, state in outcome.items() if "b1-v2" in label} == {"success"}


def test_a_half_built_cluster_is_torn_down_before_the_next_is_built(
    results: dict[str, Any],
) -> None:
    order = results["bring-up fails"]["order"]
    assert order.index("down b1-v1-flash") == order.index("up b1-v1-flash") + 1
    assert order.index("down b1-v1-flash") < order.index("up b1-v2-flash")


def test_a_failed_bring_up_fails_the_run_but_the_report_is_written(results: dict[str, Any]) -> None:
    run = results["bring-up fails"]
    assert run["state"] == "failed"
    assert states(run) == {
        **dict.fromkeys(("open_run", "slots", "tear_down", *ANALYSIS), "success"),
        "conclude": "failed",
    }


def test_a_failed_trial_is_red_not_repeated_and_fails_the_run(results: dict[str, Any]) -> None:
    run = results["trial fails"]
    label = "trial b1-v1-flash testdfsio-write-n2"
    assert dict(steps(run))[label] == "failed"
    assert run["order"] == [*run["plan"], *ANALYSIS], "one attempt, and the rest goes on"
    assert (run["state"], states(run)["conclude"]) == ("failed", "failed")


def test_a_failed_tear_down_fails_the_run_after_a_second_attempt(results: dict[str, Any]) -> None:
    run = results["tear-down fails"]
    assert run["order"].count("down b1-v2-flash") == 2, "the step, then the guard"
    assert states(run)["tear_down"] == "failed"
    assert not run["ended"], "the host is not given to others before it is clear"
    assert run["state"] == "failed"
    assert states(run)["report"] == "success"


def test_a_failed_analysis_fails_the_run(results: dict[str, Any]) -> None:
    run = results["analysis fails"]
    assert states(run)["series"] == "failed"
    assert states(run)["report"] == "upstream_failed"
    assert (run["state"], states(run)["conclude"]) == ("failed", "failed")


def test_bad_input_starts_nothing(results: dict[str, Any]) -> None:
    run = results["bad input"]
    assert run["state"] == "failed"
    assert states(run).pop("open_run") == "failed"
    assert {state for task, state in states(run).items() if task != "open_run"} == {
        "upstream_failed"
    }


def test_params_outside_their_schema_are_refused(results: dict[str, Any]) -> None:
    assert "overrides" in results["bad params"]
    assert "is not of type 'object'" in results["bad params"]


def test_the_dags_folder_contains_the_dag_and_imports_without_errors(tmp_path: Path) -> None:
    """As Airflow's dag-processor sees it: .airflowignore, the file, the params' schema."""
    code = (
        "import json\n"
        "from dags.airflow_home.home import home, migrate_once\n"
        "migrate_once(home().command_database)\n"
        "from airflow.dag_processing.dagbag import DagBag\n"
        "bag = DagBag()\n"
        "dag = bag.dags.get('density_study')\n"
        "files = [stat.file for stat in bag.dagbag_stats]\n"
        "step = dag.get_task('step')\n"
        "print(json.dumps([list(bag.dags), bag.import_errors, files, dag.max_active_runs,\n"
        "    dag.params.validate(), {k: p.schema for k, p in dag.params.items()},\n"
        "    step.max_active_tis_per_dagrun, step.retries]))\n"
    )
    environment = Home(tmp_path / "airflow", project_root()).command_environment()
    argv = [sys.executable, "-c", code]
    ended = subprocess.run(
        argv, capture_output=True, text=True, env={**environment}, cwd=tmp_path, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    dags, errors, files, active_runs, params, schema, at_once, retries = json.loads(
        ended.stdout.splitlines()[-1]
    )
    assert (sorted(dags), errors) == (["capacity_plan", "density_study", "reap_clusters"], {})
    assert sorted(Path(file).name for file in files) == [
        "capacity_plan.py",
        "density_study.py",
        "reap_clusters.py",
        "scheduled.py",
    ]
    assert (active_runs, at_once, retries) == (1, 1, 0)
    assert params["spec"] in schema["spec"]["examples"]
    assert {key: bool(each.get("title")) for key, each in schema.items()} == dict.fromkeys(
        ("spec", "overrides", "fresh", "add_repetitions", "only", "runs", "run"), True
    )


def test_reap_clusters_runs_alone_and_removes_remains_of_a_killed_run(
    results: dict[str, Any],
) -> None:
    reap = results["reap"]
    assert reap["schedule"] == "@hourly"
    assert reap["states"] == ["success", "success"]
    assert reap["alive_after_look"] is True
    assert reap["exit"] == -15
    assert reap["refused"] == "failed", "an unknown key in the conf"
