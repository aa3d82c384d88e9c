"""Guests under the test's own libvirt: created, reached, removed; killed at every step, then
reaped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, IoLimits
from density_study.cluster.model.store import default_store
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.libvirt.accel import boots
from density_study.cluster.providers.libvirt.image import ensure_image
from density_study.cluster.providers.libvirt.names import IMAGE_POOL, domain_name
from density_study.cluster.providers.libvirt.provider import LibvirtProvider, stacks_in_guests
from density_study.cluster.providers.libvirt.store import store
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.stack import ensure_all
from density_study.cluster.state.journal import Journal
from tests.live.support.builds import open_build
from tests.live.support.guests import one_guest, one_limited
from tests.live.support.libvirtd import Libvirtd, libvirtd
from tests.support.namespace import inside

pytestmark = [
    pytest.mark.timeout(1500),
    pytest.mark.usefixtures("runtime"),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]

FOREIGN = (
    "<domain type='qemu'><name>{}</name><memory unit='MiB'>64</memory>"
    "<os><type>hvm</type></os></domain>"
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libvirtd]:
    """With the golden image built and in the host's cache."""
    folder = tmp_path_factory.mktemp("vm")
    image = ensure_image(
        ensure_all(stacks_in_guests(default_store()))
    )  # before the namespace, which has no access to the archive
    with libvirtd(folder / "h1", "h1") as running, inside(running.namespace):
        store_image(folder, running, image)
        yield running


@contextmanager
def foreign_domain(virsh: Virsh, name: str) -> Iterator[None]:
    """A foreign domain: no removal may touch it, and no other test may find it."""
    virsh.run("define", "/dev/stdin", stdin=FOREIGN.format(name))
    try:
        yield
    finally:
        virsh.run("undefine", name)


def store_image(folder: Path, running: Libvirtd, image: Path) -> None:
    journal = Journal(folder / "journal.jsonl")
    vms = one_guest(running.uri, folder).hosts[0].vms
    assert vms is not None
    store(Virsh(running.uri), vms.images, image, journal, "s/r/b1")


def test_a_guest_boots_authenticates_with_its_own_key_and_is_removed(daemon: Libvirtd) -> None:
    folder = daemon.folder.parent
    site, journal = open_build(folder, os.getpid())
    layout = one_guest(daemon.uri, folder)
    provider, virsh = LibvirtProvider(), Virsh(daemon.uri)
    foreign = domain_name(site.tag, "w9")
    (folder / "disk" / "theirs").write_text("kept")
    intend(journal, site.tag)
    with foreign_domain(virsh, foreign):
        _make_and_remove(provider, site, layout, journal)
        assert virsh.names("list") == [foreign]
    assert [path.name for path in (folder / "disk").iterdir()] == ["theirs"]
    assert virsh.names("pool-list") == [IMAGE_POOL]


def _make_and_remove(
    provider: LibvirtProvider, site: Site, layout: Topology, journal: Journal
) -> None:
    try:
        provider.create(site, layout, journal)
        transport = provider.transport(site, journal)
        description = transport.act(layout.master, "describe")
        assert (description["host"], description["user"], description["systemd"]) == (
            "m1",
            "study",
            True,
        )
        probed = transport.act(layout.master, "probe", "/study/m1")
        assert probed["reads"] > 0  # O_DIRECT works on the guest's own disk
        assert any("domain" in leftover for leftover in provider.leftovers(site, journal))
        assert (site.root / "ssh" / "identity").stat().st_mode & 0o077 == 0
    finally:
        tear_down(site, journal)
    assert not provider.leftovers(site, journal)
    assert not (site.root / "ssh").exists()
    tear_down(site, journal)


def test_acceleration_is_proved_by_a_kernel(daemon: Libvirtd) -> None:
    folder = daemon.folder.parent
    site, journal = open_build(folder, os.getpid())
    image = ensure_image(ensure_all(stacks_in_guests(default_store())))
    stored = store(Virsh(daemon.uri), str(folder / "images"), image, journal, site.tag)
    booted, why = boots(Virsh(daemon.uri), site, journal, stored.kernel, "tcg", 120)
    assert booted, why
    booted, why = boots(Virsh(daemon.uri), site, journal, stored.initrd, "tcg", 10)
    assert not booted, why  # no kernel at all
    assert Virsh(daemon.uri).names("list") == []


