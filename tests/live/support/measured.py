"""A study carried out step by step in this process, up to its records: no Airflow, no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.output.summary import (
    OperationCount,
    operation_counts,
    parse_summary,
)

Measured = tuple[Run, dict[str, Manifest]]


@contextmanager
def measured(spec: Path, runs: Path) -> Iterator[Measured]:
    """The run after all its steps, and its manifests by trial. Nothing of it is left running. Its lease is
    its own: a developer's running study is not disturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DENSITY_STUDY_RUNTIME", str(runs / ".runtime"))
        run = open_run(spec, runs)
        try:
            for step in run.plan.steps:
                ended = carry_out(run, step)
                assert ended.outcome == "ok", f"{step.label}: {ended.message}"
            yield run, closed_records(run.records)
        finally:
            close_run(run)
            end_run(run, "ok")


def raw_of_only(done: Measured) -> Path:
    """The files of the run's only trial, which is complete."""
    run, manifests = done
    (trial,) = manifests
    assert (manifests[trial].state, manifests[trial].reasons) == ("complete", ())
    return run.records / trial / "raw"


def operations_of(run: Run, trial: str) -> dict[str, OperationCount]:
    """What YCSB's client counted, by operation."""
    out = next((run.records / trial / "raw").glob("*.out"))
    return operation_counts(parse_summary(out.read_bytes(), out.name).rows)
