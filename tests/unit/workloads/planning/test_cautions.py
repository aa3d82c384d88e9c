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
    alone = ("[0, 1, 2, 4, 8]", "[1]")  # else the heaps of eight VMs keep all below 32 GiB
    one = (alone, ("{place: off-heap, size: 50% of node}", "{place: off-heap, size: 10% of node}"))
    (warning,) = (said for said in warnings_of(big(*one, (share, "flags"))) if "G1" in said)
    assert "v1-flash-expert" in warning and "heap: 12% of node" in warning
    with_zgc = big(*one, (share, "collector: ZGC, flags"), ('"-XX:MaxGCPauseMillis=100"', ""))
    assert not [one for one in warnings_of(with_zgc) if "G1" in one]


def test_a_share_that_keeps_heaps_on_one_side_of_32_gib_is_named() -> None:
    assert not [one for one in warnings_of(big()) if "compresses pointers" in one]
    own = big(("heap: 12% of node, flags", "flags"))
    (warning,) = (one for one in warnings_of(own) if "compresses pointers" in one)
    assert "of each node in every variant" in warning and "factors.configuration" in warning


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
