"""The sampler on real processes, compared with the kernel's own account."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.workloads.monitors import last_epoch_s
from density_study.workloads.monitors.nodecpu import NodeCpuSample, nodecpu_command, parse_nodecpu
from density_study.workloads.monitors.nodecpu_sampler import Processes

TAG = f"test-study/run-{os.getpid()}/build"
ROOT = Path(__file__).parents[4]
DUTY = """
import time, sys
share, seconds = float(sys.argv[1]), float(sys.argv[2])
end = time.monotonic() + seconds
while (start := time.monotonic()) < end:
    used = time.process_time()
    while time.process_time() - used < share * 0.02:
        pass
    time.sleep(max(0.0, 0.02 - (time.monotonic() - start)))
    print(time.time(), time.process_time())
"""
SHORT_LIVES = """
import subprocess, sys, time
spin = "import time\\nwhile time.process_time() < 0.08: pass"
for _ in range(7):
    subprocess.run([sys.executable, "-S", "-E", "-c", spin], env={}, check=True)
time.sleep(0.8)
"""


def process(proc: Path, pid: int, parent: int, start_ticks: int, environment: str = "") -> None:
    """A process of a made-up /proc that has used 10 ticks."""
    (proc / str(pid)).mkdir()
    stat = f"{pid} (java) S {parent} {'0 ' * 9}10 0 0 0 20 0 1 0 {start_ticks} 0"
    (proc / str(pid) / "stat").write_text(stat)
    (proc / str(pid) / "environ").write_text(environment)


def test_a_child_below_its_parents_pid_is_of_its_node(tmp_path: Path) -> None:
    """A NodeManager, and a container's shell and Java, between which the pids began anew."""
    process(tmp_path, 30_000, 1, 100, f"STUDY_TAG={TAG}\0STUDY_NODE=w2\0")
    process(tmp_path, 32_767, 30_000, 200)
    process(tmp_path, 301, 32_767, 201)
    process(tmp_path, 300, 1, 201)
    processes = Processes(TAG, str(tmp_path))
    for _ in range(2):
        found = {one.identity[0]: one.node for one in processes.readings()}
        assert found == {30_000: "w2", 32_767: "w2", 301: "w2"}


def tagged(node: str, tag: str = TAG) -> dict[str, str]:
    return {"STUDY_TAG": tag, "STUDY_NODE": node}


@contextmanager
def sampling(output: Path, period_s: float = 0.25) -> Iterator[subprocess.Popen[bytes]]:
    command = nodecpu_command(
        "h1", str(output), period_s, "test-study/" + TAG.split("/")[1], (sys.executable,)
    )
    sampler = subprocess.Popen(command.argv, env={**command.env, "PYTHONPATH": str(ROOT)})
    try:
        while not output.exists() or last_epoch_s(output.read_text()) is None:
            assert sampler.poll() is None
            time.sleep(0.02)
        yield sampler
        sampler.send_signal(signal.SIGTERM)
        assert sampler.wait(5) == 0
    finally:
        sampler.kill()
        sampler.wait()


