"""Labels, merged disclosures, and the time budget."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from density_study.analysis.summarise.analysed_run import labels
from density_study.analysis.summarise.time_spent import time_spent
from density_study.analysis.summarise.warnings import MAX_NAMED, repetition_warnings
from density_study.analysis.summary.disclosure import merge
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisStarted,
    Event,
    RunOpened,
    StepEnded,
    StepStarted,
)
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import draft
from tests.support.summary_factory import one_block


def _ycsb(mix: Any, threads: int = 8) -> YcsbTestCase:
    return YcsbTestCase(mix=mix, records=1000, threads=threads)


def _dfsio(mode: Any) -> DfsioTestCase:
    return DfsioTestCase(mode=mode, files=6, file_size_mib=256, read_size_bytes=2**20)


@pytest.mark.parametrize(
    ("test_case", "text"),
    (
        (_dfsio("random"), "TestDFSIO random read"),
        (_dfsio("write"), "TestDFSIO write"),
        (_ycsb("read45-insert55"), "YCSB 45/55 read-insert"),
        (_ycsb("scan95-insert5"), "YCSB 95/5 short scan"),
        (_ycsb("load"), "YCSB data load"),
        (_ycsb("c"), "YCSB core workload C"),
    ),
)
def test_labels_are_readable(test_case: Any, text: str) -> None:
    assert test_case.label == text


def test_ambiguous_labels_include_the_size() -> None:
    test_cases = {s.id: s for s in (_ycsb("load", 16), _ycsb("load", 8), _dfsio("read"))}
    assert list(labels(test_cases).values()) == [
        "TestDFSIO sequential read",
        "YCSB data load, 1,000 records, 8 threads",
        "YCSB data load, 1,000 records, 16 threads",
    ]


def test_equal_disclosures_of_all_builds_appear_once() -> None:
    machine = {"kernel": "6.1", "cpu": {"model": "m", "cores": 2}, "flags": ["-Xmx1g"]}
    two = {"kernel": "6.1", "cpu": {"model": "m", "cores": 4}, "flags": ["-Xmx1g"], "new": 1}
    assert merge({"b1": machine, "b2": two, "b3": two}) == {
        "kernel": "6.1",
        "cpu": {"model": "m"},
        "flags": ["-Xmx1g"],
        "differences": {
            "cpu.cores": {"2": ["b1"], "4": ["b2", "b3"]},
            "new": {"not disclosed": ["b1"], "1": ["b2", "b3"]},
        },
    }
    assert merge({"b1": machine}) == machine
    assert merge({}) == {}


def _opened(t: float) -> Event:
    return RunOpened(t=t, study="s", run="r", tag="s/r")


def _started(t: float, index: int, kind: str) -> Event:
    return StepStarted(t=t, index=index, kind=kind, build="b1", label="", trial=None)


def _ended(t: float, index: int, kind: str) -> Event:
    return StepEnded(t=t, index=index, kind=kind, build="b1", trial=None, outcome="ok", message="")


JOURNAL = [
    _opened(100.0),
    _started(101.0, 0, "up"),
    _ended(131.0, 0, "up"),
    _started(132.0, 1, "trial"),
    # killed here, and resumed an hour later
    _opened(3732.0),
    _started(3733.0, 1, "trial"),
    _ended(3763.0, 1, "trial"),
    _started(3764.0, 2, "down"),
    _ended(3769.0, 2, "down"),
]


def test_time_is_divided_and_pauses_are_excluded() -> None:
    analysis = [
        AnalysisStarted(t=3770.0, stage="ingest"),
        AnalysisEnded(t=3776.0, stage="ingest"),
        AnalysisStarted(t=3776.0, stage="report"),
    ]
    spent = time_spent([*JOURNAL, *analysis], measuring_s=20.0, now_s=3778.0)
    assert (spent.measuring_s, spent.building_s, spent.analysing_s) == (20.0, 35.0, 8.0)
    acting_s = 32.0 + 37.0
    assert spent.waiting_s == pytest.approx(acting_s - 20.0 - 35.0)
    assert spent.total_s == pytest.approx(acting_s + 8.0)


def test_an_analysis_a_year_later_adds_only_its_own_time() -> None:
    year_s = 3.2e7
    later = [AnalysisStarted(t=year_s, stage="ingest"), AnalysisEnded(t=year_s + 5, stage="ingest")]
    spent = time_spent([*JOURNAL, *later, *later], 20.0, year_s + 9)
    assert spent.analysing_s == 5.0
    assert spent.total_s == pytest.approx(32.0 + 37.0 + 5.0)


def test_without_a_journal_only_measurement_time_is_known() -> None:
    spent = time_spent([], 20.0, 0.0)
    assert (spent.measuring_s, spent.analysing_s, spent.total_s) == (20.0, None, None)


def _attempts(*states: str) -> tuple[Manifest, ...]:
    return tuple(draft("t1").model_copy(update={"state": state}) for state in states)


def test_earlier_attempts_are_named_with_their_states() -> None:
    assert not list(repetition_warnings({}))
    earlier = {"t1": _attempts("complete", "failed"), "t2": _attempts("incomplete")}
    (warning,) = repetition_warnings(earlier)
    assert (warning.code, warning.level) == ("measured-again", "warning")
    assert "Measured again: 2 trials" in warning.message
    assert "t1 (complete, failed); t2 (incomplete)." in warning.message


def test_trials_that_were_cut_short_limit_no_claim() -> None:
    (warning,) = repetition_warnings({"t1": _attempts("incomplete")})
    assert warning.level == "info"


def test_not_more_than_a_few_attempts_are_named() -> None:
    names = [f"t{n}" for n in range(MAX_NAMED + 1)]
    (warning,) = repetition_warnings({name: _attempts("complete") for name in names})
    assert names[-2] in warning.message and names[-1] not in warning.message
    assert "; ..." in warning.message


def test_parameters_are_those_that_the_workload_declares() -> None:
    entry = one_block().test_cases[0]
    assert (entry.workload, entry.count("files"), entry.count("records")) == ("testdfsio", 6, None)
    fields = entry.model_dump()
    with pytest.raises(ValidationError, match="testdfsio declares no parameter records"):
        TestCaseSummary.model_validate({**fields, "parameters": {"records": 1}})
