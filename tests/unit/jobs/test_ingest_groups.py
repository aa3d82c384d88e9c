"""Distribution of files over tasks."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from density_study.jobs.ingest import ingest
from density_study.jobs.ingest.parse_task import parse_files
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.rows.raw.trial_context import TrialFacts
from tests.support.records import texts

START_S = 1.5e9


def logs(folder: Path) -> list[RawFile]:
    """Logs of two trials, each with two clients of different latencies; and a file between."""
    paths = []
    for trial in ("t1", "t2"):
        for client, latency_us in (("a", 100), ("b", 900)):
            path = folder / f"{trial}-{client}-READ.hdr"
            path.write_text(texts.hdr("READ", START_S, [(1.0, [latency_us] * 50)]))
            facts = TrialFacts(window=(START_S, START_S + 10))
            paths.append(RawFile(trial, "ycsb-hdr", client, f"raw/{client}-READ.hdr", str(path),
                                 bytes=path.stat().st_size, facts=facts))  # fmt: skip
        paths.append(RawFile(trial, "ycsb-summary", "a", "raw/a.out", "", "missing"))
    return paths


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "BYTES_PER_TASK", 1)


def test_the_logs_of_a_trial_stay_together(tmp_path: Path) -> None:
    groups = list(ingest.task_groups(logs(tmp_path), 1))
    assert [[(f.trial, f.kind, f.subject) for f in group] for group in groups] == [
        [("t1", "ycsb-hdr", "a"), ("t1", "ycsb-hdr", "b")],
        [("t1", "ycsb-summary", "a"), ("t2", "ycsb-hdr", "a"), ("t2", "ycsb-hdr", "b")],
        [("t2", "ycsb-summary", "a")],
    ]


def test_percentiles_include_all_clients(tmp_path: Path) -> None:
    groups = ingest.task_groups(logs(tmp_path), 1)
    written = [parse_files(group, str(tmp_path / "staging")) for group in groups]
    paths = [parts["latency_percentiles"] for parts in written if "latency_percentiles" in parts]
    rows = [row for path in paths for row in pq.read_table(path).to_pylist()]
    values = {(r["trial"], r["percentile"]): (r["value_us"], r["operations"]) for r in rows}
    for trial in ("t1", "t2"):
        assert values[trial, 50.0] == (100, 100)
        assert values[trial, 55.0] == (900, 100)


@pytest.mark.parametrize(("cores", "tasks"), [(1, 2), (2, 4), (16, 20)])
def test_each_core_has_two_tasks_if_there_are_enough_bytes(
    cores: int, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "BYTES_PER_TASK", 2**27)
    half = ingest.MIN_BYTES_PER_TASK // 2
    files = [RawFile(f"t{n:02d}", "dool", "a", "a.csv", "", bytes=half) for n in range(40)]
    groups = list(ingest.task_groups(files, cores))
    assert len(groups) == tasks
    assert [file for group in groups for file in group] == files


def test_two_attempts_of_a_task_write_different_files(tmp_path: Path) -> None:
    """A retry or a speculative copy may run while the first attempt still writes."""
    group = logs(tmp_path)[:2]
    first, second = (parse_files(group, str(tmp_path / "staging")) for _ in range(2))
    assert first.keys() == second.keys()
    assert len({*first.values(), *second.values()}) == 2 * len(first) > 2
    for table, path in first.items():
        assert pq.read_table(path).equals(pq.read_table(second[table]))