def burn(code: str, *arguments: str, node: str) -> tuple[float, str]:
    """CPU seconds of the process and its children, by the kernel's account; its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    argv = [sys.executable, "-S", "-c", code, *arguments]
    run = subprocess.run(argv, env=tagged(node), check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, run.stdout


def rows(output: Path) -> list[NodeCpuSample]:
    parsed = parse_nodecpu(output.read_bytes(), output.name)
    assert parsed.quarantined == ()
    return list(parsed.rows)


def total_s(samples: list[NodeCpuSample], node: str) -> float:
    return ticks_s([sample for sample in samples if sample.node == node][-1])


@pytest.mark.thorough
def test_a_known_share_is_reported(tmp_path: Path) -> None:
    """Half a core for 2 s, less on a busy machine: the truth is the process's own report of its
    used time at each moment."""
    output = tmp_path / "h1.nodecpu.csv"
    with sampling(output):
        used_s, reported = burn(DUTY, "0.5", "2", node="w1")
        time.sleep(0.3)
    truth = [(float(at), float(used)) for at, used in map(str.split, reported.splitlines())]
    samples = [row for row in rows(output) if row.node == "w1" and row.processes]
    inside = [row for row in samples if truth[0][0] < row.epoch_s < truth[-1][0]]
    assert len(inside) >= 4
    share = rate([(row.epoch_s, ticks_s(row)) for row in inside])
    true_share = rate([(row.epoch_s, at_time(truth, row.epoch_s)) for row in inside])
    assert share == pytest.approx(true_share, abs=0.03)
    # Usage after the last round is lost: the parent, this test, carries no tag.
    assert at_time(truth, inside[-1].epoch_s) - 0.05 <= total_s(rows(output), "w1") <= used_s + 0.03


def rate(points: list[tuple[float, float]]) -> float:
    (start, first), (end, last) = points[0], points[-1]
    return (last - first) / (end - start)


def at_time(truth: list[tuple[float, float]], epoch_s: float) -> float:
    return max(used for at, used in truth if at <= epoch_s)


def ticks_s(row: NodeCpuSample) -> float:
    return (row.user_ticks + row.system_ticks) / row.ticks_per_s


@pytest.mark.thorough
def test_short_lived_processes_are_counted(tmp_path: Path) -> None:
    """Seven children of 80 ms, most of them between two rounds, without a tag of their own."""
    output = tmp_path / "h1.nodecpu.csv"
    with sampling(output, period_s=0.3):
        used_s, _ = burn(SHORT_LIVES, node="w1")
        time.sleep(0.1)
    assert used_s >= 0.5
    assert total_s(rows(output), "w1") == pytest.approx(used_s, rel=0.05, abs=0.05)


def test_only_tagged_processes_count_each_for_its_node(tmp_path: Path) -> None:
    output = tmp_path / "h1.nodecpu.csv"
    sleep = [sys.executable, "-S", "-c", "import time; time.sleep(30)"]
    nodes = {"w1": tagged("w1"), "w2": tagged("w2"), "x": tagged("x", "test-study/run-2")}
    nodes["y"] = tagged("y", TAG + "0") | {"STUDY_TAG": TAG.replace("/build", "0/build")}
    sleepers = [subprocess.Popen(sleep, env=env) for env in nodes.values()]
    try:
        with sampling(output):
            time.sleep(0.3)
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    samples = rows(output)
    assert {sample.node for sample in samples} == {"w1", "w2", "monitor"}
    assert {s.processes for s in samples if s.node == "w1"} == {1}


@pytest.mark.thorough
def test_descendants_with_a_clean_environment_count(tmp_path: Path) -> None:
    """Like YARN containers: started by a tagged process, in a clean environment."""
    output = tmp_path / "h1.nodecpu.csv"
    code = "import subprocess; subprocess.run(['/bin/sleep', '1'], env={})"
    parent = subprocess.Popen([sys.executable, "-S", "-c", code], env=tagged("w1"))
    with sampling(output, period_s=0.1):
        assert parent.wait() == 0
    assert 2 in {sample.processes for sample in rows(output) if sample.node == "w1"}


@pytest.mark.thorough
def test_rounds_keep_the_period_and_never_go_back(tmp_path: Path) -> None:
    output = tmp_path / "h1.nodecpu.csv"
    with sampling(output):
        time.sleep(1.3)
    times = [sample.epoch_s for sample in rows(output) if sample.node == "monitor"]
    assert times == sorted(set(times))
    assert len(times) >= 4
    late = sorted(time % 0.25 for time in times[1:])
    assert late[len(late) // 2] < 0.05  # on multiples of the period; the median, on a busy machine


def test_a_round_is_cheap(tmp_path: Path) -> None:
    """32 tagged processes, one round per second: well below 1 % of a core."""
    sleep = ["/bin/sleep", "30"]
    sleepers = [subprocess.Popen(sleep, env=tagged("w1")) for _ in range(32)]
    code = f"""
import io, time
from density_study.workloads.monitors.cpu_account import CpuAccount
from density_study.workloads.monitors.nodecpu_sampler import Processes, sample
processes, account, file = Processes({TAG!r}), CpuAccount(), io.StringIO()
sample(processes, account, file)
begun = time.process_time()
for _ in range(20):
    sample(processes, account, file)
print((time.process_time() - begun) / 20, account.processes["w1"])
"""
    try:
        out = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    assert int(out[1]) == 32
    assert float(out[0]) < 0.008
