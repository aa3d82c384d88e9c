"""Is a machine that is known to be slower seen by the canary, and an idle one not?

Its program is stopped and continued by turns, as a hypervisor does with a machine whose CPU others use: it
runs half of the time. Then two busy programs for each CPU share the machine with it. Needs an idle machine.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.analysis.validity.judge import judge
from density_study.workloads import tables
from density_study.workloads.monitors import MONITORS
from density_study.workloads.monitors.devices import parse_device
from density_study.workloads.monitors.facts.canary import apart
from density_study.workloads.rows.monitors.canary_aggregates import speed_rows
from density_study.workloads.rows.raw.trial_context import Subject, TrialFacts
from density_study.workloads.tables.arrow import arrow_table
from tests.known_answers.answer import Answer, KnownAnswer
from tests.support.repeating import repeating

QUIET, SLOW = 12, 6
"""Trials of each kind."""
WINDOW_S = 1.5
TURN_S = 0.005
ROOT = Path(__file__).parents[2]


def watched(
    name: str, folder: Path, disturbed: Callable[[int], Any]
) -> tuple[list[dict[str, Any]], float]:
    """Rows of `machine_speed` of a made-up trial, and the CPU of the canary in its window, in percent of a
    core. disturbed: what the program has to bear, by its pid."""
    output = folder / f"{name}.csv"
    command = MONITORS["canary"]("h", str(output), 0.5, "t/r/b", (sys.executable,))
    program = subprocess.Popen(command.argv, env={**command.env, "PYTHONPATH": str(ROOT)})
    try:
        with disturbed(program.pid):
            while not output.exists() or output.read_text().count("\n") < 3:
                time.sleep(0.02)
            begun_s, used_s = time.time(), _cpu_s(program.pid)
            time.sleep(WINDOW_S)
            used_s = _cpu_s(program.pid) - used_s
            ended_s = time.time()
            program.send_signal(signal.SIGTERM)
            os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)  # its pid stays its own
    finally:
        program.kill()
    rows = [
        {"trial": name, "host": "h", "device": "canary", "line": row.line, "source": row.source,
         "epoch_s": row.epoch_s, "names": list(row.names), "values": list(row.values)}
        for row in parse_device(output.read_bytes(), output.name).rows
    ]  # fmt: skip
    samples = arrow_table(tables.DEVICE_SAMPLES, rows)
    facts = TrialFacts((begun_s, ended_s), 0.0, 0.5)
    speeds = list(speed_rows(samples, Subject(name, "canary", "h", len(rows), facts)))
    return speeds, 100 * used_s / (ended_s - begun_s)


def _cpu_s(pid: int) -> float:
    """With nanoseconds, of its single thread."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


@contextmanager
def alone(_: int) -> Iterator[None]:
    yield


@contextmanager
def half_of_the_time(pid: int) -> Iterator[None]:
    def turn() -> None:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(TURN_S)
        os.kill(pid, signal.SIGCONT)

    with repeating(turn, TURN_S):
        yield


@contextmanager
def crowded(_: int) -> Iterator[None]:
    count = 2 * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in busy:
            one.kill()
            one.wait()


KINDS: Mapping[str, tuple[Callable[[int], Any], str]] = {
    "half": (half_of_the_time, "a machine that gets its CPU half of the time"),
    "crowded": (crowded, "two busy programs of others for each CPU"),
}


def measure() -> list[Answer]:
    with tempfile.TemporaryDirectory(prefix="density-canary-") as name:
        folder = Path(name)
        quiet = [watched(f"idle-{n}", folder, alone) for n in range(QUIET)]
        usual = [row for rows, _ in quiet for row in rows]
        spent = sorted(percent for _, percent in quiet)[QUIET // 2] * 0.5  # of a period of 1 s
        flagged = sum(bool(judge(facts).flags) for facts in apart(usual).values())
        answers = [
            Answer(
                f"an idle machine, {QUIET} trials: flagged", "at most 1", str(flagged), flagged <= 1
            ),
            Answer("CPU of the canary in a trial, percent of a core, period 1 s", "at most 0.1",
                   f"{spent:.3f}", spent <= 0.1),
        ]  # fmt: skip
        for kind, (disturbed, words) in KINDS.items():
            seen, times = 0, []
            for number in range(SLOW):
                trial = f"{kind}-{number}"
                rows, _ = watched(trial, folder, disturbed)
                facts = apart([*usual, *rows])[trial]
                seen += bool(judge(facts).flags)
                times.append(facts["machine_time"])
            answers.append(
                Answer(
                    f"{words}, {SLOW} trials among {QUIET} on the idle machine: flagged",
                    "all",
                    f"{seen}; fixed work took {min(times):.2f} to {max(times):.2f} times as long",
                    seen == SLOW,
                )
            )
    return answers


KNOWN = (
    KnownAnswer("canary", "Does the canary see a slower machine, and no idle one?", measure, quick=False),
)  # fmt: skip
