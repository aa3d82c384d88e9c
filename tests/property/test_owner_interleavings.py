"""1,000 interleavings of studies, reaps, kills, stops, reboots and clock steps on one runs folder.

Each seed simulates three places: two PID namespaces of one kernel and another host. Their processes
open runs, work on them, end or are killed, and reap the remains of others. The judgement, the lock,
the heartbeat and the journal are the real ones. Process tables, clocks and `remove` are simulated.

The invariant: nothing of a run with a live owner is removed. And a dead owner of the same PID
namespace does not prevent the reap of its run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from density_study.cluster.state import owner as owners
from density_study.cluster.state import presence
from density_study.cluster.state.events import RunEnded, RunOpened
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner, Place
from density_study.cluster.state.run_state import run_state
from tests.property.support.quarters import QUARTERS, quarter_of

SEEDS = 1000
STEPS = 60
PLACES = (Place("a", "boot-1", 1), Place("a", "boot-1", 2), Place("b", "boot-2", 1))
Actor = Generator[None, None, None]


@dataclass
class World:
    """Process tables by place, and the removed resources by run."""

    root: Path
    pick: random.Random
    clock_s: float = 1e9
    next_pid: int = 100
    alive: dict[Owner, ExitStack] = field(default_factory=dict)
    stopped: set[Owner] = field(default_factory=set)
    actors: list[tuple[Owner, Actor]] = field(default_factory=list)
    places: list[Place] = field(default_factory=lambda: list(PLACES))
    removed: int = 0
    here: Place = PLACES[0]
    locks_are_shared: bool = True

    def start(self, place: Place, act: str) -> None:
        self.next_pid += 1
        owner = Owner(place, self.next_pid, self.next_pid, holds_lock=act != "scheduler")
        self.alive[owner] = ExitStack()
        self.actors.append((owner, getattr(self, act)(owner)))

    def ticks(self, pid: int) -> int | None:
        """Start time of a process in this place's process table."""
        for owner in self.alive:
            if owner.place == self.here and owner.pid == pid:
                return owner.start_ticks
        return None

    def study(self, me: Owner) -> Actor:
        """Opens the run, new or again; works on it; ends it."""
        with presence.alone(self.root) as locked:
            state = run_state(self.root, lock_free=locked)
            yield
            if not locked or (state and state.state in ("alive", "unknown")):
                return
            self.alive[me].enter_context(presence.present(self.root))
            yield
            self.journal.record(RunOpened(study="s", run="r", tag="s/r", owner=me.to_json()))
            self.beat()
        for _ in range(self.pick.randrange(12)):
            yield
            self.beat()
        self.journal.record(RunEnded(outcome="ok", message=""))

    def scheduler(self, me: Owner) -> Actor:
        """Like Airflow's: no process is present between two tasks."""
        with presence.alone(self.root) as locked:
            state = run_state(self.root, lock_free=locked)
            yield
            if not locked or (state and state.state in ("alive", "unknown")):
                return
            self.journal.record(RunOpened(study="s", run="r", tag="s/r", owner=me.to_json()))
            self.beat()
        for _ in range(self.pick.randrange(6)):
            yield
            with presence.present(self.root):
                yield
                self.beat()
        self.journal.record(RunEnded(outcome="ok", message=""))

    def reaper(self, me: Owner) -> Actor:
        with presence.alone(self.root) as locked:
            state = run_state(self.root, lock_free=locked)
            yield
            if not locked or not state or state.state not in ("dead", "ended"):
                return
            if state.state == "dead":
                assert state.owner not in self.alive, f"removed what {state.owner} works at"
                self.removed += 1
                self.journal.record(RunEnded(outcome="ok", message=""))
            yield

    @property
    def journal(self) -> Journal:
        return Journal(self.root / "journal.jsonl")

    def beat(self) -> None:
        for sign in (*self.root.glob("owner*.lock"), self.journal.path):
            if sign.exists():
                os.utime(sign, (self.clock_s, self.clock_s))

    def enter(self, place: Place) -> None:
        """Code runs there from now on. A network file system may keep each host's locks to
        itself."""
        self.here = place
        alias = f"-{place.host}" if not self.locks_are_shared else ""
        presence.LOCK, presence.OPENING = f"owner{alias}.lock", f"opening{alias}.lock"

    def step(self) -> None:
        runnable = [pair for pair in self.actors if pair[0] not in self.stopped]
        if not runnable:
            return
        me, actor = self.pick.choice(runnable)
        self.enter(me.place)
        if next(actor, self) is self:
            self.end(me)

    def end(self, me: Owner) -> None:
        """The process has ended: the kernel closes its files."""
        for pair in [pair for pair in self.actors if pair[0] == me]:
            pair[1].close()
            self.actors.remove(pair)
        self.alive.pop(me).close()
        self.stopped.discard(me)

    def event(self) -> None:
        kind = self.pick.choices(
            (
                "step",
                "study",
                "scheduler",
                "reaper",
                "kill",
                "stop",
                "go on",
                "clock",
                "wait",
                "reboot",
            ),
            (30, 3, 2, 6, 4, 2, 2, 1, 3, 1),
        )[0]
        someone = self.pick.choice(list(self.alive)) if self.alive else None
        if kind == "step":
            self.step()
        elif kind in ("study", "scheduler", "reaper"):
            self.start(self.pick.choice(self.places), kind)
        elif kind == "kill" and someone:
            self.end(someone)
        elif kind == "stop" and someone:
            self.stopped.add(someone)
        elif kind == "go on":
            self.stopped.clear()
        elif kind == "clock":  # somebody changes it by a day
            self.clock_s += self.pick.choice((-86400, 86400))
        elif kind == "wait":  # long enough for any silence; whoever is not stopped sends heartbeats
            self.clock_s += 3600
            if any(owner not in self.stopped for owner in self._present()):
                self.beat()
        elif kind == "reboot":
            self.reboot()

    def _present(self) -> Iterator[Owner]:
        """The holders of the shared lock: the last named owner, if alive."""
        last = [e for e in self.journal.read() if e["event"] == "run-opened"][-1:]
        for owner in (Owner.from_json(entry["owner"]) for entry in last):
            if owner in self.alive:
                yield owner

    def reboot(self) -> None:
        """The kernel of one host restarts, with all its PID namespaces."""
        host = self.pick.choice(("a", "b"))
        for owner in [owner for owner in self.alive if owner.place.host == host]:
            self.end(owner)
        self.places = [
            replace(place, boot_id=place.boot_id + "+") if place.host == host else place
            for place in self.places
        ]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    simulated = World(tmp_path, random.Random(0))
    for name in ("LOCK", "OPENING"):  # restored afterwards
        monkeypatch.setattr(presence, name, getattr(presence, name))
    monkeypatch.setattr(owners, "here", lambda: simulated.here)
    monkeypatch.setattr(owners, "start_ticks", simulated.ticks)
    monkeypatch.setattr(presence, "_DYING_S", -1.0)
    monkeypatch.setattr(presence.time, "time", lambda: simulated.clock_s)
    return simulated


def run(world: World, seed: int) -> None:
    world.pick = random.Random(seed)
    world.root = world.root.parent / f"seed-{seed}"
    world.root.mkdir()
    world.locks_are_shared = seed % 2 == 0
    for _ in range(STEPS):
        world.event()
    for owner in list(world.alive):
        world.end(owner)


@pytest.mark.thorough
@QUARTERS
def test_nothing_of_a_live_owner_is_removed(quarter: int, world: World) -> None:
    for seed in quarter_of(SEEDS, quarter):
        run(world, seed)
        world.places = list(PLACES)
    assert world.removed > SEEDS / 80, "reapers must have had something to do"


def test_remains_of_a_dead_owner_are_reaped_in_its_own_namespace(world: World) -> None:
    for place in PLACES:
        world.start(place, "study")
        me, actor = world.actors[-1]
        world.enter(place)
        for _ in range(3):  # until it has opened the run
            next(actor)
        world.end(me)
        before = world.removed
        world.start(place, "reaper")
        while world.actors:
            world.step()
        assert world.removed == before + 1
        (world.root / "journal.jsonl").unlink()
