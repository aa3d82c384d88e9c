"""A study whose questions end once they are answered, and measurements of it."""

from __future__ import annotations

from collections.abc import Sequence

from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.summary import summary
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study_file import StudyFile

HOSTS = """\
study: answered
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 4, memory: 16 GiB, roles: [master, client]}
  - {name: w1, address: 192.0.2.2, cores: 8, memory: 16 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: flash}, {path: /data/2, disk_type: hdd}]}
stack: {replication: 1}
repetitions: {at_least: 5, at_most: 8}
"""
STUDY = f"""{HOSTS}
factors:
  vms_per_host: [0]
  disk_type: [flash]
  configuration: {{a: {{}}, b: {{hbase-site: {{hbase.regionserver.handler.count: 40}}}}}}
workloads:
  - ycsb: {{records: [200000], mixes: [load, c, e], threads: [16], duration: 60 s, warm_up: 10 s}}
expect:
  - {{name: reads, workload: c, compare: configuration, b_over_a: "> 1"}}
  - {{name: scans, workload: e, compare: configuration, b_over_a: "> 1"}}
"""
DISK_TYPES = f"""{HOSTS}
factors: {{vms_per_host: [0], disk_type: [hdd, flash]}}
workloads:
  - ycsb: {{records: [200000], mixes: [load, read45-insert55, scan95-insert5], threads: [16],
      duration: 60 s, warm_up: 10 s}}
questions: [C4]
"""
CLEAR = (1.5, 1.51, 1.49, 1.5, 1.52, 1.48, 1.5, 1.5)
SLIGHT = (1.00, 1.02, 1.05, 1.01, 1.04, 1.02, 1.03, 1.05)  # may become clear with three more builds
NONE = (0.99, 1.02, 0.98, 1.01, 1.0, 1.01, 0.99, 1.0)


def measured(
    file: StudyFile, plan: Plan, blocks: int, second_variant: dict[str, Sequence[float]]
) -> tuple[summary.TestCaseSummary, ...]:
    """The second variant's points by mode; all others are 1."""
    last = max(plan.topologies.values(), key=lambda topology: topology.order)
    ones = (1.0,) * blocks
    return tuple(
        made_up(
            topology,
            test_case,
            tuple(second_variant.get(test_case.mode_name, ones)[:blocks])
            if topology is last
            else ones,
        )
        for topology in plan.topologies.values()
        for test_case in file.study.test_cases()
    )


DISK_RATES = """\
study: decided
provider: physical
ssh: {user: nobody}
hosts:
  - {name: m, address: 192.0.2.1, cores: 4, memory: 16 GiB, roles: [master, client]}
  - {name: w1, address: 192.0.2.2, cores: 8, memory: 16 GiB, roles: [worker],
     disks: [{path: /data/1, disk_type: hdd}, {path: /data/2, disk_type: flash}]}
factors: {vms_per_host: [0], disk_type: [hdd, flash]}
stack: {replication: 1}
workloads:
  - ycsb: {records: [200000], mixes: [b], threads: [16], latency_at: [50%], duration: 60 s, warm_up: 10 s}
repetitions: 8
questions: [disk-rate]
"""
