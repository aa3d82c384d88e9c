"""A study in its own PID namespace, observed from outside and from another simulated host.

Needs root, for `unshare`. The clusters are simulated; the processes, locks and namespaces are real.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from density_study.cluster.state import presence
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import SILENT_AFTER_S
from density_study.dags.airflow_home.home import project_root
from tests.dag.backend import SMALL, break_down, wait_until
from tests.dag.furnished import furnish

pytestmark = [pytest.mark.dag, pytest.mark.skipif(os.geteuid() != 0, reason="unshare needs root")]
TRIAL = "trial b1-v2-flash testdfsio-write-n2"
UNSHARE = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--uts", "--mount-proc"]
ANOTHER_HOST = (
    "hostname another; echo 11111111-2222-3333-4444-555555555555 > {folder}/boot_id; "
    "mount --bind {folder}/boot_id /proc/sys/kernel/random/boot_id; exec "
)


class Place:
    """Where `study` runs: here, in a PID namespace, or on another host, with leases of its own."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.folder = folder
        self.kind = kind
        runtime = folder / f"runtime-{kind}"
        runtime.mkdir(mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ,
            "AIRFLOW_HOME": str(furnish(folder / f"airflow-{kind}")),
            "DENSITY_STUDY_RUNTIME": str(runtime),
            "PYTHONPATH": str(project_root()),
        }

    def argv(self, *arguments: str) -> list[str]:
        study = [sys.executable, "-m", "tests.dag.faked", "study", *arguments]
        if self.kind == "here":
            return study
        prepare = ANOTHER_HOST.format(folder=self.folder) if self.kind == "host" else "exec "
        return [*UNSHARE, "sh", "-c", prepare + shlex.join(study)]

    def study(self, *arguments: str) -> tuple[int, str]:
        ended = subprocess.run(
            self.argv(*arguments), env=self.environment, cwd=self.folder, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        return ended.returncode, " ".join((ended.stdout + ended.stderr).split())


class Study:
    """A run in the middle of a trial, in its own PID namespace."""

    def __init__(self, folder: Path) -> None:
        self.runs = folder / "runs"
        (folder / "small.yaml").write_text(SMALL)
        self.spec = str(folder / "small.yaml")
        break_down(self.runs / "small", {TRIAL: "sleep 300"})
        self.place = Place(folder, "namespace")
        argv = self.place.argv("run", self.spec, "--runs", str(self.runs))
        self.process = subprocess.Popen(
            argv, env=self.place.environment, cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    @property
    def root(self) -> Path:
        return next(self.runs.glob("small/*/journal.jsonl")).parent

    def measures(self) -> bool:
        return any(TRIAL in log.read_text() for log in self.runs.glob("small/*/order.log"))

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def client(self) -> list[psutil.Process]:
        """The trial's own process, which a wrong reap would kill."""
        return [process for process in self.family() if process.name() == "sleep"]

    def kill(self) -> None:
        """Like the kill of a container: all of its namespace at once."""
        init = psutil.Process(self.process.pid).children()
        for process in init:
            process.kill()
        self.process.wait(30)


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    created = Study(tmp_path)
    try:
        wait_until(lambda: created.measures() and created.client(), 120, "the trial begins")
        yield created
    finally:
        if created.process.poll() is None:
            created.kill()


def make_silent(root: Path) -> None:
    """Makes the last heartbeat old: time passes, or a clock is set forward."""
    long_ago = time.time() - 10 * SILENT_AFTER_S
    for name in (presence.LOCK, "journal.jsonl"):
        os.utime(root / name, (long_ago, long_ago))


@pytest.mark.slow
def test_from_every_place_a_live_run_is_left_alone_and_a_dead_one_is_not(
    study: Study, tmp_path: Path
) -> None:
    here, host = Place(tmp_path, "here"), Place(tmp_path, "host")
    named = ("--runs", str(study.runs))
    client = study.client()
    assert len(client) == 1
    # Even if its owner is stopped and the clock is set, the kernel holds its lock.
    owner = psutil.Process(study.process.pid).children()[0]
    owner.send_signal(signal.SIGSTOP)
    make_silent(study.root)
    for place in (here, host):
        code, text = place.study("status", *named)
        assert (code, ": running" in text) == (0, True), text
        code, text = place.study("reap", *named)
        assert (code, text) == (0, "Nothing to remove.")
        code, text = place.study("run", study.spec, *named)
        assert (code, "is running" in text) == (2, True), text
    owner.send_signal(signal.SIGCONT)
    assert study.client() == client

    root = study.root
    study.kill()
    name = f"{os.uname().nodename}/"
    make_silent(root)
    code, text = host.study("reap", *named)
    assert (code, "left alone" in text, name in text) == (0, True, True), text
    code, text = host.study("status", *named)
    assert ": unknown" in text and "last seen" in text, text
    code, text = host.study("run", study.spec, *named)
    assert (code, "--force" in text) == (2, True), text
    assert not any(
        entry["event"] == "owner-declared-dead" for entry in Journal(root / "journal.jsonl").read()
    )

    make_silent(root)
    code, text = here.study("status", *named)  # the same kernel, which has released the lock
    assert ": interrupted" in text, text
    code, text = here.study("reap", *named)
    assert (code, "open record" in text or "removed" in text) == (0, True), text


@pytest.mark.slow
def test_a_user_may_declare_an_owner_dead(study: Study, tmp_path: Path) -> None:
    host = Place(tmp_path, "host")
    named = ("--runs", str(study.runs))
    root = study.root
    study.kill()
    make_silent(root)
    code, text = host.study("reap", *named)
    owner = text.rpartition("--force ")[2]
    code, text = host.study("reap", *named, "--force", "somebody/1/2")
    assert (code, "left alone" in text) == (0, True), text
    make_silent(root)
    code, text = host.study("reap", *named, "--force", owner)
    assert (code, "left alone" in text) == (0, False), text
    break_down(study.runs / "small", {})
    code, text = host.study("run", study.spec, *named)
    assert code == 0, text  # resumes that run
    assert len(list(study.runs.glob("small/*/journal.jsonl"))) == 1
