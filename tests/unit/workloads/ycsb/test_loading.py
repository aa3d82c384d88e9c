"""Tables larger than memory: limits follow the estimate, and the plan counts loading and compactions."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.loading import LEAST_LOAD_LIMIT_S
from density_study.workloads.ycsb.test_case import AROUND_ESTIMATE_S, YcsbTestCase
from tests.support.made_runs.fake_ycsb import case

ROWS = "1000000000"
ROWS_OF_ONE_THREAD_S = 1e9 / 750


def hosts(workers: int = 9, disk_type: str = "flash", cores: int = 64, drives: int = 12) -> str:
    disks = ", ".join(f"{{path: /data/{d}, disk_type: {disk_type}}}" for d in range(drives))
    return "".join(
        f"""
  - {{name: h{n}, address: 192.0.2.{n or 100}, cores: {cores}, memory: 256 GiB,
     roles: [{"worker" if n else "master, client"}], disks: [{disks}]}}"""
        for n in range(workers + 1)
    )


def planned(
    mixes: str, records: str, more: str = "", store: str = "", on: str = "", threads: int = 64
) -> Plan:
    text = f"""
study: s
provider: physical
ssh: {{user: study}}
hosts:{on or hosts()}
workloads:
  - ycsb: {{records: [{records}], mixes: [{mixes}], threads: [{threads}], duration: 10 min{more}}}
factors: {{vms_per_host: [0]}}
{store}
"""
    study = parse_study(text, "big.yaml").study
    return make_plan(study, assumed_hosts(study))


def load_s(on: str = "") -> float:
    """Estimated seconds of the load before a trial, with the compactions."""
    plan = planned("a, c", ROWS, "", "stack: {replication: 3}", on, threads=512)
    first, second = (step.estimate_s for step in plan.trials)
    return abs(first - second)


def test_a_trial_of_fixed_length_is_estimated_without_its_nodes() -> None:
    run = case("c")
    nowhere: Any = None  # has no nodes
    assert run.estimate_on(nowhere) == run.estimate_s == AROUND_ESTIMATE_S + 20


def test_a_load_of_hours_is_given_more() -> None:
    plan = planned("load, c", ROWS)
    load, topology = plan.trials[0], plan.topology_of(plan.trials[0].build)
    assert isinstance(load.test_case, YcsbTestCase)
    assert load.estimate_s > 5 * 3600  # 48,000 rows per second of 64 threads
    assert load.test_case.load_limit_on(topology) > 4 * load.estimate_s
    small = planned("load, c", "1000").trials[0].test_case
    assert isinstance(small, YcsbTestCase)
    assert small.load_limit_on(topology) == LEAST_LOAD_LIMIT_S


def test_few_threads_are_given_their_time() -> None:
    """One thread loads 750 rows per second: the limit was that of eight."""
    plan = planned("load, c", ROWS, threads=1)
    load = plan.trials[0].test_case
    assert isinstance(load, YcsbTestCase)
    assert load.load_limit_on(plan.topology_of(plan.trials[0].build)) > 4 * ROWS_OF_ONE_THREAD_S


def test_a_larger_cluster_loads_sooner() -> None:
    three, nine = load_s(hosts(3)), load_s()
    assert 2.5 < three / nine < 3.5
    assert load_s(hosts(3, "hdd", drives=1)) > 1.2 * three, "one drive with heads per host bounds"
    assert load_s(hosts(3, cores=2)) > 1.2 * three, "few cores do"


def test_the_plan_counts_a_load_that_no_trial_measures() -> None:
    measured, unmeasured = planned("load, c", "1000000000"), planned("c", "1000000000")
    measured_s = measured.trials[0].estimate_s
    # measured or not, the table is loaded once
    assert sum(step.estimate_s for step in unmeasured.trials) == pytest.approx(
        sum(step.estimate_s for step in measured.trials), abs=0.01 * measured_s
    )


def test_the_plan_counts_the_compaction_once_per_table() -> None:
    first, second = (step.estimate_s for step in planned("load, a, c", "1000000000").trials[1:])
    # 1.4 TB on 9 servers at 50 MiB/s each: three quarters of an hour
    assert 2000 < first - second < 6000


def test_the_plan_counts_the_load_before_each_trial_of_a_store_without_snapshots() -> None:
    cassandra = "store: {name: cassandra, durability: synced}"
    first, second = (
        step.estimate_s for step in planned("load, a, c", "1000000000", "", cassandra).trials[1:]
    )
    assert second == pytest.approx(first, abs=600) and second > 5 * 3600


def test_rows_of_twice_the_memory_are_planned_once_they_are_large_enough() -> None:
    with pytest.raises(InputError, match=r"32 bits\. Make the rows larger"):
        planned("load, c", "2x memory")
    larger = planned("load, c", "2x memory", ", row: {fields: 10, field_length: 1000 B}")
    (records,) = {step.test_case.records for step in larger.trials if step.test_case}
    assert 400e6 < records < 600e6
