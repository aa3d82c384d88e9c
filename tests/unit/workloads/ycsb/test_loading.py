"""Tables larger than memory: limits follow the estimate, and the plan counts loading and compactions."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.loading import LEAST_LOAD_LIMIT_S

HOSTS = "".join(
    f"""
  - {{name: h{n}, address: 192.0.2.{n}, cores: 64, memory: 256 GiB,
     roles: [{"worker" if n else "master, client"}],
     disks: [{", ".join(f"{{path: /data/{d}, disk_type: flash}}" for d in range(12))}]}}"""
    for n in range(10)
).replace("192.0.2.0", "192.0.2.10")


def planned(mixes: str, records: str, more: str = "", store: str = "") -> Plan:
    text = f"""
study: s
provider: physical
ssh: {{user: study}}
hosts:{HOSTS}
workloads: [{{ycsb: {{records: [{records}], mixes: [{mixes}], threads: [64], duration: 10 min{more}}}}}]
factors: {{vms_per_host: [0]}}
{store}
"""
    study = parse_study(text, "big.yaml").study
    return make_plan(study, assumed_hosts(study))


def test_a_load_of_days_is_given_days() -> None:
    load = planned("load, c", "1000000000").trials[0]
    assert load.test_case is not None and load.estimate_s > 11 * 3600
    assert load.test_case.load_limit_s > 4 * 46 * 3600  # of a cluster as slow as two cores
    small = planned("load, c", "1000").trials[0].test_case
    assert small is not None and small.load_limit_s == LEAST_LOAD_LIMIT_S


def test_the_plan_counts_a_load_that_no_trial_measures() -> None:
    measured, unmeasured = planned("load, c", "1000000000"), planned("c", "1000000000")
    load_s = measured.trials[0].estimate_s
    # measured or not, the table is loaded once
    assert sum(step.estimate_s for step in unmeasured.trials) == pytest.approx(
        sum(step.estimate_s for step in measured.trials), abs=0.01 * load_s
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
    assert second == pytest.approx(first, abs=600) and second > 11 * 3600


def test_rows_of_twice_the_memory_are_planned_once_they_are_large_enough() -> None:
    with pytest.raises(InputError, match=r"32 bits\. Make the rows larger"):
        planned("load, c", "2x memory")
    larger = planned("load, c", "2x memory", ", row: {fields: 10, field_length: 1000 B}")
    (records,) = {step.test_case.records for step in larger.trials if step.test_case}
    assert 400e6 < records < 600e6
