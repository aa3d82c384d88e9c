"""The canary's program: a burst before the trial, a round a period, a burst after it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from density_study.workloads.monitors import MONITORS
from density_study.workloads.monitors.canary import BLOCKS, Wakes, buffer_bytes
from density_study.workloads.monitors.devices import parse_device

ROOT = Path(__file__).parents[4]


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_bursts_around_rounds(tmp_path: Path) -> None:
    output = tmp_path / "h1.canary.csv"
    command = MONITORS["canary"]("h1", str(output), 0.1, "s/r/b", (sys.executable,))
    env = {**command.env, "PYTHONPATH": str(ROOT)}
    sampler = subprocess.Popen(command.argv, env=env, start_new_session=True)
    seen = {0}
    try:
        while max(seen) < 2 + BLOCKS + 3:
            assert sampler.poll() is None
            seen.add(output.read_text().count("\n") if output.exists() else 0)
            time.sleep(0.002)
        sampler.send_signal(signal.SIGTERM)
        assert sampler.wait(10) == 0
    finally:
        sampler.kill()
    assert not seen & set(range(3, 2 + BLOCKS))  # nobody sees a part of the first burst
    parsed = parse_device(output.read_bytes(), "f")
    assert parsed.quarantined == ()
    fixed = ("compute_us", "memory_us")
    wakes = ("wake_us",) if len(os.sched_getaffinity(0)) > 1 else ()
    assert [row.names for row in parsed.rows[:BLOCKS]] == [(*fixed, *wakes, "touch_us")] * BLOCKS
    assert parsed.rows[BLOCKS].names == fixed  # no core is taken from a trial
    assert min(value for row in parsed.rows for value in row.values) > 0
    until_s = time.monotonic() + 10
    while alive(sampler.pid):  # the process that was woken up ends with it
        assert time.monotonic() < until_s
        time.sleep(0.01)


def test_a_wake_up_leaves_the_canary_unpinned_and_needs_two_cores() -> None:
    cores = os.sched_getaffinity(0)
    try:
        one = {min(cores)}
        os.sched_setaffinity(0, one)
        assert Wakes().time_us() is None
    finally:
        os.sched_setaffinity(0, cores)
    wakes = Wakes()
    times_us = [wakes.time_us() for _ in range(3)]
    assert all(one is not None and one > 0 for one in times_us) is (len(cores) > 1)
    assert os.sched_getaffinity(0) == cores


@pytest.mark.parametrize(
    ("sizes", "memory_gib", "buffer_mib"),
    [
        ({}, 24, 32), ({0: "32K", 3: "8192K"}, 24, 32), ({2: "512K", 3: "98304K"}, 256, 192),
        ({3: "516096K"}, 512, 1008), ({3: "516096K"}, 4, 64), ({3: "516096K"}, 1, 32),
    ],
)  # fmt: skip
def test_no_cache_holds_the_buffer(
    sizes: dict[int, str], memory_gib: int, buffer_mib: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for index, size in sizes.items():
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(f"{size}\n")
    pages = {"SC_PHYS_PAGES": memory_gib * 2**18, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert buffer_bytes(tmp_path) == buffer_mib * 2**20
