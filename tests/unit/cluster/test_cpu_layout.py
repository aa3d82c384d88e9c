"""A machine's NUMA nodes and cores from a made-up /sys, and the folders of a guest's further drives."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.machine.describe import read_cpus
from density_study.cluster.model.dividing.cpus import NumaNode, cpus_from, cpus_in


def system(root: Path, nodes: dict[int, str], siblings: dict[int, str]) -> Path:
    for number, cpus in nodes.items():
        (root / "node" / f"node{number}").mkdir(parents=True)
        (root / "node" / f"node{number}" / "cpulist").write_text(f"{cpus}\n")
    for cpu, listed in siblings.items():
        (root / "cpu" / f"cpu{cpu}" / "topology").mkdir(parents=True)
        (root / "cpu" / f"cpu{cpu}" / "topology" / "thread_siblings_list").write_text(f"{listed}\n")
    return root


def test_cores_have_all_their_threads(tmp_path: Path) -> None:
    siblings = {cpu: f"{cpu % 4},{cpu % 4 + 4}" for cpu in range(8)}
    found = read_cpus(range(8), system(tmp_path, {0: "0-1,4-5", 1: "2-3,6-7", 2: ""}, siblings))
    assert found == (NumaNode(0, ((0, 4), (1, 5))), NumaNode(1, ((2, 6), (3, 7))))


def test_only_the_cpus_that_may_be_used_count(tmp_path: Path) -> None:
    siblings = {cpu: f"{cpu % 4},{cpu % 4 + 4}" for cpu in range(8)}
    found = read_cpus((0, 1, 4), system(tmp_path, {0: "0-7"}, siblings))
    assert found == (NumaNode(0, ((0, 4), (1,))),)


def test_a_kernel_that_does_not_tell_is_unknown(tmp_path: Path) -> None:
    assert read_cpus((0, 1), system(tmp_path, {0: "0-1"}, {})) == ()
    assert read_cpus((0, 1), tmp_path / "none") == ()


def test_sets_of_cpus_are_read_and_survive_json() -> None:
    assert cpus_in("0-2,8\n") == (0, 1, 2, 8) and cpus_in("\n") == ()
    assert cpus_from([{"number": 1, "cores": [[2, 6]]}]) == (NumaNode(1, ((2, 6),)),)


def test_this_machine_is_known() -> None:
    assert [cpu for node in read_cpus() for cpu in node.cpus]
