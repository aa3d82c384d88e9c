"""A cluster that serves others is paced by default, and a plan lists what will be requested of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.existing import Limits
from density_study.cluster.providers.existing import limits as module
from density_study.cluster.providers.existing.limits import check_limits, others_p99_ms
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.requests import requests_of
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import parse_study

STUDY = """
study: s
provider: existing
existing: {configuration: /etc/hadoop, folder: /user/me/density LIMITS}
workloads:
  - testdfsio: {modes: [write, read], files: 4, file_size: 64 MiB}
  - ycsb: {records: [100_000], mixes: [load, c], threads: [8], duration: 60 s, warm_up: 5 s MORE}
repetitions: 2
"""


def planned(limits: str = "", more: str = "") -> Plan:
    text = STUDY.replace("LIMITS", limits and f", limits: {limits}").replace("MORE", more)
    study = parse_study(text, "s.yaml").study
    return make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))


def ids(plan: Plan) -> set[str]:
    return {step.test_case.id for step in plan.trials if step.test_case}


def test_saturation_and_loads_are_paced_unless_the_study_says_off() -> None:
    assert {one for one in ids(planned()) if "ycsb" in one} == {
        "ycsb-load-r100000-t8-at1000ps", "ycsb-c-r100000-t8-at1000ps"}  # fmt: skip
    assert "ycsb-c-r100000-t8-at50ps" in ids(planned("{rate: 50/s}"))
    assert "ycsb-c-r100000-t8" in ids(planned("{rate: off}"))
    assert "ycsb-c-r100000-t8-at200ps" in ids(planned("", ", latency_at: [200/s]"))


def test_a_slow_load_has_the_time_that_its_pace_takes() -> None:
    plan = planned("{rate: 10/s}")
    (load, *_) = [s for s in plan.trials if s.test_case and "load" in s.test_case.id]
    limited = load.test_case.load_limit_on(plan.topology_of(load.build))  # type: ignore[union-attr]
    assert load.estimate_s > 10_000  # 100,000 rows at 10 per second
    assert limited > 3 * 10_000


@pytest.mark.parametrize(
    ("limits", "more", "said"),
    [
        ("", ", latency_at: [70%]", "needs the cluster's saturation"),
        ("", ", latency_at: [5000/s]", "exceeds existing.limits.rate, 1000/s"),
        ("{rate: 0.1/s}", "", "is not a rate"),
        ("{hdfs_free: 10}", "", "is not a percentage"),
        ("{others_p99: 50}", "", "has no unit"),
    ],
)
def test_what_the_limits_forbid_is_refused(limits: str, more: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        planned(limits, more)


class _Cluster:
    """As far as `check_limits` looks."""

    access = None

    def __init__(self, limits: Limits) -> None:
        own = type("Existing", (), {"limits": limits, "endpoint": None, "namespace": "mine"})()
        self.topology = type("Topology", (), {"existing": own})()
        self.endpoints = self

    def all(self, _: str) -> dict[str, str]:
        return {"rs1,16020,1": "rs1:16030"}

    def one(self, _: str) -> str:
        return "nn:9870"


LATENCIES = {
    "Namespace_mine_table_usertable_metric_getTime_99th_percentile": 900,
    "Namespace_hbase_table_meta_metric_getTime_99th_percentile": 900,
    "Namespace_default_table_orders_metric_getTime_99th_percentile": 42,
    "Namespace_default_table_orders_metric_getTime_mean": 900,
    "Namespace_prod_table_a_table_b_metric_scanTime_99th_percentile": 7,
}


BEAN = "Hadoop:service=HBase,name=RegionServer,sub=TableRequests_Namespace_"
BY_TABLE = [
    {"name": f"{BEAN}{table}", "tag.Context": "regionserver", "TableReadQueryPerSecond_count": 4,
     "GetTime_99.9th_percentile": 900, "GetTime_99th_percentile": get_ms, "ScanTime_99th_percentile": 7,
     "ScanBlockBytesScanned_99th_percentile": 900}
    for table, get_ms in (("mine_table_t", 900), ("hbase_table_meta", 900), ("default_table_orders", 42))
]  # fmt: skip
"""As HBase 2.6.4 shows them, a bean for each table."""


def test_the_latencies_of_others_are_those_of_their_tables_alone() -> None:
    assert others_p99_ms([LATENCIES], "mine") == {
        "default:orders get": 42.0, "prod:a_table_b scan": 7.0}  # fmt: skip
    assert others_p99_ms(BY_TABLE, "mine") == {
        "default:orders get": 42.0, "default:orders scan": 7.0}  # fmt: skip
    assert others_p99_ms(BY_TABLE[:1], "mine") == {}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (
            Limits(others_p99_ms=40),
            "default:orders get on RegionServer rs1,16020,1 has a p99 of 42 ms",
        ),
        (Limits(hdfs_free_percent=30), "HDFS has 25.0 % of its capacity left"),
        (Limits(others_p99_ms=50, hdfs_free_percent=20), ""),
        (Limits(), ""),
    ],
)
def test_a_trial_stops_beyond_a_limit(
    limits: Limits, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def beans(address: str, _: str, __: object) -> list[dict[str, float]]:
        return (
            [{"CapacityRemaining": 25, "CapacityTotal": 100}] if "9870" in address else [LATENCIES]
        )  # type: ignore[list-item]

    monkeypatch.setattr(module, "beans", beans)
    cluster = _Cluster(limits)
    if not said:
        check_limits(cluster)  # type: ignore[arg-type]
        return
    with pytest.raises(StudyError, match="stopped, so that others are not disturbed") as caught:
        check_limits(cluster)  # type: ignore[arg-type]
    assert said in caught.value.what


def test_a_server_that_hides_its_latencies_stops_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "beans", lambda *_: [])
    with pytest.raises(StudyError, match="does not show the latencies"):
        check_limits(_Cluster(Limits(others_p99_ms=50)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        ({"tag.Context": "regionserver"}, "does not show the latencies of its tables"),
        (
            {"Namespace_default_table_orders_metric_getTime_mean": 3},
            "does not show the 99th percentile of default:orders get",
        ),
        (
            {**LATENCIES, "Namespace_default_table_orders_metric_getTime_99th_percentile": "NaN"},
            "does not show the 99th percentile of default:orders get",
        ),
        ({"Namespace_mine_table_usertable_metric_getTime_99th_percentile": 900}, ""),
    ],
)
def test_a_percentile_that_is_not_shown_is_unknown_and_not_quiet(
    shown: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asks others' tables on a server that shows the study's own alone."""
    monkeypatch.setattr(module, "beans", lambda *_: [shown])
    if not said:
        check_limits(_Cluster(Limits(others_p99_ms=50)))  # type: ignore[arg-type]
        return
    with pytest.raises(StudyError, match=said):
        check_limits(_Cluster(Limits(others_p99_ms=50)))  # type: ignore[arg-type]


def test_each_kind_of_request_is_listed_before_the_run() -> None:
    found = [str(one) for one in requests_of(planned())]
    assert "HDFS: make /user/me/density (WRITE on its parent), and delete it, 2 times" in found
    assert (
        "HBase: create namespace density_study (ADMIN), write a row, and drop it, 2 times" in found
    )
    assert any(
        one.startswith("YARN: submit to the queue (SUBMIT_APPLICATIONS), 4 jobs") for one in found
    )
    assert "HDFS: files of TestDFSIO written, 512 MiB" in found
    assert "HBase: read (READ, WRITE) of c, 1000/s for 60 s" in found
    fast = [str(one) for one in requests_of(planned("{rate: off}"))]
    assert "HBase: insert (READ, WRITE) of load, as fast as it answers for 100,000 rows" in fast


def test_a_study_that_builds_its_cluster_asks_nobody() -> None:
    study = parse_study(
        "study: s\nhosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]\n"
        "factors: {vms_per_host: [1]}\n"
        "workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]\n",
        "s.yaml",
    ).study
    assert requests_of(make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))) == ()
