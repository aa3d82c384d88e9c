"""`CpuAccount`: CPU time of each node's processes, cumulative, also of those that come and go.

Pure: rounds of readings in, ticks out. A process's own time is seen as long as it lives. What it used
after the last round that saw it, and all of a process that lived between two rounds, is seen only by
its parent, once the parent has waited for it: the kernel then adds the child's time, and its waited-for
children's, to the parent's children time. So a parent's children time is credited too, less what was
already credited of the children that vanished.

The rounds are not snapshots: a child may vanish between the readings of its parent and of itself.
Then the two sides of that difference arrive one round apart; hence a difference is credited only if
two rounds in a row show it. A child that its parent never waits for would leave the difference
negative for ever; that is forgiven after two rounds.

Error: time of a short life is credited one round late; what a process used after it was last seen is
lost if its parent is not one of ours (at most one period of each such process; daemons of a cluster
outlive the trial).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Ticks:
    """User and system time in clock ticks."""

    user: int = 0
    system: int = 0

    def __add__(self, other: Ticks) -> Ticks:
        return Ticks(self.user + other.user, self.system + other.system)

    def __sub__(self, other: Ticks) -> Ticks:
        return Ticks(self.user - other.user, self.system - other.system)

    def above_zero(self) -> Ticks:
        return Ticks(max(self.user, 0), max(self.system, 0))


ZERO = Ticks()
Identity = tuple[int, int]  # pid, and start time in ticks: pids come again


@dataclass(frozen=True)
class Reading:
    """One live process in one round: its own time, its waited-for children's, its parent's pid."""

    identity: Identity
    node: str
    parent_pid: int
    own: Ticks
    children: Ticks


@dataclass
class _Known:
    reading: Reading
    owed: Ticks = ZERO  # children time not yet credited, less credited time of vanished children


class CpuAccount:
    """`add` each round's readings of all tagged processes; `total` is what each node used so far."""

    def __init__(self) -> None:
        self.total: dict[str, Ticks] = {}
        self.processes: dict[str, int] = {}
        self._known: dict[Identity, _Known] = {}

    def add(self, readings: Iterable[Reading]) -> None:
        now = {reading.identity: reading for reading in readings}
        vanished = [known for identity, known in self._known.items() if identity not in now]
        reaped = self._settle(vanished)
        self.processes = dict.fromkeys(self.total, 0)
        for reading in now.values():
            self._update(reading, reaped.get(reading.identity[0], ZERO))
            self.processes[reading.node] = self.processes.get(reading.node, 0) + 1

    def _settle(self, vanished: list[_Known]) -> Mapping[int, Ticks]:
        """Closes the vanished; by pid, the time credited of vanished descendants that the children
        time of that process may now show. Where parent and child vanish together, the next living
        ancestor shows both."""
        gone = {known.reading.identity[0]: known.reading.parent_pid for known in vanished}
        reaped: dict[int, Ticks] = {}
        for known in vanished:
            reading = known.reading
            del self._known[reading.identity]
            owed, debt = known.owed.above_zero(), (ZERO - known.owed).above_zero()
            self._credit(reading.node, owed)
            ancestor = reading.parent_pid
            for _ in gone:  # a bound: rounds are no snapshots, and pids come again
                ancestor = gone.get(ancestor, ancestor)
            reaped[ancestor] = reaped.get(ancestor, ZERO) + reading.own + reading.children + debt
        return reaped

    def _update(self, reading: Reading, reaped: Ticks) -> None:
        known = self._known.get(reading.identity)
        if known is None:
            self._known[reading.identity] = _Known(reading)
            self._credit(reading.node, reading.own + reading.children)
            return
        before, known.reading = known.reading, reading
        owed = known.owed + (reading.children - before.children) - reaped
        user, user_left = _confirmed(known.owed.user, owed.user)
        system, system_left = _confirmed(known.owed.system, owed.system)
        known.owed = Ticks(user_left, system_left)
        self._credit(reading.node, reading.own - before.own + Ticks(user, system))

    def _credit(self, node: str, ticks: Ticks) -> None:
        self.total[node] = self.total.get(node, ZERO) + ticks


def _confirmed(before: int, now: int) -> tuple[int, int]:
    """(what two rounds show and is credited, what stays owed)."""
    if before < 0 and now < 0:
        return 0, 0  # its children were not waited for: forgive
    credit = max(min(before, now), 0)
    return credit, now - credit