@pytest.mark.vm
def test_a_guest_has_its_data_disks_and_queues(daemon: Libvirtd) -> None:
    """Three data disks on two drives, and a queue of the network card for each of the host's two cores."""
    folder = daemon.folder.parent
    site, journal = open_build(folder, os.getpid())
    plain = one_guest(daemon.uri, folder)
    (folder / "second").mkdir()
    first, second = plain.hosts[0].disks[0], Disk(str(folder / "second"), "flash")
    node = replace(
        plain.nodes[0], roles=("master", "worker", "client"), disk=first, more_disks=(second, first)
    )
    host = replace(plain.hosts[0], disks=(first, second))
    layout = replace(plain, hosts=(host,), nodes=(node,))
    provider, out = LibvirtProvider(), site.root / "logs" / "seen"
    intend(journal, site.tag)
    try:
        provider.create(site, layout, journal)
        transport = provider.transport(site, journal)
        script = (
            "findmnt -n -o TARGET,SIZE /study; findmnt -n -o TARGET /study-2; findmnt -n -o TARGET /study-3; "
            "ls -d /sys/class/net/eth0/queues/tx-* /study*/m1"
        )
        process = transport.start(
            node, Command("look", ("/bin/sh", "-c", script), {}), out, out.with_suffix(".err")
        )
        assert transport.wait(process, 60) == 0
        transport.fetch(node, out, out)
        probed = [event["disk"] for event in journal.read() if event["event"] == "probed"]
    finally:
        tear_down(site, journal)
    words = out.read_text().split()
    print(words)
    assert {"/study", "/study-2", "/study-3", "/study/m1", "/study-2/m1", "/study-3/m1"} <= set(
        words
    )
    assert sum("queues/tx-" in word for word in words) == 2
    assert probed == [f"h1:{first.path}", f"h1:{second.path}"]
    assert not any((folder / "second").iterdir())


@pytest.mark.vm
def test_limits_hold_within_5_percent(daemon: Libvirtd) -> None:
    """Reads as in the check before use; direct writes as measured by dd."""
    folder = daemon.folder.parent
    site, journal = open_build(folder, os.getpid())
    layout = one_limited(daemon.uri, folder, IoLimits(read_iops=80, read_mib_s=16, write_mib_s=16))
    provider = LibvirtProvider()
    intend(journal, site.tag)
    try:
        provider.create(site, layout, journal)
        (measured,) = (e["proof"]["measured"] for e in journal.read() if e["event"] == "emulated")
        wrote_mib_s = direct_writes_mib_s(provider.transport(site, journal), layout.master, site)
    finally:
        tear_down(site, journal)
    seen = {
        **{name: figure["seen"] for name, figure in measured.items()},
        "write_mib_s": wrote_mib_s,
    }
    print(seen)
    assert seen == pytest.approx({"read_iops": 80, "read_mib_s": 16, "write_mib_s": 16}, rel=0.05)


def direct_writes_mib_s(transport: SshTransport, node: Node, site: Site) -> float:
    out, err = site.root / "logs" / "dd.out", site.root / "logs" / "dd.err"
    arguments = (
        "if=/dev/zero",
        f"of=/study/{node.name}/written",
        "bs=1M",
        "count=96",
        "oflag=direct",
    )
    process = transport.start(node, Command("dd", ("/usr/bin/dd", *arguments), {}), out, err)
    assert transport.wait(process, 60) == 0
    transport.fetch(node, err, err)
    (seconds,) = re.findall(r"copied, ([0-9.]+) s", err.read_text())
    return 96 / float(seconds)


@pytest.mark.vm
def test_kill_9_at_every_step_then_reap_leaves_nothing(daemon: Libvirtd) -> None:
    virsh = Virsh(daemon.uri)
    with foreign_domain(virsh, "foreign"):
        steps = _killed_at_every_step(daemon, virsh)
    assert {
        "make-keys",
        "probe-accel",
        "make-network",
        "make-pool",
        "make-volume",
        "make-domain",
    } < {*steps}


def _killed_at_every_step(daemon: Libvirtd, virsh: Virsh) -> list[str]:
    folder = daemon.folder.parent
    steps: list[str] = []
    while not steps or steps[-1] != "start-domain":
        runs = folder / f"kill-{len(steps)}"
        runs.mkdir()
        argv = [
            sys.executable,
            "-m",
            "tests.live.support.guest_orchestrator",
            str(runs),
            daemon.uri,
        ]
        killed = subprocess.run([*argv, str(folder / "images"), str(len(steps))], check=False)
        assert killed.returncode == -signal.SIGKILL
        (path,) = runs.glob("runs/*/*/journal.jsonl")
        steps.append([e["act"] for e in Journal(path).read() if e["event"] == "intent"][-1])
        dry = reap(runs / "runs", dry_run=True).reaped
        assert bool(dry) == (len(steps) > 2), steps  # a bare intent has created nothing yet
        reap(runs / "runs")
        assert reap(runs / "runs").reaped == ()
        assert virsh.names("list") == ["foreign"], steps
        assert virsh.names("net-list") == []
        assert virsh.names("pool-list") == [IMAGE_POOL]
        assert list(runs.glob("disk/*")) == []
        assert not list(runs.glob("runs/*/*/builds/*/ssh"))
    return steps


def test_tear_down_of_an_unbuilt_cluster_succeeds(tmp_path: Path) -> None:
    site, journal = open_build(tmp_path, os.getpid())
    tear_down(site, journal)


def test_an_unreachable_libvirt_is_an_error_instead_of_an_empty_result(tmp_path: Path) -> None:
    site, journal = open_build(tmp_path, os.getpid())
    intend(journal, site.tag)
    uri = "qemu:///system?socket=/nowhere/libvirt-sock"
    journal.write("intent", act="make-network", tag=site.tag, uri=uri, network="n")
    with pytest.raises(Exception, match="virsh") as caught:
        tear_down(site, journal)
    assert not isinstance(caught.value, InputError)


def intend(journal: Journal, tag: str) -> None:
    event = {"act": "build", "build": "b1", "provider": "libvirt", "ports": []}
    journal.write("intent", tag=tag, **event)
