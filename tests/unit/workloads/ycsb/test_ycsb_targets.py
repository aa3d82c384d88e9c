"""Latency targets: symbolic in the plan, resolved from the build's own saturation, never
guessed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.workloads.execution.saturation import measured_ops_s, resolve
from density_study.workloads.planning.trial_order import random_order
from density_study.workloads.record.record import closed_records
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.knobs import Target, target_of
from density_study.workloads.ycsb.properties import (
    client_arguments,
    client_name,
    loaded_rows,
    target_share,
)
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART, study
from tests.support.records.factory import RUN, RunFactory

BUILD = "b1-v1-flash"
MIX = "read45-insert55"
HALF = YcsbTestCase(mix=MIX, records=12_600, threads=8, duration_s=18.0, warm_up_s=5.0,
                   target_percent=50.0)  # fmt: skip
LATENCY = "      latency_at: [50%, 70%, 90%, 2000/s]\n      threads: [4, 8]\n"


def latency_study() -> list[YcsbTestCase]:
    text = QUICKSTART.read_text().replace("      threads: [8]\n", LATENCY)
    test_cases = parse_study(text, "q.yaml").study.test_cases()
    return [test_case for test_case in test_cases if isinstance(test_case, YcsbTestCase)]


def test_targets_are_percentages_or_rates() -> None:
    assert target_of("70%") == Target(percent=70.0)
    assert target_of("2000/s") == Target(ops_s=2000.0)
    assert target_of("120/min") == Target(ops_s=2.0)


@pytest.mark.parametrize("text", ["0%", "-5%", "101%", "%", "2000", "2000 ops", "0.5/s", "nan%"])
def test_an_invalid_target_is_refused_with_an_example(text: str) -> None:
    edited = QUICKSTART.read_text().replace(
        "threads: [8]", f"threads: [8]\n      latency_at: ['{text}']"
    )
    with pytest.raises(InputError, match="2000/s") as caught:
        parse_study(edited, "q.yaml")
    assert "latency_at[0]" in caught.value.where


def test_a_latency_entry_needs_a_measured_mix() -> None:
    edited = QUICKSTART.read_text().replace("mixes: [load, read45-insert55, scan95-insert5]",
                                            "mixes: [load]\n      latency_at: [50%]")  # fmt: skip
    with pytest.raises(InputError, match="besides load"):
        parse_study(edited, "q.yaml")


def test_saturation_sweeps_over_threads_and_latency_uses_the_most_threads() -> None:
    test_cases = latency_study()
    assert len(test_cases) == 2 * 3 + 2 * 4
    latency = [
        test_case
        for test_case in test_cases
        if not test_case.is_saturation and test_case.mix != "load"
    ]
    assert {test_case.threads for test_case in latency} == {8}
    assert {test_case.mix for test_case in latency} == {MIX, "scan95-insert5"}
    assert sorted({test_case.id.rpartition("-")[2] for test_case in latency}) == [
        "at2000ps", "at50pct", "at70pct", "at90pct",
    ]  # fmt: skip
    assert len({test_case.id for test_case in test_cases}) == len(test_cases)


def test_targets_and_their_names_stay_symbolic_in_the_plan() -> None:
    halves = [test_case for test_case in latency_study() if test_case.target_percent == 50]
    assert all(test_case.target_ops_s is None for test_case in halves)
    resolved = halves[0].model_copy(update={"target_ops_s": 6789.0})
    assert resolved.id == halves[0].id


@pytest.mark.parametrize("seed", range(40))
def test_a_percentage_follows_every_saturation_trial_it_depends_on(seed: int) -> None:
    ordered = random_order(tuple(latency_study()), Random(seed))
    for place, test_case in enumerate(ordered):
        waits_for = [n for n, other in enumerate(ordered) if other.measures_for(test_case)]
        assert len(waits_for) == (2 if test_case.target_percent else 0)
        assert all(n < place for n in waits_for)


def test_absolute_rates_do_not_wait_for_saturation() -> None:
    orders = [random_order(tuple(latency_study()), Random(seed)) for seed in range(40)]
    first = [next(s for s in order if s.mix == MIX) for order in orders]
    assert any(test_case.target_ops_s for test_case in first)


def saturation_run(folder: Path, **knobs: object) -> tuple[Path, list[str]]:
    """A run with two saturation trials, of 4 and 8 threads; the second is faster."""
    factory = RunFactory(folder / RUN)
    slow = factory.ycsb(BUILD, MIX, rate=600, threads=4, records=12_600)
    fast = factory.ycsb(BUILD, MIX, rate=700, threads=8, records=12_600)
    for name, value in knobs.items():
        setattr(slow, name, value)
    return factory.close(), [slow.trial, fast.trial]


def test_the_target_is_a_share_of_the_highest_rate_over_the_builds_thread_counts(
    tmp_path: Path,
) -> None:
    root, planned = saturation_run(tmp_path)
    test_case, target = resolve(HALF, planned, root / "records")
    assert target.saturation_trial == planned[1]
    assert target.saturation_ops_s == pytest.approx(700, rel=0.01)
    assert test_case.target_ops_s == target.ops_s == pytest.approx(350, rel=0.01)
    assert test_case.id == HALF.id


def test_a_failed_or_missing_saturation_trial_gives_no_target(tmp_path: Path) -> None:
    root, planned = saturation_run(tmp_path, state="failed", reasons=("3 of 9 READ failed",))
    with pytest.raises(StudyError, match="is unknown: it is failed: 3 of 9 READ failed") as caught:
        resolve(HALF, planned, root / "records")
    assert caught.value.where == planned[0]
    with pytest.raises(StudyError, match="it has not run"):
        resolve(HALF, ["b1-other"], root / "records")
    with pytest.raises(StudyError, match="no saturation trial"):
        resolve(HALF, [], root / "records")


def test_a_saturation_with_missing_or_torn_logs_is_unknown(tmp_path: Path) -> None:
    root, planned = saturation_run(tmp_path)
    closed = closed_records(root / "records")
    logs = sorted((root / "records" / planned[1] / "raw").glob("*.hdr"))
    torn = next(path for path in logs if "READ" in path.name)
    torn.write_text(torn.read_text()[:-20] + "\n")
    with pytest.raises(StudyError, match=r"is unknown: raw/ycsb-1-READ\.hdr line \d+: histogram"):
        measured_ops_s(root / "records" / planned[1], closed[planned[1]])
    for path in logs:
        path.unlink()
    with pytest.raises(StudyError, match=r"raw/ycsb-1-\S+\.hdr: missing from the record"):
        measured_ops_s(root / "records" / planned[1], closed[planned[1]])


def test_only_a_run_with_a_target_records_intended_latency() -> None:
    open_loop = client_arguments(HALF.model_copy(update={"target_ops_s": 350.4}), "/r/")
    assert "measurement.interval=both" in open_loop
    assert open_loop[open_loop.index("-target") + 1] == "350"
    closed_loop = client_arguments(HALF.model_copy(update={"target_percent": None}), "/r/")
    assert "measurement.interval=op" in closed_loop
    assert "-target" not in closed_loop


@pytest.mark.parametrize("clients", [1, 2, 3, 7])
def test_clients_divide_the_load_and_the_target_without_remainder(clients: int) -> None:
    test_case = HALF.model_copy(update={"clients": clients, "target_ops_s": 1000.0})
    ranges = [loaded_rows(test_case, number) for number in range(1, clients + 1)]
    rows = [row for start, count in ranges for row in range(start, start + count)]
    assert rows == list(range(test_case.records))
    shares = [target_share(test_case, number) or 0 for number in range(1, clients + 1)]
    assert sum(shares) == 1000 and max(shares) - min(shares) <= 1


def test_each_of_several_clients_gets_its_index() -> None:
    test_case = HALF.model_copy(update={"clients": 3})
    for number in (1, 2, 3):
        words = client_arguments(test_case, "/r/", number)
        assert f"client.number={number - 1}" in words and "client.count=3" in words
        assert "workload=org.densitystudy.ycsb.StudyWorkload" in words
        assert "recordcount=12600" in words
    load = client_arguments(
        test_case.model_copy(update={"mix": "load", "duration_s": None}), "/r/", 2
    )
    assert "insertstart=4200" in load and "insertcount=4200" in load
    alone = client_arguments(HALF, "/r/")
    assert "workload=org.densitystudy.ycsb.StudyWorkload" in alone
    assert not any(word.startswith(("client.", "insertstart")) for word in alone)
    assert client_name(2) == "ycsb-2"


def test_test_cases_of_the_quickstart_have_no_target() -> None:
    assert all(
        getattr(test_case, "target_percent", None) is None for test_case in study().test_cases()
    )


def test_a_test_case_lists_the_effective_knobs_that_are_not_in_its_id() -> None:
    fixed: Any = {"records": 1000, "threads": 4, "request_distribution": "uniform"}
    load = YcsbTestCase(mix="load", **fixed).unnamed_knobs()
    assert set(load) == {"warm_up_client", "warm_up_daemons", "regions_per_server"}
    read = YcsbTestCase(mix="c", duration_s=60, warm_up_s=5, **fixed).unnamed_knobs()
    assert (read["duration"], read["request_distribution"]) == (60, "uniform")
    assert "max_scan_length" not in read
    assert YcsbTestCase(mix="e", duration_s=60, **fixed).unnamed_knobs()["max_scan_length"] == 100
    assert YcsbTestCase(mix="d", **fixed).unnamed_knobs()["request_distribution"] == "latest"


def test_a_warm_up_with_inserts_is_another_than_one_without() -> None:
    """Runs of a study with and without a measured load were compared as if servers were equally warm."""
    timed: Any = {
        "records": 1000,
        "threads": 4,
        "mix": "c",
        "duration_s": 60,
        "warm_up_daemons_s": 60.0,
    }

    def warm_up(**knobs: Any) -> str | float:
        return YcsbTestCase(**timed | knobs).unnamed_knobs()["warm_up_daemons"]

    assert warm_up() == 60.0  # as of earlier runs, which had inserts in any case
    assert warm_up(beside_load=False) == "60 s without inserts"
    assert warm_up(beside_load=False, warm_up_daemons_s=0.0) == 0.0
    assert warm_up(beside_load=False, until_steady=True) == "steady"
