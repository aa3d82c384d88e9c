"""A study carried out step by step in this process, up to its records: no Airflow, no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records


@contextmanager
def measured(spec: Path, runs: Path) -> Iterator[tuple[Run, dict[str, Manifest]]]:
    """The run after all its steps, and its manifests by trial. Nothing of it is left running."""
    run = open_run(spec, runs)
    try:
        for step in run.plan.steps:
            ended = carry_out(run, step)
            assert ended.outcome == "ok", f"{step.label}: {ended.message}"
        yield run, closed_records(run.records)
    finally:
        close_run(run)
        end_run(run, "ok")
