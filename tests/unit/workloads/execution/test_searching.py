"""Probes of a search: judged by their records, and chosen by those of the probes before."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.state.events import SearchEnded
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.search import Ended, Probe, Search
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.searching import judged, prepared
from density_study.workloads.record.record import read_manifest
from density_study.workloads.record.searches import answers, searches
from tests.support.drafts import study
from tests.support.records.factory import RUN, RunFactory
from tests.support.search_factory import SEARCH, add_probe, probe_of, search_run

BUILD = "b1-v1-flash"


def measured(folder: Path, probe: Probe, median_ms: float = 1.0, search: Search = SEARCH) -> Probe:
    """The probe as its record is judged."""
    factory = RunFactory(folder / RUN)
    truth = add_probe(factory, BUILD, probe, median_ms, search)
    record = factory.close() / "records" / truth.trial
    return judged(read_manifest(record), record)


def opened(root: Path, factory: RunFactory) -> Run:
    return Run(root, study(), factory._plan_as_made(), Journal(root / "journal.jsonl"))


def test_a_rate_that_keeps_its_limits_is_kept(tmp_path: Path) -> None:
    found = measured(tmp_path, probe_of(1, 350))
    assert found.kept
    assert found.rate_ops_s == pytest.approx(350, rel=0.01)
    # a lognormal's p99 is at 2.326 standard deviations
    assert found.latency_ms["READ p99"] == pytest.approx(2.0, rel=0.1)
    assert found.verdict.startswith("kept: READ p99 1.9")


def test_a_latency_above_its_limit_rejects_the_rate(tmp_path: Path) -> None:
    found = measured(tmp_path, probe_of(1, 350), median_ms=9.0)
    assert found.kept is False
    assert "limit 5 ms" in found.why


def test_a_rate_that_is_not_sustained_is_rejected_before_any_limit(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = add_probe(factory, BUILD, probe_of(1, 350))
    truth.probe = probe_of(1, 400)  # the clients achieve 350
    record = factory.close() / "records" / truth.trial
    found = judged(read_manifest(record), record)
    assert (found.kept, found.latency_ms) == (False, {})
    assert "less than 98 %" in found.why


def test_a_turn_that_each_thread_waits_for_at_the_end_is_no_rejection(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = add_probe(factory, BUILD, probe_of(1, 350))
    record = factory.close() / "records" / truth.trial
    manifest = read_manifest(record)
    rate = judged(manifest, record).rate_ops_s
    a_turn_each = manifest.test_case.last_turns_ops_s
    assert rate and a_turn_each > 0
    for missing, kept in ((0.9 * a_turn_each, True), (1.2 * a_turn_each, False)):
        requested = probe_of(1, (rate + missing) / 0.98)
        found = judged(manifest.model_copy(update={"probe": requested}), record)
        assert found.kept is kept, found.why


def test_too_few_operations_for_a_percentile_leave_the_probe_without_a_result(
    tmp_path: Path,
) -> None:
    found = measured(tmp_path, probe_of(1, 40))
    assert found.kept is None
    assert "too few operations for READ p99" in found.why


@pytest.mark.parametrize(("limit", "kept"), [(99.0, True), (1.0, False)])
def test_cpu_of_the_hosts_is_a_limit(tmp_path: Path, limit: float, kept: bool) -> None:
    search = SEARCH.model_copy(update={"limits": (), "cpu_percent": limit})
    found = measured(tmp_path, probe_of(1, 350), search=search)
    assert found.cpu_percent is not None
    assert 1 < found.cpu_percent < 99
    assert found.kept is kept


def test_more_threads_are_kept_while_they_gain_enough(tmp_path: Path) -> None:
    search = Search(gain_percent=5, start_threads=4, duration_s=18)
    first = measured(tmp_path / "a", probe_of(1, 350), search=search)
    more = measured(tmp_path / "b", probe_of(2, 350, to_beat_ops_s=300.0), search=search)
    less = measured(tmp_path / "c", probe_of(2, 350, to_beat_ops_s=400.0), search=search)
    assert [one.kept for one in (first, more, less)] == [True, True, False]


def test_the_first_load_is_a_share_of_the_builds_saturation(tmp_path: Path) -> None:
    factory = search_run(tmp_path)
    run = opened(factory.close(), factory)
    first = next(step for step in run.plan.trials if step.probe == 1)
    found = prepared(run, first)
    assert not isinstance(found, Ended)
    step, probe = found
    assert probe.load == pytest.approx(350, rel=0.01)
    assert "50 % of the saturation of 7" in probe.because
    assert step.test_case is not None and step.test_case.table_row()["target_ops_s"] == probe.load


def test_a_search_goes_on_from_its_records_and_then_spares_the_probes_left(tmp_path: Path) -> None:
    factory = search_run(tmp_path)
    run = opened(factory.close(), factory)
    second = [step for step in run.plan.trials if step.build == BUILD and step.probe][1]
    found = prepared(run, second)
    assert not isinstance(found, Ended)
    assert found[1].load == 700, "twice the first probe, which was kept"
    last = second.model_copy(update={"probe": 4, "index": 99, "trial": "left"})
    steps = (*run.plan.steps, last)
    run = Run(run.root, run.study, run.plan.model_copy(update={"steps": steps}), run.journal)
    ended = prepared(run, last)
    assert isinstance(ended, Ended)
    (journalled,) = run.journal.events(SearchEnded)
    assert (journalled.answer, journalled.spared) == (440, ("left",))


def test_the_answer_is_found_from_the_records_alone(tmp_path: Path) -> None:
    factory = search_run(tmp_path)
    root = factory.close()
    manifests = [read_manifest(root / "records" / truth.trial) for truth in factory.truths]
    found = searches(manifests)
    assert [(one.build, one.ended.answer.load if one.ended.answer else 0) for one in found] == [
        ("b1-v1-flash", 440),
        ("b1-v2-flash", 480),
    ]
    assert all(one.ended.exact for one in found)
    assert answers(manifests) == {one.answer for one in found}
