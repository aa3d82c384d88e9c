"""Faults of a TestDFSIO job that exited with 0: where its output differs from what the test case
requested."""

from __future__ import annotations

from pathlib import Path

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.testdfsio.job import processed_bytes
from density_study.workloads.testdfsio.output.io_parts import IoTotals, parse_io_part
from density_study.workloads.testdfsio.output.results import parse_results
from density_study.workloads.testdfsio.test_case import DfsioTestCase


def faults_of(raw: Path, test_case: DfsioTestCase) -> tuple[str, ...]:
    """Faults as sentences; empty if the job did what was requested. `raw` is the record's raw folder."""
    faults = [
        *_result_faults(raw / "testdfsio.log", test_case),
        *_sum_faults(raw / "io", test_case),
    ]
    if not any((raw / "history").glob("*.jhist")):
        faults.append("the job left no history: its rate over the map phase is unknown")
    return tuple(faults)


def _result_faults(path: Path, test_case: DfsioTestCase) -> list[str]:
    if not path.exists():
        return ["TestDFSIO wrote no result file: the job failed"]
    try:
        parsed = parse_results(path.read_bytes(), path.name)
    except ParseError as error:
        return [str(error)]
    if parsed.quarantined:
        return [f"{path.name}:{q.line}: {q.reason}" for q in parsed.quarantined[:1]]
    if [row.mode for row in parsed.rows] != [test_case.mode]:
        return [f"{path.name} holds {[row.mode for row in parsed.rows]}, not one {test_case.mode}"]
    return []


def _sum_faults(folder: Path, test_case: DfsioTestCase) -> list[str]:
    paths = sorted(folder.glob("part-*"))
    if not paths:
        return ["the job left no reduce output (part-*)"]
    rows: list[IoTotals] = []
    for path in paths:
        try:
            rows += parse_io_part(path.read_bytes(), path.name).rows
        except ParseError as error:
            return [str(error)]
    tasks, size = sum(row.tasks for row in rows), sum(row.size_bytes for row in rows)
    faults = []
    if tasks != test_case.files:
        faults.append(f"{tasks} streams reported, {test_case.files} requested")
    minimum, maximum = processed_bytes(test_case)
    if not minimum <= size <= maximum:
        faults.append(f"{size} bytes processed, {minimum} to {maximum} requested")
    return faults
