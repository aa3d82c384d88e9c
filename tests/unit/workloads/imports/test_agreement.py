"""Records of other runs that lie in the same folder are not combined with a result."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.main import app
from density_study.workloads.imports.agreement import disagreement
from density_study.workloads.imports.piece import Lines, Piece, SpanFacts, YcsbFacts
from density_study.workloads.imports.recognise import recognise
from tests.support.dool_texts import SAMPLES

WILD = SAMPLES / "wild" / "testdfsio"
RESULT = """\
----- TestDFSIO ----- : write
            Date & time: {date}
        Number of files: {files}
 Total MBytes processed: 256
      Throughput mb/sec: {rate}
 Average IO rate mb/sec: 58.76
  IO rate std deviation: 1.9
     Test exec time sec: {seconds}
"""
# The history of the sample: 4 maps, submitted and ended at these times, 31.47 s apart.
MATCHING = {"files": 4, "rate": 52.07, "seconds": 33.1}


def _pieces(folder: Path, date: str, **changed: object) -> tuple[Piece, Piece, Piece]:
    (folder / "a.log").write_text(RESULT.format(date=date, **{**MATCHING, **changed}))
    (result,) = recognise(folder, "a.log").pieces
    (history,) = recognise(SAMPLES, "TestDFSIO-3.4.2_write.jhist").pieces
    (sums,) = recognise(SAMPLES, "TestDFSIO-3.4.2_write_part-00000").pieces
    return result, history, sums


def _ended(offset_s: float, zone: str) -> str:
    (history,) = recognise(SAMPLES, "TestDFSIO-3.4.2_write.jhist").pieces
    assert history.span.until_s is not None
    at = datetime.fromtimestamp(history.span.until_s + offset_s, UTC)
    return f"{at:%a %b %d %H:%M:%S}{f' {zone}' if zone else ''} {at:%Y}"


@pytest.mark.parametrize(
    ("offset_s", "zone"),
    [
        (2, "UTC"),
        (2, "GMT"),
        (3600 + 5, "CET"),
        (-5 * 3600 + 3, "EST"),
        (5.5 * 3600, "IST"),
        (1, ""),
    ],
)
def test_records_of_one_run_agree(tmp_path: Path, offset_s: float, zone: str) -> None:
    result, history, sums = _pieces(tmp_path, _ended(offset_s, zone))
    assert disagreement(result, history, None) == ""
    assert disagreement(result, sums, None) == ""


@pytest.mark.parametrize(
    ("offset_s", "zone", "changed", "why"),
    [
        (2, "UTC", {"files": 10}, "4 maps against 10 files"),
        (2, "UTC", {"seconds": 133.05}, "31.5 s against 133.05 s"),
        (2, "UTC", {"seconds": 12.0}, "31.5 s against 12 s"),
        (420, "UTC", {}, "the job ended"),
        (3602, "UTC", {}, "the job ended"),
        (420, "CEST", {}, "the job ended"),
        (-3 * 86_400, "CEST", {}, "the job ended"),
        (300, "", {}, "the job ended"),
    ],
)
def test_a_history_of_another_job_disagrees(
    tmp_path: Path, offset_s: float, zone: str, changed: dict[str, object], why: str
) -> None:
    result, history, _ = _pieces(tmp_path, _ended(offset_s, zone), **changed)
    assert why in disagreement(result, history, None)


def test_a_given_time_zone_is_used(tmp_path: Path) -> None:
    result, history, _ = _pieces(tmp_path, _ended(3602, "CET"))
    assert disagreement(result, history, "Europe/Berlin") == ""
    assert "the job ended" in disagreement(result, history, "America/New_York")


@pytest.mark.parametrize(
    ("changed", "why"),
    [({"files": 5}, "4 streams against 5 files"), ({"rate": 61.3}, "per stream against 61.3")],
)
def test_sums_of_another_job_disagree(tmp_path: Path, changed: dict[str, object], why: str) -> None:
    result, _, sums = _pieces(tmp_path, _ended(2, "UTC"), **changed)
    assert why in disagreement(result, sums, None)


def test_logs_and_status_lines_of_a_longer_run_disagree() -> None:
    lines = Lines(1, 1, b"")
    run = Piece("a.out", "ycsb-run", 1, lines, YcsbFacts(run_s=60.0))
    log = Piece("a.hdr", "ycsb-hdr", 1, lines, SpanFacts(since_s=0.0, until_s=70.0))
    assert disagreement(run, log, None) == ""
    longer = replace(log, facts=SpanFacts(since_s=0.0, until_s=600.0))
    assert "the log is of 600 s" in disagreement(run, longer, None)


@pytest.mark.parametrize(
    ("elapsed_s", "operations", "why"),
    [
        (600, 6_000_000, ""),
        (590, 5_900_000, ""),
        (600, None, ""),
        (700, 6_000_000, "status lines of 700 s, and the run took 600 s"),
        (60, 6_000_000, "status lines of 60 s, and the run took 600 s"),
        (600, 4_000_000, "status lines of 4,000,000 operations, and the run did 6,000,000"),
        (600, 9_000_000, "status lines of 9,000,000 operations, and the run did 6,000,000"),
    ],
)
def test_status_lines_of_another_run_disagree(
    elapsed_s: int, operations: int | None, why: str
) -> None:
    """A client prints a last one at its end. Runs of one series take equally long."""
    lines, at = Lines(1, 1, b""), datetime(2026, 11, 20, 12, 10)
    run = Piece("a.out", "ycsb-run", 1, lines, YcsbFacts(run_s=600.0, implied=6_000_000))
    said = YcsbFacts(at=at, at_elapsed_s=elapsed_s, at_operations=operations)
    found = disagreement(run, Piece("b.err", "ycsb-status", 1, lines, said), None)
    assert (why in found) if why else not found


def test_another_jobs_history_is_neither_drafted_nor_imported(tmp_path: Path) -> None:
    for path in WILD.glob("d0[48]*"):
        shutil.copy(path, tmp_path)
    done = CliRunner().invoke(app, ["import", str(tmp_path), "--init"])
    assert done.exit_code == 0, done.output
    drafted = (tmp_path / "map.yaml").read_text()
    assert "# Not assigned to a trial:\n#   d08" in drafted and "2018" not in drafted
    forced = drafted.replace("    # exit_code: 0  # in no file", "    exit_code: 0")
    forced = forced.replace(
        "    files:\n", "    files:\n      - d08-quasimontecarlo-hadoop-2.jhist\n"
    )
    (tmp_path / "map.yaml").write_text(forced)
    done = CliRunner().invoke(app, ["import", str(tmp_path), "--dry-run"])
    assert isinstance(done.exception, InputError)
    for part in (
        "disagree",
        "QuasiMonteCarlo",
        "1 maps against 10 files",
        "15.6 s against 133.05 s",
    ):
        assert part in done.exception.what
