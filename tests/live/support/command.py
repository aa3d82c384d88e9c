"""The `study` command as a user runs it, for live tests; it ends with the test process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged

STUDY = Path(sys.executable).with_name("study")
SPEC = Path(__file__).with_name("small.yaml")
PR_SET_PDEATHSIG = 1


@contextmanager
def study_run(
    runs: Path, *extra: str, spec: Path = SPEC, program: Sequence[str] = (str(STUDY),)
) -> Iterator[subprocess.Popen[str]]:
    """Starts `study run` on a study; kills and reaps it on exit in any case."""
    argv = [*program, "run", str(spec), "--runs", str(runs), *extra]
    child = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=end_with_parent,
        env=environment(runs),
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()
        study("reap", "--runs", str(runs), runs=runs)


def run_of(runs: Path, spec: Path, *extra: str, timeout_s: float) -> Path:
    """The folder of the only run in `runs`: that of a study which has ended well."""
    with study_run(runs, *extra, spec=spec) as child:
        output, _ = child.communicate(timeout=timeout_s)
    assert child.returncode == 0, output
    (run,) = runs.glob("*/2*")
    return run


def study(*arguments: str, runs: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(STUDY), *arguments], capture_output=True, text=True, check=False, env=environment(runs)
    )


def environment(runs: Path) -> dict[str, str]:
    """A separate lease: a developer's running study neither causes a failure nor is disturbed."""
    return {**os.environ, "DENSITY_STUDY_RUNTIME": str(runs / ".runtime")}


def wait_for(runs: Path, wanted: Callable[[dict[str, object]], bool], timeout_s: float) -> Path:
    """The run's folder, once its journal has a wanted line. TimeoutError past the limit."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        for path in runs.glob("*/*/journal.jsonl"):
            if any(wanted(entry) for entry in Journal(path).read()):
                return path.parent
        time.sleep(0.2)
    raise TimeoutError("the journal never said so")


def left_of(run: Path) -> list[str]:
    """Processes that carry the run's tag."""
    return [f"{p.pid} {p.name}" for p in tagged(f"{run.parent.name}/{run.name}")]


def end_with_parent() -> None:
    """When the test process dies, even by SIGKILL, the command gets SIGTERM and cleans up after
    itself."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
