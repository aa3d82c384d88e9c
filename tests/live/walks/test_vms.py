"""docs/tutorials/vms.md, with guests that are emulated where no kernel boots under KVM."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import daemon_for
from tests.live.support.libvirtd import Libvirtd
from tests.live.support.walk import Change, Ended, walking

pytestmark = [
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
EMULATED = "an emulated guest is twenty times slower"
PREPARED = (
    Change("apt-get install", "", "tests/packages.sh has installed them"),
    Change("usermod", "", "the test is root"),
    Change("mkdir", "", "the test has a folder of its own"),
)
EXPECTED = """expect:
  - {name: as-many, workload: c, compare: vms_per_host, 2_over_1: "> 0.9"}
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Libvirtd]:
    with daemon_for(tmp_path) as running:
        yield running


def test_the_first_study_of_a_host(daemon: Libvirtd, tmp_path: Path) -> None:
    """vm-smoke, from the doctor to its report, with fewer rows and one job of TestDFSIO."""
    folder, disk, images = tmp_path / "walk", tmp_path / "disk", tmp_path / "images"
    folder.mkdir()
    disk.mkdir()
    with walking("tutorials/vms.md", folder) as walk:
        walk.to("study example", *PREPARED)
        walk.change(
            "vm-smoke.yaml",
            *of_its_own(daemon, disk, images, "/var/lib/libvirt/images"),
            Change("20000", "300", EMULATED),
            Change("modes: [write, read], files: 2", "modes: [write], files: 1", EMULATED),
            Change("128 MiB", "16 MiB", EMULATED),
            Change(
                "warm_up: 10 s",
                "warm_up: 5 s, warm_up_client: off, warm_up_daemons: off, regions_per_server: 1",
                EMULATED,
            ),
        )
        checked = walk.to("study doctor", may_fail="study doctor")
        assert_only_kvm_is_missing(checked, "here")
        walk.to("study run vm-smoke")
    (run,) = folder.glob("runs/vm-smoke/2*")
    states = [record.state for record in closed_records(run / "records").values()]
    assert states == ["complete"] * 3
    assert Virsh(daemon.uri).names("list") == [] and list(disk.iterdir()) == []


def test_one_worker_in_a_guest(daemon: Libvirtd, tmp_path: Path) -> None:
    walked(daemon, tmp_path, 1)


def test_two_workers_in_guests(daemon: Libvirtd, tmp_path: Path) -> None:
    walked(daemon, tmp_path, 2)


def walked(daemon: Libvirtd, tmp_path: Path, density: int) -> None:
    """The whole page; of its two densities one, because emulated ones take some ten minutes each."""
    folder, disk, images = tmp_path / "walk", tmp_path / "disk", tmp_path / "images"
    folder.mkdir()
    disk.mkdir()
    with walking("tutorials/vms.md", folder) as walk:
        decided = walk.to(
            "study rehearse", *PREPARED, Change("vm-smoke.yaml", "", "the test above does it")
        )
        assert "Decided rightly" in decided.words
        assert "2 builds, 4 trials" in walk.ended[-2].words
        walk.change(
            "vms.yaml",
            *of_its_own(daemon, disk, images, "/data/flash1", more="  data_disk: 8 GiB\n"),
            Change("cores: 8", "cores: 2", "this machine has no more"),
            Change("memory: 32 GiB", "memory: 6 GiB", "this machine has no more"),
            Change("host_reserve: 4 GiB", "host_reserve: 256 MiB", "this machine has no more"),
            Change("1_000_000", "300", EMULATED),
            Change("[16]", "[2]", EMULATED),
            Change("vms_per_host: [1, 2]", f"vms_per_host: [{density}]", EMULATED),
            Change(EXPECTED, "", "one density compares nothing; step 3 has rehearsed both"),
            Change("duration: 2 min", "duration: 1 min", EMULATED),
            Change(
                "warm_up: 20 s",
                "warm_up: 5 s, warm_up_client: off, warm_up_daemons: off, regions_per_server: 1",
                EMULATED,
            ),
        )
        checked = walk.to("study doctor", may_fail="study doctor")
        assert_only_kvm_is_missing(checked, "h1")
        walk.to("study run")
        report = walk.to("study report")
        assert "No comparison" in report.words
        walk.to("", Change("study run vms.yaml --add-repetitions 4", "",
                           "eight more emulated builds take an hour; step 3 has rehearsed them"))  # fmt: skip
    (run,) = folder.glob("runs/vms/2*")
    assert len(list(run.glob("records/*/manifest.json"))) == 2
    assert Virsh(daemon.uri).names("list") == [] and list(disk.iterdir()) == []


def of_its_own(
    daemon: Libvirtd, disk: Path, images: Path, place: str, more: str = ""
) -> tuple[Change, ...]:
    """Where the test's guests are instead. place: of the page's drive; more: lines of its `vms`."""
    return (
        Change("qemu:///system", daemon.uri, "the test has a libvirtd of its own"),
        Change(place, str(disk), "the test has a folder of its own"),
        Change("vms:\n", f'vms:\n  images: "{images}"\n{more}', "as above"),
    )


def assert_only_kvm_is_missing(checked: Ended, host: str) -> None:
    faults = [line for line in checked.output.splitlines() if line.lstrip().startswith("fault")]
    assert all(f"KVM of {host}" in line for line in faults) and len(faults) <= 1, faults
