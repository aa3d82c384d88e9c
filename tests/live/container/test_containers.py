"""What a container may see and write, and that its limits are real. No daemon runs here."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.tear_down import leftovers_of, tear_down
from density_study.cluster.machine.other_users import bridge_guard
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import IoLimits
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.container.names import bridge_name
from density_study.cluster.providers.container.provider import ContainerProvider
from density_study.cluster.providers.provider import out_of_memory
from density_study.cluster.state.events import DiskEmulated
from tests.live.support.containers import MEMORY_MIB, Built, built, on_this_machine, topology
from tests.support.other_user import reaches

pytestmark = pytest.mark.timeout(300)
BURN = "import time; end = time.time() + 4\nwhile time.time() < end: pass"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    before = on_this_machine()
    folder = tmp_path_factory.mktemp("containers")
    with built(folder, topology(folder)) as found:
        yield found
    assert on_this_machine() == before
    assert not any((folder / "disk").iterdir())
    assert leftovers_of(found.site, found.journal) == ()
    tear_down(found.site, found.journal)  # again: no effect, and no error


def test_a_node_sees_the_host_read_only_and_writes_to_its_own_folders(up: Built) -> None:
    own, others = (
        up.folder / "disk" / "density-study" / up.site.tag / name / "file" for name in ("w1", "w2")
    )
    assert up.run("/usr/bin/touch", str(own)) == (0, "")
    for path in (str(others), "/etc/file"):
        code, told = up.run("/usr/bin/touch", path)
        assert code == 1 and "Read-only file system" in told, path
    assert own.exists()  # the same path on the host
    assert up.run("/usr/bin/touch", "/tmp/of-this-node") == (0, "")
    assert not Path("/tmp/of-this-node").exists()  # the node's /tmp is its own
    assert up.run("/bin/hostname")[1] == "w1\n"


def test_nodes_have_networks_of_their_own_and_reach_each_other_by_name(up: Built) -> None:
    code, told = up.run("/bin/sh", "-c", "PATH=$PATH:/usr/sbin; ip -br -4 address")
    assert code == 0
    assert [line.split()[0].partition("@")[0] for line in told.splitlines()] == ["lo", "eth0"]
    serve = (
        "import socket; s = socket.create_server(('198.18.43.3', 9000)); print(s.accept()[1][0])"
    )
    transport = ContainerProvider().transport(up.site, up.journal)
    out = up.folder / "served"
    command = Command("serve", (sys.executable, "-c", serve), {}, "/")
    server = transport.start(up.topology.nodes[1], command, out, out)
    ask = (
        "import socket, time\nfor _ in range(100):\n try: socket.create_connection(('w2', 9000)); break\n"
        " except OSError: time.sleep(0.1)"
    )
    assert up.python(ask) == (0, "")
    assert transport.wait(server, 20.0) == 0
    assert out.read_text() == "198.18.43.2\n"


@pytest.mark.skipif(bool(bridge_guard.obstacle()), reason="no nftables here")
def test_other_users_of_the_machine_do_not_reach_them(up: Built) -> None:
    serve = "import socket, time; s = socket.create_server(('198.18.43.3', 9001)); time.sleep(60)"
    transport = ContainerProvider().transport(up.site, up.journal)
    out, address = up.folder / "listening", ("198.18.43.3", 9001)
    command = Command("serve", (sys.executable, "-c", serve), {}, "/")
    server = transport.start(up.topology.nodes[1], command, out, out)
    try:
        deadline = time.monotonic() + 20
        while not answers(address):
            assert time.monotonic() < deadline
        assert not reaches(address)
        bridge_guard.remove(up.site.tag)
        assert reaches(address), "only the rules kept it away"
    finally:
        bridge_guard.close(up.site.tag, bridge_name(up.site.tag))
        transport.stop(server, 0.0)


def answers(address: tuple[str, int]) -> bool:
    with suppress(OSError):
        socket.create_connection(address, 1).close()
        return True
    return False


def test_exit_code_pid_and_signals_are_the_commands_own(up: Built) -> None:
    assert up.run("/bin/sh", "-c", "exit 7")[0] == 7
    transport = ContainerProvider().transport(up.site, up.journal)
    out = up.folder / "sleeper"
    command = Command("sleeper", ("/bin/sleep", "60"), {}, "/")
    process = transport.start(up.topology.nodes[0], command, out, out)
    time.sleep(0.3)
    assert Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n"
    transport.stop(process)
    assert not transport.alive(process)
    assert transport.wait(process, 1.0) == -15


def test_the_cpu_quota_holds_and_what_it_stops_is_counted(up: Built) -> None:
    """Half a core for each worker, whatever its processes want. Other programs of this machine may take of
    it, so that nothing is left to stop; they cannot add to it."""
    provider = ContainerProvider()
    for _ in range(5):
        before, began = provider.guest_times(up.site, up.topology)["w1"], time.monotonic()
        assert up.python(BURN) == (0, "")
        seconds = time.monotonic() - began
        after = provider.guest_times(up.site, up.topology)["w1"]
        assert (after.cpu_s - before.cpu_s) / seconds < 0.52
        if after.waited_s > before.waited_s:
            break
    assert after.waited_s > before.waited_s


def test_the_memory_limit_is_real_and_named_as_the_cause(up: Built) -> None:
    limit_mib = MEMORY_MIB + GUEST_OS_MIB
    assert up.python(f"bytearray({limit_mib - 64} << 20)", node=1) == (0, "")
    assert out_of_memory(up.site, up.topology) == []
    code, _ = up.python(f"bytearray({limit_mib + 64} << 20)", node=1)
    assert code == -9
    (told,) = out_of_memory(up.site, up.topology)
    assert "container w2 ran out of memory" in told and f"{limit_mib} MiB" in told


def test_a_second_build_on_the_same_network_is_refused(up: Built, tmp_path: Path) -> None:
    refused = pytest.raises(InputError, match=r"reaches 198\.18\.43\.0/24")
    with refused, built(tmp_path, topology(tmp_path)):
        pass


@pytest.mark.slow
def test_the_limits_of_a_disk_are_divided_and_proved(up: Built, tmp_path: Path) -> None:
    tear_down(up.site, up.journal)  # this test and the next one need the network
    with built(tmp_path, topology(tmp_path, limits=IoLimits(read_iops=200))) as slow:
        (disk,) = slow.journal.events(DiskEmulated)
    measured = disk.proof["measured"]["read_iops"]
    assert measured["asked"] == 100
    assert measured["seen"] == pytest.approx(100, rel=0.05)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core cannot be divided")
def test_pinned_workers_have_a_core_each(up: Built, tmp_path: Path) -> None:
    tear_down(up.site, up.journal)
    with built(tmp_path, topology(tmp_path, cpus="pinned", cores=2)) as pinned:
        shown = [
            pinned.python("import os; print(os.sched_getaffinity(0))", node=n)[1] for n in (0, 1)
        ]
    assert len(set(shown)) == 2 and all(text.count(",") == 0 for text in shown)
