"""The work of the tasks of DAG `capacity_plan`, as plain functions. Does not import Airflow."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.model.errors import InputError
from dags.airflow_home.home import project_root

log = logging.getLogger(__name__)


def runs(params: Mapping[str, Any], triggering: Sequence[str | None]) -> list[str]:
    """Folders of the runs to plan from, without duplicates. InputError if there is none."""
    named = [params["run"]] if params.get("run") else [run for run in triggering if run]
    if not named:
        raise InputError(
            "no run is named, and no run triggered this DAG run.",
            "capacity_plan",
            "set the parameter `run` to the folder of a run.",
        )
    return list(dict.fromkeys(str(project_root() / run) for run in named))


def plan(root: str, params: Mapping[str, Any]) -> str:
    """Write report/capacity-plan.json, and the report again. Returns the path of the plan."""
    from analysis.capacity.inputs.question import parse_promises, question
    from analysis.capacity.plan.plan import PLAN, Plan
    from analysis.capacity.sizing.run_plan import plan_run
    from jobs import pipeline

    run_root = Path(root)
    wanted = question(float(params["genomes_per_day"]), parse_promises(params["slo"]))
    found = plan_run(run_root, wanted, params["profile"], project_root() / params["hosts"])
    if isinstance(found, Plan):
        log.info("Plan: %d hosts of type %s", found.hosts, found.host_type)
    else:
        log.info("No plan fits: %s", "; ".join(found.reasons))
    pipeline.run_stage("report", run_root)
    return str(run_root / "report" / PLAN)
