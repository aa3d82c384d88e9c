"""Trials with a fault, analysed: when the rate was back, what failed, and what is missing."""

from __future__ import annotations

import pytest

from density_study.analysis.summarise.summarise import summarise
from density_study.cluster.state.events import TableNotCopied
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.jobs.first_look.look import first_look
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed

pytestmark = pytest.mark.spark


def metrics(loads: Analysed, which: str) -> dict[str, float | None]:
    rows = read_table(loads.root, tables.METRICS)
    rows = rows[rows["trial"] == loads.truths[which].trial]
    return {
        name: None if value != value else value
        for name, value in zip(rows["name"], rows["value"], strict=True)
    }


def test_the_rate_is_back_when_it_is_sustained(loads: Analysed) -> None:
    assert metrics(loads, "back")["time_to_recover"] == pytest.approx(8, abs=1)
    assert metrics(loads, "unhurt")["time_to_recover"] == 0


def test_what_a_fault_does_may_come_late(loads: Analysed) -> None:
    """Six good seconds after the fault are no recovery from what it does then."""
    assert metrics(loads, "delayed")["time_to_recover"] == pytest.approx(14, abs=1)


def test_a_burst_amid_a_stall_is_no_recovery(loads: Analysed) -> None:
    assert metrics(loads, "late burst")["time_to_recover"] == pytest.approx(17, abs=1)


def test_a_trial_that_does_not_recover_has_no_time(loads: Analysed) -> None:
    found = metrics(loads, "gone")
    assert found["time_to_recover"] is None
    assert (found["failed_operations"], found["lost_rows"]) == (7, 10)
    assert metrics(loads, "back")["lost_rows"] == 0


def test_the_longest_intended_latency_is_known(loads: Analysed) -> None:
    assert metrics(loads, "unhurt")["worst_latency"] == pytest.approx(4.0, rel=0.01)


def test_what_a_fault_does_makes_its_trial_not_invalid(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    for truth in truths.values():
        if truth.fault is None:
            continue
        said = list(verdicts.loc[truth.trial, "reasons"])
        assert not [
            why for why in said if "failed" in why or "unsustained" in why or "drift" in why
        ], said
        look = first_look(root / "records" / truth.trial)
        assert not [why for why in look.reasons if "failed" in why or "unsustained" in why]


def test_the_report_has_a_row_per_trial(loads: Analysed) -> None:
    page = (loads.root / "report" / "index.html").read_text()
    assert "What each fault did" in page
    assert "RegionServer killed after 9.25 s" in page
    assert "not within the trial" in page


def test_a_lost_row_is_a_flag_that_decides_nothing(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    said = {name: list(verdicts.loc[truth.trial, "reasons"]) for name, truth in truths.items()}
    lost = [
        name for name, why in said.items() if any("lost writes: 10 row(s)" in one for one in why)
    ]
    assert lost == ["gone"]
    assert "acknowledged rows were lost is unknown" not in str(said)


def test_density_is_a_factor_of_losing_a_host(loads: Analysed) -> None:
    """One repetition claims nothing, but the comparison is made."""
    summary = summarise(loads.root, 0.0)
    lost = [one for one in summary.test_cases if one.fault == "host killed after 9.25 s"]
    assert sorted(one.vms_per_host for one in lost) == [1, 2]
    (finding,) = (
        one
        for one in summary.findings
        if one.measure == "time to recover from a fault" and lost[0].test_case in one.id
    )
    assert finding.variants is not None and finding.variants.startswith("2 ")
    assert finding.effect == pytest.approx(6 / 14, rel=0.15)


def test_a_table_that_could_not_be_copied_is_told(loads: Analysed) -> None:
    """Its builds have no fault, but took longer than `load_once` promises."""
    lost = TableNotCopied(tag="t", name="usertable_100-1a2b3c4d", why="no space left", tried=True)
    Journal(loads.root / JOURNAL).record(lost)
    (said,) = (one for one in summarise(loads.root, 0.0).warnings if one.code == "no-table-copy")
    assert said.level == "info" and "usertable_100 is loaded in each build" in said.message
