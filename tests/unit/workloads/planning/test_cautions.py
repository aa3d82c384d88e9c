"""A plan warns of sizes that spoil a number: heaps beyond what G1 is run with, maps that run alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.dags.cli.plan_page import warnings_of
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import parse_study, read_study

BIG = Path(__file__).parents[3] / "golden" / "big.yaml"


def big(*changes: tuple[str, str]) -> Plan:
    text = BIG.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    study = parse_study(text, "big.yaml").study
    return make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))


def test_large_heaps_of_g1_are_named_with_the_remedy() -> None:
    share = "heap: 12% of node, flags"
    (warning,) = (one for one in warnings_of(big((share, "flags"))) if "G1" in one)
    assert "v0-flash-expert" in warning and "heap: 12% of node" in warning
    with_zgc = big((share, "collector: ZGC, flags"), ('"-XX:MaxGCPauseMillis=100"', ""))
    assert not [one for one in warnings_of(with_zgc) if "G1" in one]


@pytest.mark.parametrize(
    ("files", "is_said"), [(287, False), (288, True), (432, False), (574, False)]
)
def test_maps_that_run_alone_are_named(files: int, is_said: bool) -> None:
    plan = big(("files: 270", f"files: {files}"))
    found = [one for one in warnings_of(plan) if "alone" in one]
    assert bool(found) == is_said, found


def test_the_plan_of_ten_hosts_has_neither() -> None:
    study = read_study(BIG).study
    plan = make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))
    assert not [one for one in warnings_of(plan) if "alone" in one or "G1" in one]
