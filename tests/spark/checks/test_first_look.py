"""The first look at a record, which needs no Spark, finds the same facts and numbers as the analysis."""

from __future__ import annotations

import math
from typing import Any

import pytest

from density_study.jobs.facts.trial import trial_facts
from density_study.jobs.first_look.look import first_look
from density_study.workloads.record.record import read_manifest
from density_study.workloads.rows.record_rows import record_rows
from tests.spark.conftest import Analysed

pytestmark = pytest.mark.spark


def same(found: Any, expected: Any) -> bool:
    """Null is None here, and NaN or NA in a data frame."""
    if found is None or expected is None or expected != expected:
        return found is None and (expected is None or bool(expected != expected))
    if isinstance(found, float):
        return math.isclose(found, float(expected), rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == expected)


def test_facts_are_those_of_the_analysis(world: Analysed) -> None:
    checks = world.table("checks").set_index("trial")
    differing = {}
    of_a_run = {
        "access_spread",
        "machine_apart",
        "machine_time",
        "machine_where",
    }  # need other trials
    for case, truth in world.truths.items():
        record = world.root / "records" / truth.trial
        found = trial_facts(record_rows(read_manifest(record), record)).checks
        assert found.keys() >= set(checks) - of_a_run
        for name, value in found.items():
            if name != "accepted":  # a list
                expected = checks.at[truth.trial, name]
                if not same(value, expected):
                    differing[case, name] = (value, expected)
    assert not differing


def test_numbers_are_those_of_the_analysis(world: Analysed) -> None:
    for case in ("write", "read", "load", "mixed", "scan", "several"):
        seen = first_look(world.root / "records" / world.truths[case].trial)
        name = "throughput" if seen.rate_unit == "ops/s" else "throughput_map_phase"
        assert seen.rate == pytest.approx(world.metric(case, name))
        used = world.metrics(case, "cpu_used")
        hosts = used[used["scope"].str.startswith("host:")]["value"]
        assert seen.cpu_used_percent == pytest.approx(hosts.mean())
        latencies = world.metrics(case, "latency", percentile=99.0)
        intended = latencies[latencies["latency_kind"] == "intended"]
        slowest = (intended if len(intended) else latencies)["value"].max()
        assert same(seen.p99_ms, slowest)


def test_an_invalid_verdict_of_a_first_look_stands_in_the_analysis(world: Analysed) -> None:
    """The analysis applies one rule more, which needs other trials."""
    rank = ("valid", "unknown", "invalid").index
    found = set()
    for case, truth in world.truths.items():
        seen = first_look(world.root / "records" / truth.trial)
        verdict, reasons = world.verdict(case)
        assert rank(seen.verdict) <= rank(verdict), case
        assert seen.verdict == verdict or "caching suspected" in reasons, case
        if seen.verdict == verdict:
            assert all(reason in reasons for reason in seen.reasons), case
        found.add(seen.verdict)
    assert found == {"valid", "unknown", "invalid"}
