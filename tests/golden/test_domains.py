"""Domains of a host with two NUMA nodes, hardware threads and four drives, at several densities."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path, PurePosixPath

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Disk, Host, IoLimits, VmHost
from density_study.cluster.model.placement import place
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.libvirt.guests import guests
from density_study.cluster.providers.libvirt.host_cpus import parse_cpus
from tests.golden.conftest import Compare
from tests.support.topologies import layout_of

CAPABILITIES = Path(__file__).with_name("capabilities.xml").read_text()
"""Of a host with 2 NUMA nodes of 4 cores with 2 threads: siblings are n and n + 8."""
SITE = Site(Path("/runs/s/r/builds/b1"), "s/r/b1")
LIMITS = IoLimits(read_iops=100, read_mib_s=120)


def domains(*densities: int, huge_kib: int = 0) -> dict[str, str]:
    vms = VmHost(
        "qemu:///system", tuple(f"192.0.2.{n}" for n in range(2, 16)), "192.0.2.0/24",
        bridge="br0", vcpus="pinned", reserve_mib=4096, data_gib=96, huge_kib=huge_kib,
    )  # fmt: skip
    disks = (
        *(Disk(f"/data/{n}", "flash") for n in range(1, 4)),
        Disk("/data/4", "flash", True, LIMITS),
    )
    single = Host("m", "198.51.100.1", 8, 16384, disks[:1], ("master", "client"), vms=vms)
    host = Host("h", "198.51.100.2", 16, 131072, disks, ("worker",), vms=vms)
    variants = [Variant(density, 1, "flash") for density in densities]
    found = {}
    for topology in place((single, host), variants, layout_of("libvirt")):
        for guest in guests(SITE, topology, {"h": parse_cpus(CAPABILITIES)}):
            if guest.node.name in ("m1", "w1", "w2"):
                paths = PurePosixPath("/images/k"), PurePosixPath("/images/i")
                found[f"{topology.name}-{guest.node.name}.xml"] = guest.xml("kvm", *paths)
    return found


def test_domains(golden: Compare) -> None:
    golden("domains", domains(1, 2, 4))


def test_libvirt_accepts_the_domains(tmp_path: Path) -> None:
    """Its test driver checks them against the schema and reads them, and starts nothing."""
    if shutil.which("virsh") is None:
        pytest.skip("libvirt-clients is not installed")
    files = []
    large = {f"huge-{name}": xml for name, xml in domains(1, 2, huge_kib=1024**2).items()}
    assert all("hugepages" in xml for xml in large.values())
    for name, xml in (domains(1, 2, 4) | domains(8) | large).items():
        files.append(str(tmp_path / name))
        Path(files[-1]).write_text(xml)
    wrong = tmp_path / "wrong.xml"
    wrong.write_text(Path(files[0]).read_text().replace("iothreads>", "threads>"))
    define = ("virsh", "--connect=test:///default", "define", "--validate")
    for file in (*files, str(wrong)):
        done = subprocess.run([*define, file], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (file != str(wrong)), f"{file}: {done.stderr}"
