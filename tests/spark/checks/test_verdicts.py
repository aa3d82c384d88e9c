"""Checks by Spark, verdicts by Great Expectations: one trial for each kind of problem."""

from __future__ import annotations

import pytest

from tests.spark.conftest import Analysed

pytestmark = pytest.mark.spark


SOUND = (
    "write",
    "read",
    "load",
    "mixed",
    "scan",
    "scan_v2",
    "several",
    "one_reader",
    "three_readers",
)


@pytest.mark.parametrize("case", SOUND)
def test_a_sound_trial_is_valid_without_a_reason(world: Analysed, case: str) -> None:
    assert world.verdict(case) == ("valid", "")


@pytest.mark.parametrize(
    ("case", "verdict", "reason"),
    (
        ("failing", "invalid", "3 operations failed"),  # though the client exited with 0
        ("died", "invalid", "the trial is failed: ycsb-1 ended with 137"),
        ("died", "invalid", "1 client(s) exited with a code other than 0"),
        ("interrupted", "invalid", "the trial is incomplete: the run was interrupted"),
        ("lossy", "invalid", "dool on here has 94.0% of the samples expected"),
        ("clock_off", "valid", "1.00 sampling periods"),
        ("clock_unknown", "unknown", "clock was not compared"),
        ("client_bound", "valid", "client-bound: the client used"),
        ("late", "invalid", "client late: a client's first operation came 3.0 s from"),
        ("drifting", "valid", "drift: the last third of the measured time ran at 0.70 times"),
        ("no_histograms", "unknown", "histograms could not be compared with Return counts"),
        ("no_history", "unknown", "dfsio-history line 0 missing from the record"),
        ("torn_summary", "unknown", "1 line(s) of the results could not be parsed"),
        ("leaky", "invalid", "Little's law"),
        ("thinkless", "unknown", "the client's time between operations (Z) was not measured"),
        ("short", "invalid", "only 30.0% of the requested work was done"),
        ("warm", "invalid", "may be served from memory: the disks read only 22.3%"),
        ("cold_unknown", "unknown", "the bytes read from disk are unknown"),
        (
            "fast_random",
            "unknown",
            "caching suspected: random, backward and skip reads differ by 40%",
        ),
        ("slow_backward", "unknown", "caching suspected"),
        ("stopped_skip", "invalid", "only 98.1% of the requested work was done"),
        ("doubled_result", "unknown", "could not be compared with its work and run time"),
    ),
)
def test_trouble_is_named(world: Analysed, case: str, verdict: str, reason: str) -> None:
    outcome, reasons = world.verdict(case)
    assert (outcome, reason in reasons) == (verdict, True), reasons


def test_without_the_records_own_count_dool_supplies_the_disk_reads(world: Analysed) -> None:
    truth = world.truths["cold_by_dool"]
    read = world.metric("cold_by_dool", "disk_read") * truth.window_s
    assert truth.cold is not None and truth.cold.distinct_bytes_asked is not None
    requested_mib = truth.cold.distinct_bytes_asked / 2**20
    assert world.row("checks", "cold_by_dool")["cold_share"] == pytest.approx(read / requested_mib)


def test_foreign_work_is_the_hosts_use_beyond_its_nodes(world: Analysed) -> None:
    nodes = ("node:m1", "node:w1", "client")
    done = sum(world.metric("write", "cpu_used", scope=scope) for scope in nodes)
    foreign = world.row("checks", "write")["foreign_cpu"]
    assert foreign == pytest.approx(world.metric("write", "cpu_used", scope="host:here") - done)


def test_every_record_has_one_verdict(world: Analysed) -> None:
    trials = {truth.trial for truth in world.truths.values()}
    assert sorted(world.table("verdicts")["trial"]) == sorted(trials)


def test_unreadable_lines_are_kept_with_file_line_and_reason(world: Analysed) -> None:
    rows = world.table("quarantine")
    torn = rows[rows["trial"] == world.truths["torn_summary"].trial].iloc[0]
    assert (torn["kind"], torn["file"]) == ("ycsb-summary", "raw/ycsb-1.out")
    assert torn["line"] > 1 and torn["reason"] and "Return=OK" in torn["excerpt"]
    sound = world.truths["mixed"].trial
    assert sound not in set(rows["trial"])
