"""A deep look is the smallest run of the study; what a step's clients were refused becomes its remedy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.execution import deep_check
from density_study.workloads.execution.deep_check import deep_checks, least
from density_study.workloads.execution.steps import StepOutcome
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import parse_study

STUDY = """
study: prod
provider: existing
existing: {configuration: /etc/hadoop, folder: /user/me/density, queue: nightly}
workloads:
  - testdfsio: {modes: [write, read], files: 40, file_size: 1 GiB}
  - ycsb: {records: [1_000_000], mixes: [load, a], threads: [64], latency_at: [500/s]}
slo: {read_p99: 20 ms}
repetitions: 5
"""


def plan_of(has_hadoop: bool = True) -> Any:
    study = parse_study(STUDY, "s.yaml", least("prod", has_hadoop)).study
    return make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))


def test_it_is_one_map_and_one_row_of_the_same_cluster() -> None:
    plan = plan_of()
    assert plan.study == "prod-deep" and len(plan.builds) == 1
    (topology,) = plan.topologies.values()
    assert topology.existing.queue == "nightly"
    assert {(case.workload, case.data_mib < 2) for step in plan.trials if (case := step.test_case)} == {
        ("ycsb", True), ("testdfsio", True)}  # fmt: skip
    assert {step.test_case.workload for step in plan_of(has_hadoop=False).trials} == {"ycsb"}


def test_a_study_that_builds_its_cluster_is_refused(tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(
        "study: s\nhosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]\n"
        "factors: {vms_per_host: [1]}\n"
        "workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]\n"
    )
    with pytest.raises(InputError, match="builds its own"):
        next(deep_checks(spec, tmp_path / "runs"))


def test_each_step_is_a_check_and_a_refusal_names_the_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is refused by the queue's ACL, as its client's error output says; the rest goes on."""
    plan, closed = plan_of(), []
    run: Any = SimpleNamespace(plan=plan, records=tmp_path)
    for step in plan.trials:
        errors = tmp_path / str(step.trial) / "raw"
        errors.mkdir(parents=True)
        if step.test_case.workload == "testdfsio":
            said = "User me does not have permission to submit application_1_1 to queue nightly"
            (errors / "testdfsio.err").write_text(f"INFO\n{said}\n\tat org.apache\n")

    def carried(_: Any, step: Any) -> StepOutcome:
        is_job = step.test_case is not None and step.test_case.workload == "testdfsio"
        return StepOutcome(step, "failed" if is_job else "ok", "testdfsio exited with 1" * is_job)

    monkeypatch.setattr(deep_check, "open_run", lambda *_: run)
    monkeypatch.setattr(deep_check, "carry_out", carried)
    monkeypatch.setattr(deep_check, "close_run", closed.append)
    monkeypatch.setattr(deep_check, "end_run", lambda *_: None)
    monkeypatch.setattr(deep_check, "remove_run", lambda _: None)
    run.root = tmp_path / "runs" / "prod-deep" / "20261126T000000Z"
    run.root.parent.mkdir(parents=True)  # as opening does
    spec = tmp_path / "s.yaml"
    spec.write_text(STUDY)
    found = list(deep_checks(spec, tmp_path / "runs"))
    assert [path.name for path in (tmp_path / "runs").iterdir()] == []
    assert len(found) == len(plan.steps) + 1 and found[-1].name == "nothing is left"
    (refused,) = [check for check in found if check.fault]
    assert "one map writes 1 MiB" in refused.name and refused.fault is not None
    assert refused.fault.remedy == (
        "let me submit to YARN's queue nightly, or name another one in existing.queue."
    )
    assert closed == [run]
