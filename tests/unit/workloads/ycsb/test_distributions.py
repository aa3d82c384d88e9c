"""Distributions of keys and scans, and the order of inserts."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments, table_of
from density_study.workloads.ycsb.setting import YcsbSetting


def settings(keys: str, mixes: str = "[load, e]") -> dict[str, YcsbSetting]:
    text = f"""
study: own
hosts: [{{name: here, memory: 6 GiB, roles: [master, worker, client]}}]
factors: {{vms_per_host: [1]}}
workloads: [{{ycsb: {{records: [1000], threads: [4], mixes: {mixes}, {keys}}}}}]
"""
    found = parse_study(text, "own.yaml").study.settings()
    return {setting.mix: setting for setting in found if isinstance(setting, YcsbSetting)}


def properties(setting: YcsbSetting) -> dict[str, str]:
    words = client_arguments(setting, "/r/ycsb-1-")
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
    setting = settings(f"request_distribution: {written}")["e"]
    assert wanted.items() <= properties(setting).items()
    assert YcsbSetting.model_validate_json(setting.model_dump_json()) == setting
    row = setting.table_row()
    assert isinstance(row["request_distribution"], str)
    assert setting.unnamed_knobs()["request_distribution"] == row["request_distribution"]


def test_a_mix_may_have_its_own() -> None:
    own = "{name: hot, read: 1.0, request_distribution: {hotspot: {keys: 1%, operations: 99%}}}"
    setting = settings("request_distribution: uniform", f"[load, {own}]")["hot"]
    assert properties(setting)["hotspotdatafraction"] == "0.01"
    assert YcsbSetting.model_validate_json(setting.model_dump_json()) == setting


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("pareto", "write zipfian, uniform, latest, sequential"),
        ("{hotspot: {share: 1%}}", "`keys` and `operations`"),
        ("{hotspot: {keys: 5}}", "not a percentage"),
        ("{zipfian: {}}", "no distribution of keys"),
        ("{exponential: {operations: 100%}}", "has no end"),
    ],
)
def test_faulty_distributions_are_named(written: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        settings(f"request_distribution: {written}")
    assert message in str(caught.value)
    assert "request_distribution" in str(caught.value)


def test_scans_have_a_range_and_a_distribution() -> None:
    keys = "min_scan_length: 10, max_scan_length: 50, scan_length_distribution: zipfian"
    setting = settings(keys)["e"]
    assert {"minscanlength": "10", "maxscanlength": "50", "scanlengthdistribution": "zipfian"}.items() <= (
        properties(setting).items()
    )  # fmt: skip
    assert setting.unnamed_knobs()["min_scan_length"] == 10
    assert "minscanlength" not in properties(
        settings("threads: [4]".replace("threads: [4]", "clients: 1"))["e"]
    )
    with pytest.raises(InputError, match="exceeds max_scan_length"):
        settings("min_scan_length: 101")


def test_ordered_inserts_have_a_table_of_their_own() -> None:
    ordered, hashed = settings("insert_order: ordered"), settings("clients: 1")
    for mix in ("load", "e"):
        found = properties(ordered[mix])
        assert (found["insertorder"], found["zeropadding"]) == ("ordered", "10")
        assert "insertorder" not in properties(hashed[mix])
    assert table_of(ordered["e"]) == "usertable_1000_ordered" != table_of(hashed["e"])
    assert ordered["load"].writes_for(ordered["e"]) and not ordered["load"].writes_for(hashed["e"])
    assert ordered["e"].id == "ycsb-e-r1000-t4-ordered"
