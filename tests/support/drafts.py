"""Hosts, studies and manifests for tests: small, valid, without any process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Topology
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.testdfsio.test_case import DfsioTestCase

QUICKSTART = Path(__file__).with_name("quickstart.yaml")


def host(memory_mib: int = 6144, disk_type: str = "flash") -> Host:
    disk = Disk("/data", disk_type)  # type: ignore[arg-type]
    return Host("here", "127.0.0.1", 2, memory_mib, (disk,), ("master", "worker", "client"))


def study(**overrides: object) -> Study:
    if not overrides:
        return _quickstart()
    return parse_study(QUICKSTART.read_text(), "quickstart.yaml", overrides).study


def plan(**overrides: object) -> Plan:
    return make_plan(study(**overrides), [host()]) if overrides else _planned_quickstart()


def ycsb_study(keys: str, **replaced: str) -> Study:
    """The quickstart, whose entry of YCSB has these keys too. replaced: texts, with `__` for `: `."""
    text = QUICKSTART.read_text().replace("threads: [8]", f"threads: [8]\n      {keys}")
    for old, new in replaced.items():
        old = old.replace("__", ": ")
        assert old in text
        text = text.replace(old, new)
    return parse_study(text, "q.yaml").study


@cache
def _quickstart() -> Study:
    """Frozen, and so often read that all tests of a process share it."""
    return parse_study(QUICKSTART.read_text(), "quickstart.yaml").study


@cache
def _planned_quickstart() -> Plan:
    return make_plan(_quickstart(), [host()])


@cache
def topology() -> Topology:
    (one,) = (one for one in plan().built if one.name == "v1-flash")
    return one


def draft(trial: str) -> Manifest:
    return Manifest(
        study="s",
        run="r",
        trial=trial,
        repetition=1,
        build="b1-v1-flash",
        order=0,
        seed=1,
        state="incomplete",
        test_case_id="testdfsio-write-n1",
        test_case=DfsioTestCase(mode="write", files=1, file_size_mib=1, read_size_bytes=1024),
        topology=topology(),
        isolation=Isolation.PROCESS,
    )
