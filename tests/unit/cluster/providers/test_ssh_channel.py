"""A channel over an `ssh` that runs its command on this machine: how it ends, and the errors."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import HostLostError, InputError, StudyError
from density_study.cluster.model.host import Target
from density_study.cluster.providers.ssh import channel as module
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.ssh.channel import Channel, channel, close_channels
from density_study.cluster.providers.ssh.fetching import fetch
from density_study.cluster.state.events import NodeReach
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner

TARGET = Target("h1", "192.0.2.11", 22, "study", "/runs/s/known_hosts")
RUNS = 'for last; do :; done; exec sh -c "exec $last"'


@pytest.fixture
def ssh(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The fake program, in the first folder of PATH."""
    program = tmp_path / "bin" / "ssh"
    program.parent.mkdir()
    write(program, RUNS)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.fixture
def host(ssh: Path) -> Iterator[Channel]:
    opened = Channel(TARGET)
    yield opened
    opened.close()
    assert not opened.open


def write(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_bytes_are_transferred_both_ways(host: Channel, tmp_path: Path) -> None:
    content = bytes(range(256)) * 2**12
    host.put(str(tmp_path / "there"), content)
    assert host.read(str(tmp_path / "there")) == content
    assert host.read(str(tmp_path / "there"), 2**19) == content[2**19 :]
    with pytest.raises(FileNotFoundError, match="h1"):
        host.read(str(tmp_path / "none"))
    assert host.call("files", str(tmp_path / "bin")) == ["ssh"]
    assert host.act("clock") > 1e9


@pytest.mark.thorough
def test_pings_keep_an_idle_agent_alive(ssh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PING_EVERY_S", 0.1)
    monkeypatch.setattr(module, "SILENT_S", 1.0)
    idle = Channel(TARGET)
    time.sleep(2.5)
    assert idle.act("clock") > 1e9
    idle.close()


@pytest.mark.thorough
def test_a_request_after_a_long_silence_is_not_executed(
    ssh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like after a network outage: the host may have been cleaned up by now."""
    monkeypatch.setattr(module, "PING_EVERY_S", 60.0)
    monkeypatch.setattr(module, "SILENT_S", 0.5)
    cut_off = Channel(TARGET)
    time.sleep(1.5)
    with pytest.raises(HostLostError, match="the connection ended"):
        cut_off.put(str(tmp_path / "late"), b"")
    assert not (tmp_path / "late").exists()


def test_a_dead_host_is_named(host: Channel) -> None:
    os.kill(host._ssh.pid, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(HostLostError, match="the connection ended") as caught:
            host.call("act", "clock", [])
        assert "'h1'" in caught.value.where and "study reap" in caught.value.remedy
        assert f"`{TARGET.login} true`" in caught.value.remedy


def test_a_host_without_an_answer_in_time_is_abandoned(host: Channel) -> None:
    os.kill(host._ssh.pid, signal.SIGSTOP)
    with pytest.raises(HostLostError, match="no answer within 0 s"):
        host.call("act", "clock", [], timeout_s=0.2)
    assert not host.open


def test_a_host_that_reads_nothing_is_abandoned(host: Channel, tmp_path: Path) -> None:
    """More data than a pipe holds: sending already blocks."""
    os.kill(host._ssh.pid, signal.SIGSTOP)
    with pytest.raises(HostLostError, match="no answer within 0 s"):
        host.call("put", str(tmp_path / "there"), "A" * 2**22, timeout_s=0.2)


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        ("echo 'study@h1: Permission denied (publickey).' >&2; exit 255", InputError, "Permission denied"),
        ("echo 'Host key verification failed.' >&2; exit 255", InputError, "SSH was refused"),
        ("echo 'python3: not found' >&2; exit 127", HostLostError, "python3: not found"),
        ("echo 'ls: Permission denied' >&2; exit 127", HostLostError, "ls: Permission denied"),
        ("echo welcome; exec cat >/dev/null", HostLostError, "does a login script print something"),
    ],
)  # fmt: skip
def test_the_error_explains_why_no_agent_answers(
    ssh: Path, script: str, kind: type[Exception], message: str
) -> None:
    write(ssh, script)
    with pytest.raises(kind, match=message):
        Channel(TARGET)


def test_what_programs_of_a_host_print_is_no_refusal(ssh: Path) -> None:
    """A host that is lost later has let us in: its trial is repeated."""
    write(ssh, f"echo 'ls: Permission denied' >&2; {RUNS.replace('exec sh', 'sh')}; exit 255")
    there = Channel(TARGET)
    (agent,) = psutil.Process(there._ssh.pid).children()
    agent.kill()
    with pytest.raises(HostLostError, match="ls: Permission denied"):
        there.act("clock")


def test_a_jump_hosts_ssh_that_hangs_is_not_awaited(ssh: Path) -> None:
    """It holds the output of errors as long as it lives."""
    write(ssh, f"sleep 30 <&- >&- & {RUNS}")
    there = Channel(TARGET)
    (jump,) = psutil.Process(there._ssh.pid).children()
    there._ssh.kill()
    begun = time.monotonic()
    with pytest.raises(HostLostError, match="the connection ended"):
        there.act("clock")
    assert time.monotonic() - begun < 5.0
    jump.kill()


def test_threads_share_one_agent(ssh: Path) -> None:
    """It alone can tell how a process ended that it has started."""
    together = threading.Barrier(8)
    try:
        with ThreadPoolExecutor(8) as pool:
            opened = list(pool.map(lambda _: (together.wait(10), channel(TARGET))[1], range(8)))
        assert len(set(map(id, opened))) == 1
    finally:
        close_channels()


def test_a_program_that_says_nothing_is_no_agent(
    ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READY_TIMEOUT_S", 0.2)
    write(ssh, "exec sleep 60")
    with pytest.raises(HostLostError, match="no answer within 0 s"):
        Channel(TARGET)


def test_an_answer_that_is_no_plain_value_is_an_error(host: Channel) -> None:
    with pytest.raises(StudyError, match="not JSON serializable"):
        host.call("__class__")
    assert host.act("clock") > 1e9


def test_a_large_file_is_sent_in_parts(host: Channel, tmp_path: Path) -> None:
    content = os.urandom(2 * module.CHUNK_BYTES + 5)
    (tmp_path / "large").write_bytes(content)
    host.send(tmp_path / "large", str(tmp_path / "there"))
    assert (tmp_path / "there").read_bytes() == content
    fetch(TARGET, tmp_path / "there", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content
    close_channels()


def test_an_agent_ends_with_its_connection_whatever_it_does(host: Channel, tmp_path: Path) -> None:
    sleeping = {"name": "d", "argv": ["/bin/sleep", "60"], "env": {}, "cwd": None}
    out = str(tmp_path / "out")
    started = host.call("start", f"test/{tmp_path.name}", "n", sleeping, out, out)
    try:
        with pytest.raises(HostLostError, match="no answer within 0 s"):
            host.call("wait", ["n", "d", *started], 60.0, timeout_s=0.2)
        assert not host.open
    finally:
        os.kill(started[0], signal.SIGKILL)


@pytest.mark.thorough
def test_an_interrupted_request_leaves_no_answer_for_the_next(host: Channel) -> None:
    # A Spark session in this process has a handler that talks to its JVM first.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    os.kill(host._ssh.pid, signal.SIGSTOP)
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            host.call("act", "clock", [])
    finally:
        signal.signal(signal.SIGINT, before)
    assert not host.open


def test_a_build_is_created_found_and_removed(ssh: Path, tmp_path: Path) -> None:
    """From the journal only, as another process would do it."""
    site = Site(tmp_path / "run" / "builds" / "b1", f"test/{os.getpid()}-{tmp_path.name}/b1")
    journal = Journal(tmp_path / "run" / "journal.jsonl")
    assert SshBuild.of(site, journal) is None
    journal.record(NodeReach(tag=site.tag, node="w1", target=TARGET))
    build = SshBuild.known(site, journal, tmp_path / "work")
    data = tmp_path / "disk" / site.tag / "w1"
    try:
        build.make_folders([("w1", data)])
        assert (build.folder / "toolkit.zip").is_file()  # type: ignore[attr-defined]
        assert build.leftovers() == (f"{build.folder} on host h1", f"{data} on host h1")
        SshBuild.known(site, journal, tmp_path / "work").destroy()
        assert build.leftovers() == () and not data.exists()
    finally:
        close_channels()


def test_a_host_is_leased_to_one_run(host: Channel, tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    owner = Owner.of_process(os.getpid()).to_json()
    assert host.call("take_lease", work, "s/r1", owner) is None
    assert host.call("take_lease", work, "s/r1", owner) is None  # renewed
    refused = host.call("take_lease", work, "s/r2", owner)
    assert (refused["tag"], refused["running"]) == ("s/r1", 0)
    host.call("release_lease", work, "s/r2")
    holder = host.call("lease_holder", work)
    assert (holder["tag"], holder["expired"]) == ("s/r1", False)
    assert host.call("take_lease", work, "s/r2", owner, "s/r1") is None  # known to be dead
    host.call("release_lease", work, "s/r2")
    assert host.call("lease_holder", work) is None
