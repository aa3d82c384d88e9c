"""How evenly a trial's requests were spread over servers and regions, as a part of its row of `trials`."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.analysis.validity.judge import judge
from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.raw.counter_rows import region_rows, request_row
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import local

EMPTY = {"busiest_server": None, "busiest_region_share": None}


def state(*requests: int, spare: bool = False) -> dict[str, Any]:
    """One region per server, half of whose requests are writes."""
    halves = [{"read_requests": n // 2, "write_requests": n - n // 2} for n in requests]
    servers = [{"name": f"s{n}", "regions": 1, **half} for n, half in enumerate(halves)]
    if spare:
        servers.append({"name": "spare", "regions": 0, "read_requests": 0, "write_requests": 0})
    return {"hbase": {"servers": servers, "regions": [{"name": s["name"], **h} for s, h in
                                                      zip(servers, halves, strict=False)]}}  # fmt: skip


def row(before: dict[str, Any], after: dict[str, Any], **more: Any) -> dict[str, Any]:
    states = {"state_before": before, "state_after": after}
    test_case = YcsbTestCase(mix="c", records=1000, threads=8, duration_s=60.0)
    whole = {"fault": None, "topology": local(), "test_case": test_case, **more}
    return request_row(Manifest.model_construct(**states, **whole))


@pytest.mark.parametrize(
    ("before", "after", "busiest", "share"),
    [
        ((0, 0), (1000, 1000), 1.0, 0.5),
        ((0, 0, 0, 0), (4000, 1000, 1000, 2000), 2.0, 0.5),
        ((5000, 0), (5500, 1500), 1.5, 0.75),  # what came before the window does not count
    ],
)
def test_the_busiest_is_compared_with_the_mean(
    before: tuple[int, ...], after: tuple[int, ...], busiest: float, share: float
) -> None:
    found = {"busiest_server": busiest, "busiest_region_share": share}
    assert row(state(*before), state(*after)) == found


def test_servers_are_hot_beside_one_without_regions() -> None:
    """But the table of a noisy neighbour's victim is on one node, and who may serve it in a cluster of others
    is theirs to say."""
    states = state(0, 0, spare=True), state(600, 600, spare=True)
    assert row(*states)["busiest_server"] == 1.5
    victim = YcsbTestCase(mix="c", records=1000, threads=8, duration_s=60.0, neighbour_threads=8)
    assert row(*states, test_case=victim)["busiest_server"] == 1.0
    assert row(*states, topology=None)["busiest_server"] == 1.0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((0, 0), (120, 60)),  # too few
        ((900, 0), (0, 5000)),  # counters were reset
        ((0, 0), (500, 500, 500)),  # another server
    ],
)
def test_what_cannot_be_known_is_null(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert row(state(*before), state(*after)) == EMPTY


def test_a_fault_and_another_store_have_none() -> None:
    fault = InjectedFault.model_construct()
    assert row(state(0, 0), state(900, 900), fault=fault) == EMPTY
    assert row({"store": {}}, {"store": {}}) == EMPTY


@pytest.mark.parametrize(("busiest", "flagged"), [(1.49, 0), (1.51, 1), (None, 0)])
def test_a_hot_server_is_a_flag(busiest: float | None, flagged: int) -> None:
    judged = judge({"busiest_server": busiest})
    assert sum("hot server" in flag for flag in judged.flags) == flagged


def test_each_region_has_its_requests_locality_and_files() -> None:
    before = {"hbase": {"regions": [{"name": "a", "read_requests": 5, "write_requests": 1}]}}
    more = {
        "start_key": "user1",
        "server": "s1",
        "locality": 0.5,
        "store_files": 3,
        "store_file_mib": 7,
    }
    after = {
        "hbase": {
            "regions": [
                {"name": "a", "read_requests": 25, "write_requests": 1, **more},
                {"name": "new", "read_requests": 9, "write_requests": 9},
            ]
        }
    }
    made = Manifest.model_construct(trial="t", state_before=before, state_after=after, fault=None)
    first, new = region_rows(made)
    assert first == {"trial": "t", "region": "a", "requests": 20, **more}
    assert new["requests"] is None  # nobody knows what it had before
    known = Manifest.model_construct(trial="t", state_before={}, state_after={}, fault=None)
    assert list(region_rows(known)) == []
