"""`factors.oversubscribe`: more containers beside the same daemons, larger quotas, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.analysis.summarise.first_break import first_breaks
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.memory import daemon_heaps
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.container.container import containers
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.testdfsio.hdfs_policies import maps_at_once

TEXT = """
study: promised
provider: PROVIDER
hosts:
  - {name: here, cores: 2, memory: 6 GiB, roles: [master, worker, client]}
workloads:
  - testdfsio: {modes: [write], files: 4, file_size: 64 MiB}
factors:
  vms_per_host: [2]
  oversubscribe: LEVELS
"""
LEVELS = "[none, {memory: 1.5}, {memory: 2}, {cores: 1.5}, {cores: 4}]"


def study(levels: str = LEVELS, provider: str = "container", old: str = "", new: str = "") -> Study:
    text = TEXT.replace("LEVELS", levels).replace("PROVIDER", provider).replace(old or "\0", new)
    return parse_study(text, "s.yaml").study


@pytest.fixture
def topologies(tmp_path: Path) -> dict[str, Topology]:
    plan = make_plan(study(), planned_hosts(study(), tmp_path))
    return {one.levels["oversubscribe"]: one for one in plan.built}


def test_memory_is_more_slots_beside_the_same_daemons(topologies: dict[str, Topology]) -> None:
    assert list(topologies) == ["none", "memory-1.5", "memory-2", "cores-1.5", "cores-4"]
    plain, more, most = (topologies[name].workers[0] for name in ("none", "memory-1.5", "memory-2"))
    assert plain.yarn_mib == plain.container_mib and plain.excess_mib == 0
    step_mib = topologies["none"].variant.sizing.container_mib
    assert more.excess_mib == plain.memory_mib // 2 // step_mib * step_mib > 0
    assert most.excess_mib == plain.memory_mib // step_mib * step_mib
    assert maps_at_once(topologies["memory-2"]) > maps_at_once(topologies["none"])
    for node in (more, most):
        assert daemon_heaps(node) == daemon_heaps(plain)
        assert (node.memory_mib, node.container_mib) == (plain.memory_mib, plain.container_mib)
    assert topologies["memory-1.5"].variant.declared["oversubscribe.memory"] == "1.5"
    assert not [key for key in topologies["none"].variant.declared if key.startswith("oversub")]


def test_cores_are_larger_quotas_of_each_worker(topologies: dict[str, Topology]) -> None:
    def quotas(name: str) -> set[float | None]:
        site, path = Site(Path("/r"), "s/r/b"), Path("/r")
        made = containers(site, topologies[name], {"here": ()}, path, path, ())
        return {one.cores for one in made if "worker" in one.node.roles}

    assert quotas("none") == quotas("memory-2") == {1.0}
    assert quotas("cores-1.5") == {1.5} and topologies["cores-1.5"].workers[0].cores == 2
    assert quotas("cores-4") == {2.0}  # nobody has more than there are


@pytest.mark.parametrize(
    ("levels", "provider", "old", "new", "says"),
    [
        ("[{memory: 1}]", "container", "", "", "it must be more than 1"),
        ("[{memory: 9}]", "container", "", "", "it must be 8.0 or less"),
        ("[{memory: 1.5, cores: 2}]", "container", "", "", "either memory or cores"),
        ("[{memory: 1.5}]", "local", "", "", "no memory of their own"),
        ("[{memory: 1.5}]", "container", "testdfsio: {modes: [write], files: 4, file_size: 64 MiB}",
         "ycsb: {records: [1000], mixes: [load, c], threads: [8]}", "add testdfsio"),
        ("[{cores: 1.5}]", "container", "vms_per_host: [2]", "vms_per_host: [1]", "[2] or more"),
        ("[{cores: 1.5}]", "container", "workloads:", "containers: {cpus: pinned}\nworkloads:",
         "containers.cpus: quota"),
        ("[none, none]", "container", "", "", "duplicate oversubscribe"),
    ],
)  # fmt: skip
def test_what_may_not_be_promised_is_refused(
    levels: str, provider: str, old: str, new: str, says: str
) -> None:
    with pytest.raises(InputError) as caught:
        study(levels, provider, old, new)
    assert says in caught.value.what


def test_a_promise_of_less_than_a_container_is_refused(tmp_path: Path) -> None:
    little = study("[none, {memory: 1.01}]")
    with pytest.raises(InputError, match=r"is not a container of 256 MiB more") as caught:
        make_plan(little, planned_hosts(little, tmp_path))
    least = float(caught.value.remedy.split()[1])
    enough = study(f"[none, {{memory: {least}}}]")
    assert make_plan(enough, planned_hosts(enough, tmp_path)).built[1].workers[0].excess_mib == 256


def trial(level: str, state: str, *reasons: str, number: int = 1) -> Any:
    topology = SimpleNamespace(name=f"v2-flash-{level}", levels={"oversubscribe": level})
    return SimpleNamespace(
        trial=f"t{number}", state=state, reasons=reasons, topology=topology, test_case_id="write"
    )


def test_the_first_thing_that_breaks_is_named_with_its_cause() -> None:
    killed = "container w1 ran out of memory: at its limit of 2000 MiB the kernel killed 1 of its processes"
    trials = [
        trial("none", "complete"), trial("memory-2", "failed", killed, "the job failed", number=4),
        trial("memory-2", "complete", number=5), trial("memory-1.25", "complete"),
        trial("memory-3", "failed", "later", number=6), trial("cores-2", "complete"),
        trial("memory-1.5", "incomplete", "a host was lost"),
    ]  # fmt: skip
    cores, memory = first_breaks(trials)
    assert (
        cores.message == "write on v2-flash: 2 times the cores held in all trials; nothing broke."
    )
    assert memory.message == (
        "write on v2-flash: 1.25 times the memory held; 2 times broke 1 of 2 trials, first t4: "
        f"{killed}."
    )
    assert list(first_breaks([trial("none", "complete")])) == []
