"""Labels, merged disclosures, and where the time went."""

from __future__ import annotations

from typing import Any

import pytest

from analysis.summarise.time_spent import time_spent
from analysis.summary.disclosure import merge
from analysis.summary.labels import labels
from workloads.testdfsio.setting import DfsioSetting
from workloads.ycsb.setting import YcsbSetting


def _ycsb(mix: Any, threads: int = 8) -> YcsbSetting:
    return YcsbSetting(mix=mix, records=1000, threads=threads)


def _dfsio(mode: Any) -> DfsioSetting:
    return DfsioSetting(mode=mode, files=6, file_size_mib=256, read_size_bytes=2**20)


@pytest.mark.parametrize(
    ("setting", "text"),
    (
        (_dfsio("random"), "TestDFSIO random read"),
        (_dfsio("write"), "TestDFSIO write"),
        (_ycsb("read45-insert55"), "YCSB 45/55 read-insert"),
        (_ycsb("scan95-insert5"), "YCSB 95/5 short scan"),
        (_ycsb("load"), "YCSB data load"),
        (_ycsb("c"), "YCSB core workload C"),
    ),
)
def test_labels_are_peoples(setting: Any, text: str) -> None:
    assert setting.label == text


def test_labels_that_would_be_equal_tell_the_size() -> None:
    settings = {s.id: s for s in (_ycsb("load", 16), _ycsb("load", 8), _dfsio("read"))}
    assert list(labels(settings).values()) == [
        "TestDFSIO sequential read",
        "YCSB data load, 1,000 records, 8 threads",
        "YCSB data load, 1,000 records, 16 threads",
    ]


def test_what_all_builds_disclose_alike_stands_once() -> None:
    one = {"kernel": "6.1", "cpu": {"model": "m", "cores": 2}, "flags": ["-Xmx1g"]}
    two = {"kernel": "6.1", "cpu": {"model": "m", "cores": 4}, "flags": ["-Xmx1g"], "new": 1}
    assert merge({"b1": one, "b2": two, "b3": two}) == {
        "kernel": "6.1",
        "cpu": {"model": "m"},
        "flags": ["-Xmx1g"],
        "differences": {
            "cpu.cores": {"2": ["b1"], "4": ["b2", "b3"]},
            "new": {"not disclosed": ["b1"], "1": ["b2", "b3"]},
        },
    }
    assert merge({"b1": one}) == one
    assert merge({}) == {}


def _step(t: float, event: str, index: int, kind: str) -> dict[str, Any]:
    return {"t": t, "event": event, "index": index, "kind": kind}


JOURNAL: list[dict[str, Any]] = [
    {"t": 100.0, "event": "run-opened"},
    _step(101.0, "step-started", 0, "up"),
    _step(131.0, "step-ended", 0, "up"),
    _step(132.0, "step-started", 1, "trial"),
    # killed here, and gone on with an hour later
    {"t": 3732.0, "event": "run-opened"},
    _step(3733.0, "step-started", 1, "trial"),
    _step(3763.0, "step-ended", 1, "trial"),
    _step(3764.0, "step-started", 2, "down"),
    _step(3769.0, "step-ended", 2, "down"),
]


def test_time_is_divided_and_pauses_are_nobodys() -> None:
    analysis = [
        {"t": 3770.0, "event": "analysis-started", "stage": "ingest"},
        {"t": 3776.0, "event": "analysis-ended", "stage": "ingest"},
        {"t": 3776.0, "event": "analysis-started", "stage": "report"},
    ]
    spent = time_spent([*JOURNAL, *analysis], measuring_s=20.0, now_s=3778.0)
    assert (spent.measuring_s, spent.building_s, spent.analysing_s) == (20.0, 35.0, 8.0)
    acting_s = 32.0 + 37.0
    assert spent.waiting_s == pytest.approx(acting_s - 20.0 - 35.0)
    assert spent.total_s == pytest.approx(acting_s + 8.0)


def test_an_analysis_a_year_later_adds_only_itself() -> None:
    year_s = 3.2e7
    later = [
        {"t": year_s, "event": "analysis-started", "stage": "ingest"},
        {"t": year_s + 5, "event": "analysis-ended", "stage": "ingest"},
    ]
    spent = time_spent([*JOURNAL, *later, *later], 20.0, year_s + 9)
    assert spent.analysing_s == 5.0
    assert spent.total_s == pytest.approx(32.0 + 37.0 + 5.0)


def test_without_a_journal_only_measuring_is_known() -> None:
    spent = time_spent([], 20.0, 0.0)
    assert (spent.measuring_s, spent.analysing_s, spent.total_s) == (20.0, None, None)
