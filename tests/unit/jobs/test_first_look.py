"""The first look at a record. That its numbers equal those of the analysis: tests/spark/checks."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.jobs.facts.trial import trial_facts
from density_study.jobs.first_look.look import FirstLook, first_look
from density_study.jobs.first_look.test_cases_so_far import test_cases_so_far as so_far
from density_study.workloads.planning.plan import read_plan
from density_study.workloads.record.record import read_manifest
from density_study.workloads.rows.record_rows import record_rows
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import MIB, Truth

BUILD = "b1-v1-flash"


def looked(factory: RunFactory, truth: Truth) -> FirstLook:
    return first_look(factory.close() / "records" / truth.trial)


@pytest.fixture
def factory(tmp_path: Path) -> RunFactory:
    return RunFactory(tmp_path / RUN)


def test_a_sound_ycsb_trial_has_rate_p99_and_cpu(factory: RunFactory) -> None:
    seen = looked(factory, factory.ycsb(BUILD, rate=700))
    assert (seen.verdict, seen.reasons, seen.rate_unit) == ("valid", (), "ops/s")
    assert seen.rate == pytest.approx(700, rel=0.02)
    assert seen.p99_ms is not None and 1 < seen.p99_ms < 20
    assert seen.p99_of in ("READ, closed-loop", "INSERT, closed-loop")
    assert seen.cpu_used_percent is not None and 4 <= seen.cpu_used_percent <= 24
    assert seen.cpu_iowait_percent is not None and 1 <= seen.cpu_iowait_percent <= 20


def test_a_sound_testdfsio_trial_has_the_rate_of_the_map_phase(factory: RunFactory) -> None:
    truth = factory.dfsio(BUILD, "read")
    seen = looked(factory, truth)
    map_phase_s = max(end for _, end in truth.maps) - min(begin for begin, _ in truth.maps)
    assert (seen.verdict, seen.rate_unit, seen.p99_ms) == ("valid", "MiB/s", None)
    assert seen.rate == pytest.approx(6 * 64 / map_phase_s, rel=1e-3)


@pytest.mark.parametrize(("unwritten", "flagged"), [(19 * MIB, False), (20 * MIB, True)])
def test_a_write_that_ends_in_memory_is_flagged(
    factory: RunFactory, unwritten: int, flagged: bool
) -> None:
    truth = factory.dfsio(BUILD, "write")  # 384 MiB
    truth.state_after = {"unwritten": {"bytes": unwritten, "write_out_s": 3.0}}
    seen = looked(factory, truth)
    assert seen.verdict == "valid"
    assert any("still in memory" in flag for flag in seen.flags) == flagged


@pytest.mark.parametrize(
    ("backward_ms", "counted"), [(2100, {"random", "backward"}), (3000, set())]
)
def test_reads_that_disagree_do_not_decide_when_a_run_ends(
    factory: RunFactory, backward_ms: int, counted: set[str]
) -> None:
    """The analysis does not count them either: each is sound by itself, and caching is suspected."""
    for mode, ms in (("random", 2000), ("backward", backward_ms)):
        truth = factory.dfsio(BUILD, mode)
        truth.streams = [(size, ms) for size, _ in truth.streams]
    records = factory.close() / "records"
    plan = read_plan(records.parent / "plan.json")
    study = SimpleNamespace(test_cases=lambda: [one.test_case for one in factory.truths])
    run: Any = SimpleNamespace(records=records, plan=plan, study=study)
    assert {entry.mode for entry in so_far(run)} == counted


def test_failed_operations_make_it_invalid(factory: RunFactory) -> None:
    truth = factory.ycsb(BUILD)
    truth.returns["READ"]["ERROR"] = 3
    seen = looked(factory, truth)
    assert seen.verdict == "invalid"
    assert seen.reasons == ("3 operations failed, according to their Return counts",)


def test_a_missing_file_makes_it_unknown(factory: RunFactory) -> None:
    truth = factory.ycsb(BUILD)
    record = factory.close() / "records" / truth.trial
    (record / "raw" / "ycsb-1.out").unlink()
    seen = first_look(record)
    assert seen.verdict == "unknown"
    assert any("missing from the record" in reason for reason in seen.reasons)


@pytest.mark.parametrize("content", [None, "{", "{}", '{"format": 1}'])
def test_a_damaged_record_is_unknown_with_its_reason(
    factory: RunFactory, content: str | None
) -> None:
    truth = factory.ycsb(BUILD)
    manifest = factory.close() / "records" / truth.trial / "manifest.json"
    manifest.unlink()
    if content is not None:
        manifest.write_text(content)
    seen = first_look(manifest.parent)
    assert (seen.verdict, seen.rate) == ("unknown", None)
    assert seen.reasons[0].startswith("the record cannot be read: ")


@pytest.mark.parametrize("kind", ["pressure", "disks", "gc"])
def test_a_bad_line_of_a_device_is_a_missing_sample(factory: RunFactory, kind: str) -> None:
    """As in the analysis: else the rule that ends the repetitions would see other trials than the report."""
    truth = factory.ycsb(BUILD)
    record = factory.close() / "records" / truth.trial
    path = record / "manifest.json"
    manifest = json.loads(path.read_text())
    dool = next(one for one in manifest["monitors"] if one["kind"] == "dool")
    manifest["monitors"].append({**dool, "kind": kind, "file": f"monitor/here.{kind}.csv"})
    path.write_text(json.dumps(manifest))
    device = (record / dool["file"]).with_name(f"here.{kind}.csv")
    device.write_text("epoch_s,no,line\n1,2\n")
    seen = trial_facts(record_rows(read_manifest(record), record)).checks
    assert (seen["result_lines_quarantined"], seen["sample_lines_quarantined"]) == (0, 1)


def test_compactions_and_splits_are_no_flaw_of_a_trial_with_an_act_or_a_fault(
    factory: RunFactory,
) -> None:
    truth = factory.ycsb(BUILD)
    record = factory.close() / "records" / truth.trial
    rows = record_rows(read_manifest(record), record)
    rows.trial.update(compactions=2, splits=1)
    assert trial_facts(rows).checks["background_work"] == 3
    rows.trial.update(fault="split", fault_s=5.0)
    assert trial_facts(rows).checks["background_work"] is None
