"""The draft of a map names each run once, though tools print their results twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.imports.describe import file_rows
from density_study.workloads.imports.guessed_trials import GuessedTrial, guessed_trials
from density_study.workloads.imports.recognise import recognise_all
from tests.property.mutations import SAMPLES

RESULT = """----- TestDFSIO ----- : write
            Date & time: Mon Nov 23 12:37:29 UTC 2026
        Number of files: 2
 Total MBytes processed: 256
      Throughput mb/sec: 115.78
 Average IO rate mb/sec: 116.22
  IO rate std deviation: 7.1
     Test exec time sec: 14.2

"""
PREFIX = "2026-11-23 12:37:29,920 INFO fs.TestDFSIO: "


def guess(folder: Path) -> list[GuessedTrial]:
    found = recognise_all(folder)
    return guessed_trials([piece for file in found.values() for piece in file.pieces])


def on_console(result: str) -> str:
    return "".join(f"{PREFIX}{line}\n" for line in result.splitlines())


def test_a_testdfsio_result_on_the_console_and_in_the_log_is_one_run(tmp_path: Path) -> None:
    (tmp_path / "a.err").write_text(on_console(RESULT))
    (tmp_path / "b.log").write_text(RESULT)
    (trial,) = guess(tmp_path)
    assert [piece.file for piece in trial.main] == ["a.err"]


def test_two_runs_with_other_durations_are_two(tmp_path: Path) -> None:
    (tmp_path / "a.err").write_text(on_console(RESULT))
    (tmp_path / "b.log").write_text(RESULT.replace("14.2", "14.3"))
    assert len(guess(tmp_path)) == 2


@pytest.mark.parametrize(("second", "runs"), [("29", 1), ("30", 2)])
def test_a_result_in_two_folders_is_a_copy_if_it_ended_in_the_same_second(
    tmp_path: Path, second: str, runs: int
) -> None:
    """`study import --dry-run` calls it a copy, too."""
    for name, at in (("one", "29"), ("two", second)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.log").write_text(RESULT.replace("12:37:29", f"12:37:{at}"))
    assert len(guess(tmp_path)) == runs
    said = "\n".join(row[2] for row in file_rows(recognise_all(tmp_path)))
    assert said.count("a copy of") == 2 - runs


@pytest.mark.parametrize("with_status", [True, False])
def test_standard_error_belongs_to_a_run_only_with_status_lines(
    tmp_path: Path, with_status: bool
) -> None:
    name = "ycsb-0.17.0_hdr"
    (tmp_path / "ycsb.out").write_bytes((SAMPLES / f"{name}.out").read_bytes())
    lines = (SAMPLES / f"{name}.err").read_text().splitlines(keepends=True)
    kept = [line for line in lines if with_status or "current ops/sec" not in line]
    assert with_status == (kept == lines)
    (tmp_path / "ycsb.err").write_text("".join(kept))
    (trial,) = guess(tmp_path)
    assert [piece.file for piece in trial.more] == (["ycsb.err"] if with_status else [])


def test_a_copy_of_a_clients_output_is_no_second_repetition(tmp_path: Path) -> None:
    output = (SAMPLES / "ycsb-0.17.0_hdr.out").read_bytes()
    for name in ("a.out", "b.out"):
        (tmp_path / name).write_bytes(output)
    (trial,) = guess(tmp_path)
    assert [piece.file for piece in trial.main] == ["a.out"]


def test_a_copy_with_logs_of_its_own_does_not_lend_them(tmp_path: Path) -> None:
    """Two logs of one operation in a trial were drafted, and refused."""
    sample = SAMPLES / "ycsb-0.17.0_hdrhistogram-2.2.2_READ.hdr"
    for name in ("a", "b"):
        (tmp_path / f"{name}.out").write_bytes((SAMPLES / "ycsb-0.17.0_hdr.out").read_bytes())
        (tmp_path / f"{name}-READ.hdr").write_bytes(sample.read_bytes())
    (trial,) = guess(tmp_path)
    assert [piece.file for piece in trial.more] == ["a-READ.hdr"]
