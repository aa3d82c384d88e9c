"""Warm-up options of a study, the part they cut from a trial, and their estimated duration."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from density_study.workloads.planning.plan import make_plan
from density_study.workloads.rows.raw.trial_context import TrialFacts
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments, table_of
from density_study.workloads.ycsb.spec import YcsbSpec
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import host

FIXED: dict[str, Any] = {
    "records": (1000,),
    "threads": (2, 4),
    "duration": "30 s",
    "warm_up": "5 s",
}


def spec(**knobs: Any) -> YcsbSpec:
    return YcsbSpec(**{**FIXED, "mixes": ("load", "c"), **knobs})


def test_a_clients_warm_up_is_cut_before_the_trials_own() -> None:
    load, read, *_ = spec(warm_up_client="12 s", threads=(2,)).test_cases()
    assert (load.cut_s, read.cut_s) == (12.0, 17.0)
    assert all("client.warmup.s=12" in client_arguments(one, "x") for one in (load, read))
    assert read.unnamed_knobs()["warm_up_client"] == 12.0


def test_warm_up_can_be_omitted() -> None:
    for off in ("off", False):
        read = spec(warm_up_client=off, mixes=("c",)).test_cases()[0]
        assert read.cut_s == 5.0
        assert not any("warmup" in word for word in client_arguments(read, "x"))


@pytest.mark.parametrize("value", ["1.5 s", "-3 s", "soon"])
def test_an_impossible_client_warm_up_is_refused(value: str) -> None:
    with pytest.raises(ValidationError, match="warm_up_client"):
        spec(warm_up_client=value)


@pytest.mark.parametrize(
    ("window", "cut_s", "measured"),
    [
        ((100.0, 150.0), 20.0, (120.0, 150.0)),
        ((100.0, 110.0), 20.0, None),  # ended before it was warm
        (None, 0.0, None),
    ],
)
def test_the_measured_part_of_a_window_excludes_the_warm_up(
    window: tuple[float, float] | None, cut_s: float, measured: tuple[float, float] | None
) -> None:
    assert TrialFacts(window=window, warm_up_s=cut_s).measured == measured


STUDY = """
study: s
question: q?
provider: local
hosts:
  - {name: here, cores: 2, memory: 8 GiB, roles: [master, worker, client],
     disks: [{path: /d, disk_type: flash}]}
factors: {vms_per_host: [1, 2]}
workloads:
  - ycsb: {records: [1000], mixes: [a, c], threads: [2, 4], latency_at: [50%], duration: 30 s,
           warm_up: 5 s, warm_up_daemons: DAEMONS}
repetitions: 2
"""


@pytest.mark.parametrize(
    ("daemons", "mixes", "a_build_s"),
    [
        ("steady", "a, c", 2 * 90.0),
        ("20 s", "a, c", 20.0),
        ("20 s", "a, c, load", 40.0),
        ("off", "a, c", 0.0),
    ],
)
def test_the_daemons_warm_up_is_estimated_once_per_build(
    daemons: str, mixes: str, a_build_s: float
) -> None:
    """Until steady: once per mix; for a fixed time: once per table, and before its load if one is
    measured."""
    text = STUDY.replace("DAEMONS", daemons).replace("a, c", mixes)
    study = parse_study(text, "s.yaml").study
    plan = make_plan(study, [host(memory_mib=8192)])
    trials = [step for step in plan.steps if step.test_case is not None]
    plain_s = sum(step.test_case.estimate_s for step in trials if step.test_case is not None)
    # and less than two seconds for loads and compactions of these few rows
    assert sum(step.estimate_s for step in trials) - plain_s == pytest.approx(4 * a_build_s, abs=2)


def test_the_warm_up_before_a_small_load_lasts_until_servers_are_warm() -> None:
    load = YcsbTestCase(
        mix="load", records=6000, threads=8, until_steady=True, warm_up_daemons_s=900
    )
    assert load.warm_up_estimate_s("full") == 90.0
    assert "recordcount=6000" in client_arguments(load, "x")
    warm_up = load.model_copy(update={"duration_s": 180.0, "clients": 3})
    for number, first in ((1, 0), (2, 266_666), (3, 533_333)):
        arguments = client_arguments(warm_up, "x", number, None)
        assert {"recordcount=800000", f"insertstart={first}"} <= set(arguments)
        assert f"table={table_of(load)}" in arguments
    large = warm_up.model_copy(update={"records": 10**9})
    assert "recordcount=1000000000" in client_arguments(large, "x")
