"""Old keys are read for a while, with a warning that names line and new key."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs import catalogue
from density_study.cluster.model.errors import InputError
from density_study.workloads.execution.examination import examine
from density_study.workloads.imports.map_file import read_map
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.study_file import parse_study

OLD = """study: s
provider: container
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client]}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1]
  network:
    - default
    - {steer: [1]}
    - {queues: 2, transmit: [1, 0]}
    - {follow: 32768}
"""
NEW = OLD.replace("steer", "rps").replace("transmit", "xps").replace("follow", "rfs")


def test_old_keys_mean_what_the_new_ones_do() -> None:
    old, new = parse_study(OLD, "s.yaml"), parse_study(NEW, "s.yaml")
    assert old.study == new.study
    assert new.warnings == ()
    assert old.warnings == (
        "s.yaml:10, key factors.network[1].steer: steer is the old name of rps; write factors.network[1].rps",
        "s.yaml:11, key factors.network[2].transmit: transmit is the old name of xps; write "
        "factors.network[2].xps",
        "s.yaml:12, key factors.network[3].follow: follow is the old name of rfs; write "
        "factors.network[3].rfs",
    )


def test_an_old_key_beside_its_new_one_is_refused() -> None:
    with pytest.raises(InputError) as fault:
        parse_study(OLD.replace("steer: [1]", "steer: [1], rps: [0]"), "s.yaml")
    assert "s.yaml:10, key factors.network[1].steer" in str(fault.value)
    assert fault.value.remedy == "remove steer."


@pytest.mark.parametrize("network", ["word", "[default, 3]", "{steer: [1]}"])
def test_whatever_stands_there_the_model_names_the_fault(network: str) -> None:
    head = OLD.partition("  network:")[0]
    with pytest.raises(InputError, match="network"):
        parse_study(f"{head}  network: {network}\n", "s.yaml")


def test_an_override_may_use_an_old_key() -> None:
    found = parse_study(NEW, "s.yaml", {"factors.network": ["default", {"steer": [0]}]})
    assert len(found.warnings) == 1 and "write factors.network[1].rps" in found.warnings[0]


def test_plan_and_doctor_show_the_warnings(tmp_path: Path) -> None:
    spec = tmp_path / "s.yaml"
    spec.write_text(OLD)
    assert len(plan_study(spec, runs=tmp_path / "runs").file.warnings) == 3
    shown = [
        check.warning for check in examine(spec, tmp_path / "runs") if "old name" in check.warning
    ]
    assert len(shown) == 3


def test_a_workload_has_old_keys_too() -> None:
    head = OLD.partition("  network:")[0].replace("provider: container", "provider: local")
    both = [
        parse_study(
            head.replace("threads: [8]", f"threads: [8], {key}: {{mix: c, threads: 4}}"), "s.yaml"
        )
        for key in ("isolation", "noisy_neighbour")
    ]
    assert both[0].study == both[1].study
    assert [len(one.warnings) for one in both] == [1, 0]
    assert "write workloads[0].ycsb.noisy_neighbour" in both[0].warnings[0]


def test_hypotheses_name_levels_by_their_present_names() -> None:
    expect = """expect:
  - {name: spread, workload: c, compare: network, steer-1_over_default: "> 1.1"}
"""
    old, new = (
        parse_study(OLD + expect, "s.yaml"),
        parse_study(NEW + expect.replace("steer-1", "rps-1"), "s.yaml"),
    )
    assert old.study == new.study
    assert any("write expect[0].rps-1_over_default" in one for one in old.warnings)


MEDIUM = """study: s
provider: local
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: auto, medium: hdd}]}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors: {vms_per_host: [1], medium: [hdd, flash]}
expect: [{name: disks, workload: c, compare: medium, flash_over_hdd: "> 1.5"}]
questions: [medium-rate, disks]
"""


def test_the_medium_of_earlier_versions_is_the_disk_type() -> None:
    old = parse_study(MEDIUM, "s.yaml")
    new = parse_study(MEDIUM.replace("medium-", "disk-").replace("medium", "disk_type"), "s.yaml")
    assert (old.study, new.warnings) == (new.study, ())
    assert old.warnings == (
        "s.yaml:4, key hosts[0].disks[0].medium: medium is the old name of disk_type; write "
        "hosts[0].disks[0].disk_type",
        "s.yaml:6, key factors.medium: medium is the old name of disk_type; write factors.disk_type",
        "s.yaml:7, key expect[0].compare: medium is the old name of disk_type; write disk_type",
        "s.yaml:8, key questions[0]: medium-rate is the old name of disk-rate; write disk-rate",
    )


MAP = """study: s
arms: {a: {medium: hdd, vms_per_host: 0}}
trials: [{arm: a, ycsb: {mix: a}, files: [x.out]}]
"""


def test_a_map_with_old_keys_is_read_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(MAP)
    found = read_map(path, ()).map
    assert found.variants["a"].disk_type == "hdd" and found.trials[0].variant == "a"
    assert [line.partition(": ")[2] for line in caplog.messages] == [
        "arms is the old name of variants; write variants",
        "medium is the old name of disk_type; write variants.a.disk_type",
        "arm is the old name of variant; write trials[0].variant",
    ]


def test_a_catalogue_with_old_keys_is_read(tmp_path: Path) -> None:
    shipped = Path(catalogue.__file__).parent / "examples" / "catalog.yaml"
    path = tmp_path / "catalog.yaml"
    path.write_text(shipped.read_text().replace("disk_type:", "medium:"))
    assert catalogue.read_catalogue(path).hosts == catalogue.read_catalogue(shipped).hosts
