"""A cut network and a slow disk: made and undone by a process of its own, also when that is stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.machine import as_root, io_limits, network_cut, slow_disk
from density_study.cluster.machine.host_commands import HOST_COMMANDS
from density_study.cluster.machine.other_users import bridge_guard
from density_study.cluster.machine.privileged import cut_network
from density_study.cluster.model.errors import InputError, StudyError

HELD = """
from pathlib import Path
from density_study.cluster.machine.held import held
flag = Path({flag!r})
held({seconds}, flag.touch, flag.unlink)
"""


def keeper(flag: Path, seconds: float) -> subprocess.Popen[str]:
    program = HELD.format(flag=str(flag), seconds=seconds)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def wait_for(flag: Path) -> None:
    deadline = time.monotonic() + 20
    while not flag.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert flag.exists()


def test_a_change_is_undone_at_its_time(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    with keeper(flag, 0.3) as process:
        wait_for(flag)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 0 and not flag.exists()
    begun, ended = (json.loads(line) for line in output.splitlines())
    assert 0.3 <= ended["ended"] - begun["begun"] < 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_change_is_undone_when_its_keeper_is_stopped(tmp_path: Path, number: int) -> None:
    flag = tmp_path / "flag"
    with keeper(flag, 60) as process:
        wait_for(flag)
        time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(timeout=20) == 128 + number
    assert not flag.exists()


def test_the_rules_spare_ssh_and_drop_packets_of_both_directions() -> None:
    text = cut_network.rules("t", "2222", ["192.0.2.1", "192.0.2.2"])
    assert text.count("{ 192.0.2.1, 192.0.2.2 } drop") == 2
    assert text.index("tcp dport 2222 accept") < text.index("saddr")
    assert text.index("tcp sport 2222 accept") < text.index("daddr")
    assert network_cut.table("a/b/c") != network_cut.table("a/b/d")


@pytest.fixture
def own_network() -> Iterator[None]:
    """This thread in a network namespace of its own, which nothing else uses."""
    if os.getuid() != 0 or not Path(cut_network.NFT).exists():
        pytest.skip("no network was cut: this needs root and nftables")
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    with Path("/proc/thread-self/ns/net").open() as before:
        assert library.unshare(0x40000000) == 0
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        try:
            yield
        finally:
            assert library.setns(before.fileno(), 0x40000000) == 0


def reachable() -> bool:
    # On loopback, connecting takes no longer than the call: whoever waits is cut off.
    with socket.create_server(("127.0.0.2", 0)) as server:
        peer = ("127.0.0.3", 0)
        try:
            socket.create_connection(server.getsockname(), timeout=0.2, source_address=peer).close()
        except TimeoutError:
            return False
    return True


@pytest.mark.usefixtures("own_network")
def test_a_machine_is_cut_off_and_mended() -> None:
    tag = "study/run/b1"
    HOST_COMMANDS["check-cut"]()
    assert reachable() and not HOST_COMMANDS["is-cut"](tag)
    argv = [sys.executable, "-m", network_cut.__name__, tag, "60", "22", "127.0.0.2"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not reachable() and HOST_COMMANDS["is-cut"](tag)
        process.kill()  # nobody is left to mend it
    assert not reachable()
    assert HOST_COMMANDS["mend"](tag) is True
    assert reachable() and HOST_COMMANDS["mend"](tag) is False
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not reachable()
        process.terminate()
    assert reachable() and not HOST_COMMANDS["is-cut"](tag)


def test_a_host_without_nftables_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    source = as_root.source(network_cut.PROGRAM).replace(cut_network.NFT, "/nowhere/nft")
    monkeypatch.setattr(as_root, "source", lambda _: source)
    with pytest.raises(InputError, match="cannot be cut: /nowhere/nft"):
        network_cut.check_nft()
    assert not network_cut.mend("any")
    with pytest.raises(StudyError, match="still cut is unknown: /nowhere/nft"):
        network_cut.is_cut("any")
    monkeypatch.setattr(bridge_guard, "NFT", "/nowhere/nft")
    with pytest.raises(StudyError, match="still there is unknown: /nowhere/nft"):
        bridge_guard.is_closed("any")


@pytest.fixture
def victim() -> Iterator[int]:
    try:
        io_limits.cgroup_version()
    except InputError as why:
        pytest.skip(f"no disk was slowed down: {why.what}")
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


@pytest.mark.parametrize("number", [None, signal.SIGTERM])
def test_a_process_has_a_slow_disk_for_a_time(
    victim: int, tmp_path: Path, number: signal.Signals | None
) -> None:
    home = io_limits.group_of(victim)
    group = io_limits.group(f"test/{tmp_path.name}/b1", "slow")
    limits = json.dumps({"read_mib_s": 5})
    argv = [
        sys.executable,
        "-m",
        slow_disk.__name__,
        str(group),
        str(tmp_path),
        limits,
        "0.5" if number is None else "60",
        str(victim),
    ]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert io_limits.group_of(victim) == group
        if number is not None:
            process.send_signal(number)
        assert process.wait(timeout=20) == (0 if number is None else 128 + number)
    assert io_limits.group_of(victim) == home and not group.exists()
