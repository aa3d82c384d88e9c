"""TeraSort: what a study may say, the three jobs' arguments, what verifies a sort, and its numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.planning.plan import Plan
from density_study.workloads.terasort.facts import facts
from density_study.workloads.terasort.job import (
    generate_arguments,
    sort_arguments,
    validate_arguments,
)
from density_study.workloads.terasort.tables import job_rows
from density_study.workloads.terasort.test_case import TeraSortTestCase
from density_study.workloads.terasort.validation import CHECKSUM, order_faults, parse_validation
from density_study.workloads.testdfsio.output.history import JobHistory, parse_history
from tests.support.drafts import plan, study
from tests.support.topologies import local
from tests.unit.facts.made_rows import made_rows

SAMPLES = Path(__file__).parents[3] / "samples"
SORT = TeraSortTestCase(size_mib=100, files=4, reduces=3)
MADE = JobHistory("job_1", "TeraGen", 1, counters={CHECKSUM: 0x1234})


def planned(**keys: Any) -> Plan:
    given = {"size": "1 GiB", "files": 4, "reduces": [2, 6], **keys}
    return plan(workloads=[{"terasort": given}])


def test_one_trial_for_each_number_of_reduces_which_share_their_rows() -> None:
    cases = [step.test_case for step in planned().trials]
    assert {one.id for one in cases} == {"terasort-1024m-n4-r2", "terasort-1024m-n4-r6"}
    assert {one.prepared for one in cases} == {"terasort-n4-1024m"}
    assert {one.needs_stacks for one in cases} == {("hadoop-examples",)}
    (copied,) = {one.test_case.id for one in planned(reduces=[2], output_copies=3).trials}
    assert copied == "terasort-1024m-n4-r2-c3"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"reduces": []}, "give 1 or more values"),
        ({"reduces": [0]}, "it must be 1 or more"),
        ({"size": 100}, "has no unit"),
        ({"files": 10**6}, "exceeds the maximum"),
        ({"output_copies": 0}, "it must be 1 or more"),
    ],
)
def test_a_wrong_value_is_named(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        study(workloads=[{"terasort": {"size": "1 GiB", "files": 4, "reduces": [2], **keys}}])


def test_arguments_name_everything_that_the_tools_would_choose_otherwise() -> None:
    placed = local()
    made = generate_arguments(SORT, placed, "/b/rows")
    assert made == ("teragen", "-D", "mapreduce.job.maps=4", "1048576", "/b/rows")
    words = sort_arguments(SORT, placed, "/b/rows", "/b/sorted")
    assert (words[0], words[-2:]) == ("terasort", ("/b/rows", "/b/sorted"))
    given = dict(one.split("=") for one in words[2:-2:2])
    heap_mib = placed.variant.sizing.container_heap_mib
    assert given == {
        "mapreduce.job.reduces": "3",
        "mapreduce.terasort.output.replication": "1",
        "mapreduce.task.io.sort.mb": str(heap_mib // 3),
    }
    assert validate_arguments(placed, "/b/sorted", "/b/report") == (
        "teravalidate", "/b/sorted", "/b/report"
    )  # fmt: skip


def test_a_sort_buffer_of_the_study_stays() -> None:
    placed = local()
    properties = {"mapred-site": {"mapreduce.task.io.sort.mb": "64"}}
    configuration = replace(placed.variant.configuration, properties=properties)
    placed = replace(placed, variant=replace(placed.variant, configuration=configuration))
    assert not any("io.sort" in one for one in sort_arguments(SORT, placed, "/a", "/b"))


def test_an_ordered_output_with_the_checksum_of_the_input_has_no_fault() -> None:
    report = parse_validation(b"checksum\t1234\n", "part-r-00000")
    assert list(order_faults(report, MADE)) == []


@pytest.mark.parametrize("low", [0x1234, 0x1234 - 2**64])
def test_a_checksum_of_more_than_64_bits_is_compared_as_the_counter_has_it(low: int) -> None:
    made = replace(MADE, counters={CHECKSUM: low})
    report = parse_validation(b"checksum\t5%016x\n" % (low % 2**64), "part-r-00000")
    assert list(order_faults(report, made)) == []


@pytest.mark.parametrize(
    ("text", "made", "words"),
    [
        (b"checksum\t1235\n", MADE, "rows were lost or changed"),
        (b"error\tmisorder in part-r-00001 between\nchecksum\t1234\n", MADE, "1 misorder"),
        (b"error\tmisorder\n", MADE, "the checksum of the sorted rows is []"),
        (b"checksum\t1234\n", JobHistory("j", "TeraGen", 1), "no checksum"),
        (b"checksum\t1234\nwhat\n", MADE, "neither a checksum nor an error"),
        (b"checksum\t1234\nchecksum\t1234\n", MADE, "rows were lost or changed"),
    ],
)
def test_what_was_not_verified_is_a_fault(text: bytes, made: JobHistory, words: str) -> None:
    faults = list(order_faults(parse_validation(text, "part-r-00000"), made))
    assert any(words in fault for fault in faults), faults


@pytest.mark.parametrize("text", [b"", b"checksum\t12", b"checksum\tzz\n", b"\n\n"])
def test_a_report_that_is_cut_off_or_empty_is_no_report(text: bytes) -> None:
    with pytest.raises(ParseError, match="no report of TeraValidate"):
        parse_validation(text, "part-r-00000")


JOB = {
    "job": "job_1", "status": "SUCCEEDED", "whole": True, "submit_epoch_s": 100.0,
    "finish_epoch_s": 120.0, "first_map_epoch_s": 104.0, "last_map_epoch_s": 110.0,
    "last_reduce_epoch_s": 119.0, "rows_read": 1_000, "rows_written": 1_000,
    "rows_spilled": 2_000, "hdfs_read_bytes": 100_100, "cpu_ms": 30_000,
}  # fmt: skip


def found(**job: Any) -> tuple[dict[str, float | None], dict[str, Any]]:
    trial = {"asked_bytes": 100_000, "window_start_epoch_s": 99.0, "window_end_epoch_s": 121.0}
    rows = {"terasort_jobs": [{"trial": "t", **JOB, **job}]}
    facts_ = facts(made_rows(trial, rows))
    return {one["name"]: one["value"] for one in facts_.metrics}, facts_.checks


def test_numbers_of_a_sort() -> None:
    metrics, checks = found()
    mib = 100_000 / 2**20
    assert metrics == {
        "throughput_sort": pytest.approx(mib / 20),
        "sort_time": 20.0,
        "sort_map_phase": 6.0,
        "sort_reduce_phase": 9.0,
        "sort_cpu": pytest.approx(30 / (mib / 1024)),
        "sort_spills": 2.0,
    }
    assert checks == {"work_share": 1.0, "rate_error": pytest.approx(0.001), "must_be_cold": True}


def test_what_is_not_known_is_no_number() -> None:
    metrics, checks = found(whole=False)
    assert set(metrics.values()) == {None}
    assert (checks["work_share"], checks["rate_error"]) == (None, None)
    assert found(cpu_ms=None)[0]["sort_cpu"] is None
    assert found(rows_written=900)[1]["work_share"] == 0.9
    assert found(hdfs_read_bytes=50_000)[1]["rate_error"] == 0.5


def test_counters_of_a_real_job() -> None:
    (job,) = parse_history((SAMPLES / "TestDFSIO-3.4.2_write.jhist").read_bytes(), "a.jhist").rows
    assert job.counters["FileSystemCounter.HDFS_BYTES_READ"] == 944
    ((table, row),) = job_rows(job, None)  # type: ignore[arg-type]
    assert (row["rows_read"], row["hdfs_read_bytes"]) == (4, 944)
    assert set(row) | {"trial"} == set(table.column_names)
