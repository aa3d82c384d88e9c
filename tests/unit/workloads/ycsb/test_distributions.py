"""Distributions of keys and scans, and the order of inserts."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments, table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase


def cases(keys: str, mixes: str = "[load, e]") -> dict[str, YcsbTestCase]:
    text = f"""
study: own
hosts: [{{name: here, memory: 6 GiB, roles: [master, worker, client]}}]
factors: {{vms_per_host: [1]}}
workloads: [{{ycsb: {{records: [1000], threads: [4], mixes: {mixes}, {keys}}}}}]
"""
    found = parse_study(text, "own.yaml").study.test_cases()
    return {test_case.mix: test_case for test_case in found if isinstance(test_case, YcsbTestCase)}


def properties(test_case: YcsbTestCase) -> dict[str, str]:
    words = client_arguments(test_case, "/r/ycsb-1-")
    return dict(word.split("=", 1) for word in words if "=" in word)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("zipfian", {"requestdistribution": "zipfian"}),
        ("sequential", {"requestdistribution": "sequential"}),
        (
            "{hotspot: {keys: 5%}}",
            {
                "requestdistribution": "hotspot",
                "hotspotdatafraction": "0.05",
                "hotspotopnfraction": "0.8",
            },
        ),
        (
            "{exponential: {keys: 10%, operations: 99%}}",
            {
                "requestdistribution": "exponential",
                "exponential.percentile": "99",
                "exponential.frac": "0.1",
            },
        ),
        ("exponential", {"exponential.percentile": "95", "exponential.frac": "0.857143"}),
    ],
)
def test_keys_are_drawn_as_the_study_says(written: str, wanted: dict[str, str]) -> None:
    test_case = cases(f"request_distribution: {written}")["e"]
    assert wanted.items() <= properties(test_case).items()
    assert YcsbTestCase.model_validate_json(test_case.model_dump_json()) == test_case
    row = test_case.table_row()
    assert isinstance(row["request_distribution"], str)
    assert test_case.unnamed_knobs()["request_distribution"] == row["request_distribution"]


def test_a_mix_may_have_its_own() -> None:
    own = "{name: hot, read: 1.0, request_distribution: {hotspot: {keys: 1%, operations: 99%}}}"
    test_case = cases("request_distribution: uniform", f"[load, {own}]")["hot"]
    assert properties(test_case)["hotspotdatafraction"] == "0.01"
    assert YcsbTestCase.model_validate_json(test_case.model_dump_json()) == test_case


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("pareto", "write zipfian, uniform, latest, sequential"),
        ("{hotspot: {share: 1%}}", "`keys` and `operations`"),
        ("{hotspot: {keys: 5}}", "not a percentage"),
        ("{zipfian: {}}", "not a distribution of keys"),
        ("{exponential: {operations: 100%}}", "has no end"),
    ],
)
def test_faulty_distributions_are_named(written: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        cases(f"request_distribution: {written}")
    assert message in str(caught.value)
    assert "request_distribution" in str(caught.value)


def test_scans_have_a_range_and_a_distribution() -> None:
    keys = "min_scan_length: 10, max_scan_length: 50, scan_length_distribution: zipfian"
    test_case = cases(keys)["e"]
    assert {"minscanlength": "10", "maxscanlength": "50", "scanlengthdistribution": "zipfian"}.items() <= (
        properties(test_case).items()
    )  # fmt: skip
    assert test_case.unnamed_knobs()["min_scan_length"] == 10
    assert "minscanlength" not in properties(
        cases("threads: [4]".replace("threads: [4]", "clients: 1"))["e"]
    )
    with pytest.raises(InputError, match="exceeds max_scan_length"):
        cases("min_scan_length: 101")


def test_ordered_inserts_have_a_table_of_their_own() -> None:
    ordered, hashed = cases("insert_order: ordered"), cases("clients: 1")
    for mix in ("load", "e"):
        found = properties(ordered[mix])
        assert (found["insertorder"], found["zeropadding"]) == ("ordered", "10")
        assert "insertorder" not in properties(hashed[mix])
    assert table_of(ordered["e"]) == "usertable_1000_ordered" != table_of(hashed["e"])
    assert ordered["load"].writes_for(ordered["e"]) and not ordered["load"].writes_for(hashed["e"])
    assert ordered["e"].id == "ycsb-e-r1000-t4-ordered"
