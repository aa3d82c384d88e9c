"""`CpuAccount`: cumulative CPU time of each node's processes, including short-lived ones.

Pure: it takes rounds of readings and returns ticks. A live process shows its own time. Time used after the
last reading of a process, and all time of a process that lived between two rounds, appears only in its
parent: once the parent has waited for the child, the kernel adds the child's time and that of the child's
own waited-for children to the parent's children time. So a parent's children time is credited as well,
less what was already credited for children that have ended.

Rounds are not snapshots: a child may end between the readings of its parent and of itself. The two sides of
the difference then arrive one round apart, so a difference is credited only after two successive rounds
show it. A child that its parent never waits for would keep the difference negative forever, so a negative
difference is dropped after two rounds.

Error: time of a short-lived process is credited one round late. Time used after the last reading is lost if
the parent is not a tagged process (at most one period per such process; a cluster's daemons outlive
the trial).
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
    """One live process in one round: own time, time of its waited-for children, and its parent's pid."""

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
    """`add` takes each round's readings of all tagged processes; `total` is each node's cumulative time."""

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
    """(ticks to credit because two rounds show them, ticks that remain owed)."""
    if before < 0 and now < 0:
        return 0, 0  # the parent did not wait for its children: drop the debt
    credit = max(min(before, now), 0)
    return credit, now - credit
