"""A client that exits with 0 without doing the requested work is a failed trial."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from density_study.workloads.testdfsio import faults as dfsio
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb import faults as ycsb
from density_study.workloads.ycsb.mixes import MIXES
from density_study.workloads.ycsb.properties import client_arguments, operations_at_most
from density_study.workloads.ycsb.test_case import YcsbTestCase

SAMPLES = Path(__file__).parents[2] / "samples"
MIXED = YcsbTestCase(mix="read45-insert55", records=1000, threads=4, duration_s=10)
LOAD = YcsbTestCase(mix="load", records=1067, threads=4)


def write(folder: Path, text: str) -> None:
    (folder / "ycsb-1.out").write_text(text)


def summary(**returns: int) -> str:
    lines = ["[OVERALL], RunTime(ms), 2009", "[OVERALL], Throughput(ops/sec), 995.5"]
    for name, count in returns.items():
        operation, _, status = name.partition("_")
        lines.append(f"[{operation}], Return={status}, {count}")
    return "\n".join(lines) + "\n"


def test_a_run_with_only_successful_operations_has_no_fault(tmp_path: Path) -> None:
    write(tmp_path, summary(READ_OK=933, INSERT_OK=1067))
    assert ycsb.faults_of(tmp_path, "ycsb-1", MIXED) == ()


@pytest.mark.parametrize("status", ["ERROR", "NOT_FOUND", "UNEXPECTED_STATE"])
def test_one_failed_operation_is_a_fault(tmp_path: Path, status: str) -> None:
    write(tmp_path, summary(READ_OK=932, INSERT_OK=1067, **{f"READ_{status}": 1}))
    (fault,) = ycsb.faults_of(tmp_path, "ycsb-1", MIXED)
    assert fault.startswith("1 of 933 READ failed") and status in fault


def test_a_client_that_never_started_or_never_ended_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, "")
    assert ycsb.faults_of(tmp_path, "ycsb-1", MIXED)
    write(tmp_path, "[READ], Return=OK, 12\n")
    assert "did not finish" in ycsb.faults_of(tmp_path, "ycsb-1", MIXED)[0]


def test_a_load_with_a_lost_row_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, summary(INSERT_OK=1067))
    assert ycsb.faults_of(tmp_path, "ycsb-1", LOAD) == ()
    write(tmp_path, summary(INSERT_OK=1066))
    assert ycsb.faults_of(tmp_path, "ycsb-1", LOAD) == ("1066 rows loaded, 1067 requested",)


def test_a_timed_run_that_ran_out_of_operations_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, summary(READ_OK=operations_at_most(MIXED)))
    assert "before its time" in ycsb.faults_of(tmp_path, "ycsb-1", MIXED)[0]


def test_every_mix_sets_all_its_proportions_so_that_no_ycsb_preset_applies() -> None:
    for mix, facts in MIXES.items():
        arguments = client_arguments(MIXED.model_copy(update={"mix": mix}), "/r/ycsb-1-")
        proportions = {word for word in arguments if "proportion=" in word}
        assert proportions == {f"{kind}proportion={share}" for kind, share in facts.shares.items()}
        assert sum(facts.shares.values()) == pytest.approx(1)


DFSIO = DfsioTestCase(mode="random", files=6, file_size_mib=64, read_size_bytes=2**20)


def dfsio_record(folder: Path, tasks: int = 6, size: int = 6 * 64 * 2**20) -> Path:
    block = (SAMPLES / "TestDFSIO-3.4.2_yarn_results.log").read_text().split("\n\n")[1]
    (folder / "io").mkdir(parents=True)
    (folder / "history").mkdir()
    (folder / "history" / "job_1_1.jhist").write_text("Avro-Json\n")
    (folder / "testdfsio.log").write_text(block + "\n")
    rows = {"f:rate": "506760.0", "f:sqrate": "51400000.0", "l:size": size, "l:tasks": tasks,
            "l:time": 5500}  # fmt: skip
    (folder / "io" / "part-00000").write_text("".join(f"{k}\t{v}\n" for k, v in rows.items()))
    return folder


def test_a_complete_job_has_no_fault(tmp_path: Path) -> None:
    assert dfsio.faults_of(dfsio_record(tmp_path), DFSIO) == ()


@pytest.mark.parametrize(
    ("remove", "fault"),
    [
        ("testdfsio.log", "wrote no result file"),
        ("io", "no reduce output"),
        ("history", "left no history"),
    ],
)
def test_a_missing_output_is_a_fault(tmp_path: Path, remove: str, fault: str) -> None:
    raw = dfsio_record(tmp_path)
    if (raw / remove).is_dir():
        shutil.rmtree(raw / remove)
    else:
        (raw / remove).unlink()
    assert any(fault in message for message in dfsio.faults_of(raw, DFSIO))


def test_a_job_with_a_lost_stream_or_bytes_is_a_fault(tmp_path: Path) -> None:
    assert "5 streams" in dfsio.faults_of(dfsio_record(tmp_path / "a", tasks=5), DFSIO)[0]
    assert "processed" in dfsio.faults_of(dfsio_record(tmp_path / "b", size=1), DFSIO)[0]


def test_a_reused_result_file_is_a_fault(tmp_path: Path) -> None:
    """The tool appends without its arguments: the trial's own block is unknown."""
    raw = dfsio_record(tmp_path)
    once = (raw / "testdfsio.log").read_text()
    (raw / "testdfsio.log").write_text(once + once)
    assert "['random', 'random'], not one random" in dfsio.faults_of(raw, DFSIO)[0]


def test_a_result_of_another_mode_is_a_fault(tmp_path: Path) -> None:
    raw = dfsio_record(tmp_path)
    assert "not one read" in dfsio.faults_of(raw, DFSIO.model_copy(update={"mode": "read"}))[0]


def test_a_skip_that_stopped_early_is_a_fault(tmp_path: Path) -> None:
    """The tool exits with 0 and prints a plausible rate for any part of the file (method 16)."""
    skip = DFSIO.model_copy(update={"mode": "skip"})
    half = 6 * 32 * 2**20
    whole, early = (dfsio_record(tmp_path / str(size), size=size) for size in (half, half - 2**20))
    assert not any("processed" in message for message in dfsio.faults_of(whole, skip))
    assert any(f"{half} to {half} requested" in message for message in dfsio.faults_of(early, skip))
