"""Mixes that a study defines."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase

OWN = "{name: hot-updates, read: 0.3, update: 0.5, read_modify_write: 0.2}"


def cases(mixes: str) -> dict[str, YcsbTestCase]:
    text = f"""
study: own
hosts: [{{name: here, memory: 6 GiB, roles: [master, worker, client]}}]
factors: {{vms_per_host: [1]}}
workloads: [{{ycsb: {{records: [1000], threads: [4], latency_at: [50%], mixes: {mixes}}}}}]
"""
    found = parse_study(text, "own.yaml").study.test_cases()
    return {test_case.id: test_case for test_case in found if isinstance(test_case, YcsbTestCase)}


def test_a_study_runs_its_own_mix_with_its_shares() -> None:
    found = cases(f"[load, {OWN}]")
    assert set(found) == {
        "ycsb-load-r1000-t4", "ycsb-hot-updates-r1000-t4", "ycsb-hot-updates-r1000-t4-at50pct",
    }  # fmt: skip
    own = found["ycsb-hot-updates-r1000-t4"]
    arguments = client_arguments(own, "/r/ycsb-1-")
    for proportion in ("read=0.3", "update=0.5", "insert=0.0", "scan=0.0", "readmodifywrite=0.2"):
        assert proportion.replace("=", "proportion=") in arguments
    assert own.latency_operations == ("READ",)
    assert own.label == "YCSB hot-updates"
    assert own.unnamed_knobs()["shares"] == "read 0.3, update 0.5, readmodifywrite 0.2"
    assert YcsbTestCase.model_validate_json(own.model_dump_json()) == own


@pytest.mark.parametrize(
    ("shares", "latency"),
    [("update: 0.5, insert: 0.5", ("UPDATE", "INSERT")), ("scan: 0.5, insert: 0.5", ("SCAN",)),
     ("read_modify_write: 1", ("READ",))],
)  # fmt: skip
def test_latency_is_compared_of_reads_or_else_of_writes(
    shares: str, latency: tuple[str, ...]
) -> None:
    found = cases(f"[{{name: own, {shares}}}]")
    assert found["ycsb-own-r1000-t4"].latency_operations == latency


def test_its_distribution_precedes_that_of_the_study() -> None:
    found = cases("[{name: own, read: 1, request_distribution: latest}]")
    assert "requestdistribution=latest" in client_arguments(found["ycsb-own-r1000-t4"], "/r/")


@pytest.mark.parametrize(
    ("mixes", "what"),
    [
        (f"[{OWN.replace('0.3', '0.4')}]", r"mixes\[0\].*add up to 1.1; they must add up to 1"),
        ("[{name: c, read: 1}]", r"mixes\[0\]\.name.*'c' is a mix of this program"),
        ("[{name: own, reed: 1}]", "unknown key 'reed'"),
        ("[{name: Own Mix, read: 1}]", "is not a name of lower-case words"),
        ("[{name: own, read: 1}, {name: own, scan: 1}]", "two different mixes are named 'own'"),
        ("[cc]", r"mixes\[0\]: write 'load'"),
    ],
)
def test_a_faulty_mix_is_named(mixes: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        cases(mixes)


def test_a_test_case_needs_a_mix_that_exists() -> None:
    with pytest.raises(ValueError, match="no mix 'nobody'"):
        YcsbTestCase(mix="nobody", records=1, threads=1)
