"""Thousands of mutated run folders beside canaries: every command, and nothing outside is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import pytest

from density_study.cluster.state import own_runs
from density_study.dags.cli import list_command
from density_study.workloads.execution import opening
from tests.security.run_folders.crafted import Canaries, dead_owner, study
from tests.security.run_folders.mutated import Mutations

RUNNABLE = ("execve", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork")
AT_ONCE = 25
SHORT, LONG = 25, 10_000
PARTS = 4
"""Each is in a group of `make prove` of its own, once for each kind of run."""


@contextmanager
def foreign_things() -> Iterator[tuple[str, ...]]:
    """A network namespace and the folder of a container that are not this program's, as root."""
    if os.geteuid() != 0:
        yield ()
        return
    name = f"canary-{os.getpid()}"
    container = Path("/run/runc") / name
    with ExitStack() as stack:
        subprocess.run(["ip", "netns", "add", name], check=True)
        stack.callback(subprocess.run, ["ip", "netns", "delete", name], check=True)
        container.mkdir(parents=True)
        stack.callback(container.rmdir)
        yield (name,)
        assert container.is_dir() and Path("/run/netns", name).exists()


class Watcher:
    """What this process starts, connects to, or signals while it is armed, by Python's audit events. A hook
    cannot be removed, so there is one for all tests of this process."""

    def __init__(self) -> None:
        self.armed, self.seen = False, list[str]()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.armed and event in (
            *RUNNABLE,
            "socket.connect",
            "os.kill",
            "signal.pidfd_send_signal",
        ):
            self.seen.append(f"{event} {arguments!r}"[:300])


_watchers: list[Watcher] = []


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    if not _watchers:
        _watchers.append(Watcher())
    (found,) = _watchers
    found.seen.clear()
    yield found
    found.armed = False


def commands(runs: Path, roots: list[Path]) -> None:
    """Every command that looks at run folders or acts on them; none may end in a traceback."""
    study("list", "--runs", runs)
    study("reap", "--runs", runs, "--dry-run", "--json")
    study("reap", "--runs", runs)
    for root, other in zip(roots, [*roots[1:], roots[0]], strict=True):
        study("status", root, "--runs", runs)
        study("compare", root, other)
        study("rm", root, "--runs", runs, "--yes")
        assert root.is_dir(), "it is not this user's own"
    for name in {root.parent.name for root in roots}:
        assert opening._newest_own(sorted((runs / name).glob("2*"))) is None


def sweep(
    count: int, seed: int, runs: Path, canaries: Canaries, watcher: Watcher, own: bool
) -> None:
    random = Random(seed)
    with foreign_things() as names:
        mutations = Mutations(canaries, names, dead_owner())
        for first in range(0, count, AT_ONCE):
            below = runs / str(first)
            roots = []
            for number in range(AT_ONCE):
                root = below / f"s{number % 3}" / f"20260101T{number:06d}Z"
                mutations.folder(root, random)
                roots.append(root)
                if own:
                    _register(root)
            watcher.armed = True
            if own:
                study("list", "--runs", below)
                study("reap", "--runs", below, "--dry-run")
                study("reap", "--runs", below)
                for root in roots:
                    study("status", root, "--runs", below)
                    study("rm", root, "--runs", below, "--yes")
            else:
                commands(below, roots)
            watcher.armed = False
            canaries.check((seed, first))
            assert own or watcher.seen == [], (seed, first)
    canaries.check(seed)


def _register(root: Path) -> None:
    key = root / own_runs.KEY
    if key.is_symlink() or key.exists():
        return
    own_runs.register(root)


@pytest.mark.timeout(120)
def test_foreign_runs(runs: Path, canaries: Canaries, watcher: Watcher) -> None:
    """Nothing is started, connected to, signalled, written or removed."""
    sweep(SHORT, 1, runs, canaries, watcher, own=False)


@pytest.mark.timeout(120)
def test_own_runs_that_were_changed(runs: Path, canaries: Canaries, watcher: Watcher) -> None:
    """Registered, then changed: what stands outside of the run is still not touched."""
    sweep(SHORT, 1, runs, canaries, watcher, own=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("own", [False, True], ids=["foreign", "own"])
@pytest.mark.parametrize("part", range(PARTS))
def test_ten_thousand_runs(
    part: int, runs: Path, canaries: Canaries, watcher: Watcher, own: bool
) -> None:
    sweep(LONG // PARTS // 2, 40 + part, runs, canaries, watcher, own)


def test_a_run_is_named_by_its_own_folder(runs: Path) -> None:
    """By a path or an id, and not through a link."""
    root = runs / "s" / "20260101T000000Z"
    root.mkdir(parents=True)
    (root / "journal.jsonl").symlink_to("/etc/passwd")
    assert list_command.only(root, runs) == root
