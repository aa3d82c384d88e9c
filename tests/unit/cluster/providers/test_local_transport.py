"""The local transport: processes outlive their starter and are found by their tag."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from density_study.cluster.machine import processes
from density_study.cluster.machine.processes import Children, stop_all
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import is_alive, is_below, start_ticks, tagged
from tests.support.topologies import worker

NODE = worker("w1")
SLEEP = Command("sleeper", ("sleep", "60"))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal.jsonl")


@pytest.fixture
def tag(tmp_path: Path) -> Iterator[str]:
    own = f"test/{os.getpid()}-{tmp_path.name}"
    yield own
    stop_all(tagged(own), 0.0)


@pytest.fixture
def transport(tag: str, journal: Journal) -> LocalTransport:
    return LocalTransport(tag, journal)


def outputs(folder: Path) -> tuple[Path, Path]:
    return folder / "logs" / "out", folder / "logs" / "err"


def test_the_journal_records_the_intent_before_the_process_starts(
    transport: LocalTransport, journal: Journal, tmp_path: Path
) -> None:
    process = transport.start(NODE, SLEEP, *outputs(tmp_path))
    intent, started = journal.read()
    assert (intent["event"], intent["act"], intent["argv"]) == ("intent", "start", ["sleep", "60"])
    assert started["event"] == "process-started"
    assert (started["pid"], started["start_ticks"]) == (process.pid, process.start_ticks)
    assert {intent["tag"], started["tag"]} == {transport.tag}


def test_the_environment_is_clean_and_tagged(
    transport: LocalTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx1m")
    command = Command("env", ("env",), {"OWN": "1"}, str(tmp_path))
    out, err = outputs(tmp_path)
    assert transport.wait(transport.start(NODE, command, out, err), 10) == 0
    environment = dict(line.split("=", 1) for line in out.read_text().splitlines())
    assert environment["STUDY_TAG"] == transport.tag
    assert environment["STUDY_NODE"] == "w1"
    assert environment["OWN"] == "1"
    assert "JAVA_TOOL_OPTIONS" not in environment


def test_wait_returns_the_exit_code_or_times_out(transport: LocalTransport, tmp_path: Path) -> None:
    ends = transport.start(NODE, Command("false", ("false",)), *outputs(tmp_path))
    assert transport.wait(ends, 10) == 1
    stays = transport.start(NODE, SLEEP, *outputs(tmp_path))
    with pytest.raises(TimeoutError, match="sleeper on w1"):
        transport.wait(stays, 0.05)


def test_the_end_of_a_process_that_another_connection_started_is_unknown(
    transport: LocalTransport, tmp_path: Path
) -> None:
    """As for the agent of a host that restarted, or whose connection broke."""
    process = transport.start(NODE, Command("client", ("true",)), *outputs(tmp_path))
    with pytest.raises(StudyError, match="not known how it ended"):
        Children().wait(process, 1)
    assert transport.wait(process, 10) == 0


def test_a_command_that_cannot_be_executed_is_an_error(
    transport: LocalTransport, tmp_path: Path
) -> None:
    with pytest.raises(StudyError, match="/no/such cannot be executed"):
        transport.start(NODE, Command("bad", ("/no/such",)), *outputs(tmp_path))


def test_another_transport_can_stop_the_process(
    transport: LocalTransport, journal: Journal, tmp_path: Path
) -> None:
    process = transport.start(NODE, SLEEP, *outputs(tmp_path))
    other = LocalTransport(transport.tag, journal)
    assert other.alive(process)
    other.stop(process)
    assert not other.alive(process)
    other.stop(process)  # again: no effect, no error


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace_period(
    transport: LocalTransport, tmp_path: Path
) -> None:
    code = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    out, err = outputs(tmp_path)
    process = transport.start(NODE, Command("deaf", (sys.executable, "-c", code)), out, err)
    until(lambda: out.read_text() == "up\n")
    before = time.monotonic()
    transport.stop(process, grace_s=0.3)
    assert 0.3 <= time.monotonic() - before < 5
    assert transport.wait(process, 1) == -9


def test_a_process_that_the_kernel_does_not_end_is_named(
    transport: LocalTransport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for a disk that does not answer. Reap would wait for ever."""
    process = transport.start(NODE, SLEEP, *outputs(tmp_path))
    monkeypatch.setattr(processes, "KILLED_WITHIN_S", 0.1)
    monkeypatch.setattr(processes, "_signal", lambda *_: None)
    with pytest.raises(StudyError, match=f"process {process.pid}.* did not end"):
        stop_all([process], 0.0)


def test_a_process_that_reused_the_pid_is_left_alone(
    transport: LocalTransport, tmp_path: Path
) -> None:
    process = transport.start(NODE, SLEEP, *outputs(tmp_path))
    earlier = replace(process, start_ticks=process.start_ticks - 1)
    assert not is_alive(earlier)
    stop_all([earlier], 0.0)
    assert transport.alive(process)


def test_a_zombie_counts_as_ended(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    until(lambda: start_ticks(child.pid) is None)
    assert Path(f"/proc/{child.pid}").exists()  # not yet reaped
    child.wait()


def test_a_process_is_alive_while_one_of_its_threads_runs() -> None:
    """Like a killed JVM: its first thread is a zombie while others still hold its ports."""
    code = (
        "import ctypes,threading,time; threading.Thread(target=time.sleep,args=(60,)).start();"
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    child = subprocess.Popen([sys.executable, "-c", code])
    try:
        until(lambda: psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE)
        ticks = start_ticks(child.pid)
        assert ticks is not None
        stop_all([ProcessId("w1", "python", child.pid, ticks)], 0.0)
        assert start_ticks(child.pid) is None
    finally:
        child.kill()
        child.wait()


def test_tagged_finds_grandchildren_but_no_foreign_process(
    transport: LocalTransport, tmp_path: Path
) -> None:
    foreign = subprocess.Popen(["sleep", "60"])
    try:
        command = Command("parent", ("sh", "-c", "sleep 60 & sleep 60"))
        parent = transport.start(NODE, command, *outputs(tmp_path))
        until(lambda: len(tagged(transport.tag)) == 3)
        processes = tagged(transport.tag)
        assert parent.pid in {process.pid for process in processes}
        assert foreign.pid not in {process.pid for process in processes}
        assert {process.node for process in processes} == {"w1"}
        assert tagged(transport.tag + "0") == []
    finally:
        foreign.kill()
        foreign.wait()


def test_tagged_excludes_the_calling_process(tag: str) -> None:
    code = f"from density_study.cluster.state.tags import tagged; print(tagged({tag!r}))"
    environment = {**os.environ, "STUDY_TAG": tag}
    output = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert output.stdout == "[]\n"


@pytest.mark.parametrize(
    ("tag", "above", "expected"),
    [("s/r/b", "s/r", True), ("s/r", "s/r", True), ("s/r2", "s/r", False), ("s/r", "s/r/b", False)],
)
def test_is_below(tag: str, above: str, expected: bool) -> None:
    assert is_below(tag, above) is expected


def until(done: object, seconds: float = 5.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)
