"""`threads` by store: one test case, with the number of threads of each store."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Plan
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase

STUDY = """
study: s
hosts: [{{name: here, memory: 6 GiB, roles: [master, worker, client]}}]
factors: {{vms_per_host: [1], store: [hbase, redis]}}
repetitions: 1
workloads:
- ycsb: {{records: [1000], mixes: [c], threads: {threads}, {more}}}
"""
BOTH = "[{hbase: 8, redis: 64}, {hbase: 32}]"


def planned(folder: Path, threads: str, more: str = "duration: 2 min") -> Plan:
    (folder / "s.yaml").write_text(STUDY.format(threads=threads, more=more))
    plan = plan_study(folder / "s.yaml", runs=folder / "runs").plan
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    return plan


def threads_of(plan: Plan) -> dict[tuple[str, str], tuple[int, int | None]]:
    """By store and test case: its threads, and the least of the warm-up."""
    found = {}
    for step in plan.trials:
        assert isinstance(step.test_case, YcsbTestCase)
        store = plan.topology_of(step.build).store.name
        found[store, step.test_case.id] = (step.test_case.threads, step.test_case.warm_up_threads)
    return found


def test_one_test_case_has_the_threads_of_each_store(tmp_path: Path) -> None:
    assert threads_of(planned(tmp_path, BOTH)) == {
        ("hbase", "ycsb-c-r1000-thbase8-redis64"): (8, 32),
        ("redis", "ycsb-c-r1000-thbase8-redis64"): (64, 64),
        ("hbase", "ycsb-c-r1000-thbase32"): (32, 32),
    }


def test_clients_get_them_and_the_label_names_both(tmp_path: Path) -> None:
    plan = planned(tmp_path, "[{hbase: 8, redis: 64}]")
    for step in plan.trials:
        assert isinstance(step.test_case, YcsbTestCase)
        arguments = client_arguments(step.test_case, "/x")
        number = "8" if plan.topology_of(step.build).store.name == "hbase" else "64"
        assert arguments[arguments.index("-threads") + 1] == number
        assert step.test_case.summary_fields()["parameters"]["threads"] == int(number)
        words = "1,000 records, 8 threads on HBase and 64 threads on Redis"
        assert step.test_case.size_label == words


def test_a_rate_is_offered_by_the_most_threads_of_each_store(tmp_path: Path) -> None:
    found = threads_of(planned(tmp_path, BOTH, "latency_at: [500/s]"))
    paced = {key: numbers for key, numbers in found.items() if key[1].endswith("at500ps")}
    assert paced == {
        ("hbase", "ycsb-c-r1000-thbase32-redis64-at500ps"): (32, 32),
        ("redis", "ycsb-c-r1000-thbase32-redis64-at500ps"): (64, 64),
    }


def test_a_search_for_threads_begins_with_the_fewest_of_each_store(tmp_path: Path) -> None:
    plan = planned(tmp_path, BOTH, "search: {max_threads_gain: 5%}")
    begun = {
        plan.topology_of(step.build).store.name: step.test_case.search.start_threads
        for step in plan.trials
        if isinstance(step.test_case, YcsbTestCase) and step.test_case.search
    }
    assert begun == {"hbase": 8, "redis": 64}


@pytest.mark.parametrize(
    ("threads", "message"),
    [
        ("[{hbase: 8}]", "`threads` names no number for Redis"),
        ("[{hbase: 8, redis: 8}, {rocksdb: 4}]", "its threads are of other stores than HBase"),
        ("[{hbase: 8, redsi: 64}]", "there is no store 'redsi'"),
        ("[{hbase: 0, redis: 64}]", "0 is no number of threads"),
        ("[{}]", "write a number by store"),
        ("[8, {hbase: 8, redis: 64}]", "in every element, or in none"),
    ],
)
def test_a_slip_is_refused_with_the_reason(tmp_path: Path, threads: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(tmp_path, threads)
