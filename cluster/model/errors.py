"""Errors as types with fields. Messages are made where they are shown (`dags/cli/main.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(eq=False)
class StudyError(Exception):
    """Something went wrong that a user can act on.

    what: one sentence naming the fault. where: file, key, host, node or daemon. remedy: what to do.
    """

    what: str
    where: str
    remedy: str
    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        return f"{self.where}: {self.what} Remedy: {self.remedy}"


E = TypeVar("E", bound=StudyError)


@dataclass(eq=False)
class InputError(StudyError):
    """Bad input, found before anything was started. The command exits with 2.

    key: path of the faulty key in the study, if there is one; the study reader adds file and line.
    """

    key: tuple[str | int, ...] = ()
    exit_code: ClassVar[int] = 2


@dataclass(eq=False)
class BringUpError(StudyError):
    """A daemon died or did not become ready. `log_tail` holds its last lines."""

    daemon: str = ""
    log_tail: str = ""

    def __str__(self) -> str:
        tail = f"\n--- last lines of {self.daemon} ---\n{self.log_tail}" if self.log_tail else ""
        return StudyError.__str__(self) + tail


class TearDownError(StudyError):
    """Something that a study made could not be removed, or its removal could not be proved."""


class HostBusyError(InputError):
    """Another live study uses a host. The key `when_busy` sets whether to wait for it."""


class HostLostError(StudyError):
    """A host no longer answers: the state of its processes is unknown."""


@dataclass(eq=False)
class FaultsError(InputError):
    """Several faults, each of another host or key: a user mends all of them before the next attempt."""

    faults: tuple[StudyError, ...] = ()


def together(faults: Sequence[E], where: str = "", remedy: str = "") -> E | FaultsError:
    """The only fault, or one error that names all. where: what has them. remedy: in place of each one's."""
    if len(faults) == 1:
        return faults[0]
    named = " ".join(f"{one.where}: {one.what}" for one in faults)
    remedies = remedy or " ".join(dict.fromkeys(one.remedy for one in faults))
    count = f"{where}, {len(faults)} faults" if where else f"{len(faults)} faults"
    return FaultsError(named, count, remedies, faults=tuple(faults))


def each_of(items: Iterable[T], act: Callable[[T], R], most: int | None = None) -> list[R]:
    """`act` on all items, whatever happens to one. Raises the only error, or all as a FaultsError. most:
    stop at so many."""
    found, faults = [], list[StudyError]()
    for item in items:
        if len(faults) == most:
            break
        try:
            found.append(act(item))
        except FaultsError as several:
            faults += several.faults
        except StudyError as error:
            faults.append(error)
    if faults:
        raise together(faults)
    return found
