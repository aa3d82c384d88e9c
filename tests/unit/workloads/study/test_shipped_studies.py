"""Every shipped study is planned, and keeps its builds and trials in their order from version to version."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from density_study.workloads.planning.plan import Plan, make_plan, read_plan, write_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import read_study

STUDIES = {path.stem: path for path in Path("workloads/studies").glob("*.yaml")}
PLANNED = {
    "no-difference": (20, 20, "74fa57ec2984"),
    "handlers": (10, 10, "64aa3fd212cc"),
    "block-cache-off": (10, 10, "9d22a1aa2157"),
    "block-cache": (15, 15, "8149767bda63"),
    "collectors": (10, 10, "6aaa04fae8f0"),
    "capacity-curve": (18, 288, "d9bae8e0a9a3"),
    "containers": (20, 100, "62e1b5b20325"),
    "density-curve": (5, 35, "d85e63ef8cc9"),
    "genomics": (2, 26, "c5b30097f059"),
    "genomics-pipeline": (2, 12, "dd7c3e1a72cf"),
    "knee": (3, 27, "403dd1f46fff"),
    "network": (20, 60, "fd20d1c3aeaa"),
    "quickstart": (2, 6, "5835556ce00a"),
    "quickstart-full": (2, 12, "bca0fcda27ca"),
    "stores": (20, 80, "e01801b6adfc"),
    "short-circuit": (10, 50, "5b47357e99ca"),
    "talk-2013": (50, 250, "796d03a365d3"),
    "talk-2013-small": (3, 66, "c70bafb96a8c"),
    "tiers": (15, 90, "db911f497416"),
    "vm-smoke": (1, 4, "abdea996e0b6"),
    "upgrade": (10, 20, "41d51332ba51"),
}
"""Builds, trials, and a hash of all steps in order: a resumed run must find its plan unchanged."""


def planned(name: str) -> Plan:
    study = read_study(STUDIES[name]).study
    return make_plan(study, planned_hosts(study, Path("/nonexistent/runs")))


def steps(plan: Plan) -> str:
    lines = "\n".join(f"{step.build} {step.label} {step.trial}" for step in plan.steps)
    return hashlib.sha256(lines.encode()).hexdigest()[:12]


def test_every_shipped_study_is_in_the_table() -> None:
    assert set(STUDIES) == set(PLANNED)


@pytest.mark.parametrize("name", sorted(PLANNED))
def test_a_shipped_study_plans_the_same_builds_and_trials(name: str) -> None:
    plan = planned(name)
    assert (len(plan.builds), len(plan.trials), steps(plan)) == PLANNED[name]
    loads = name in ("genomics-pipeline", "capacity-curve")
    for topology in plan.topologies.values():
        assert topology.worker_stacks == (("ycsb",) if loads else ())


@pytest.mark.parametrize("name", sorted(PLANNED.keys() - {"talk-2013"}))
def test_the_plan_of_a_shipped_study_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    plan = planned(name)
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("upgrade", ["hadoop-3.4.1", "hadoop-3.4.2"]),
        ("collectors", ["g1", "zgc"]),
        ("block-cache", ["heap", "off-heap", "flash-file"]),
        ("short-circuit", ["remote", "short-circuit"]),
        ("tiers", ["heap", "offheap-448m", "file-flash-448m"]),
        ("network", ["default", "rate-100mbit", "mtu-9000", "rps-1"]),
        (
            "stores",
            ["hbase-page-cache", "accumulo-page-cache", "redis-page-cache", "rocksdb-page-cache"],
        ),
    ],
)
def test_presets_differ_in_one_factor_with_the_baseline_first(name: str, levels: list[str]) -> None:
    topologies = list(planned(name).topologies.values())
    assert [next(iter(one.levels.values())) for one in topologies] == levels
    assert {one.variant.vms_per_host for one in topologies} == {1}
    assert topologies[0].variant.configuration.properties == {}
