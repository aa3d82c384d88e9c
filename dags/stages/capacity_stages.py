"""What the tasks of the DAG `capacity_plan` do, as plain functions. No Airflow in here."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster.model.errors import InputError
from dags.airflow_home.home import project_root

log = logging.getLogger(__name__)


def runs(params: Mapping[str, Any], triggering: Sequence[str | None]) -> list[str]:
    """Folders of the runs to plan on, each once. InputError if there is none."""
    named = [params["run"]] if params.get("run") else [run for run in triggering if run]
    if not named:
        raise InputError(
            "no run is named, and none triggered this.",
            "capacity_plan",
            "give `run` the run's folder.",
        )
    return list(dict.fromkeys(str(project_root() / run) for run in named))


def plan(root: str, params: Mapping[str, Any]) -> str:
    """Write report/capacity-plan.json and the report again. Returns the path of the plan."""
    from analysis.capacity.inputs.question import parse_promises, question
    from analysis.capacity.plan.plan import PLAN, Plan
    from analysis.capacity.sizing.run_plan import plan_run
    from jobs import pipeline

    run_root = Path(root)
    asked = question(float(params["genomes_per_day"]), parse_promises(params["slo"]))
    found = plan_run(run_root, asked, params["profile"], project_root() / params["hosts"])
    if isinstance(found, Plan):
        log.info("%d hosts of type %s", found.hosts, found.host_type)
    else:
        log.info("no plan: %s", "; ".join(found.reasons))
    pipeline.run_stage("report", run_root)
    return str(run_root / "report" / PLAN)
