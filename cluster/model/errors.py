"""Errors as types with fields. Messages are made where they are shown (`dags/cli/main.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar, overload

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
class SeveralError(StudyError):
    """Several faults, each of another host or key. A FaultsError, if all are bad input."""

    faults: tuple[StudyError, ...] = ()


@dataclass(eq=False)
class FaultsError(SeveralError, InputError):
    """Several faults of the input: a user mends all of them before the next attempt."""


class HostsBusyError(FaultsError, HostBusyError):
    """Live studies use several hosts."""


def faults_of(error: StudyError) -> tuple[StudyError, ...]:
    """The faults that it names, or itself."""
    return error.faults if isinstance(error, SeveralError) else (error,)


@overload
def together(faults: Sequence[InputError], where: str = "", remedy: str = "") -> InputError: ...
@overload
def together(faults: Sequence[StudyError], where: str = "", remedy: str = "") -> StudyError: ...
def together(faults: Sequence[StudyError], where: str = "", remedy: str = "") -> StudyError:
    """The only fault, or one error that names each of them once: a FaultsError if each is an InputError.
    where: what has them. remedy: in place of each one's."""
    faults = list({(one.where, one.what): one for one in faults}.values())
    if len(faults) == 1:
        return faults[0]
    of_input = all(isinstance(one, InputError) for one in faults)
    kind = FaultsError if of_input else SeveralError
    if all(isinstance(one, HostBusyError) for one in faults):
        kind = HostsBusyError  # to wait is still an answer
    named = " ".join(f"{one.where}: {one.what}" for one in faults)
    remedies = remedy or " ".join(dict.fromkeys(one.remedy for one in faults))
    count = f"{where}, {len(faults)} faults" if where else f"{len(faults)} faults"
    return kind(named, count, remedies, faults=tuple(faults))


def do_all(*acts: Callable[[], object]) -> None:
    """All acts in this order, whatever happens to one. Raises as `each_of`."""
    each_of(acts, lambda act: act())


def each_of(items: Iterable[T], act: Callable[[T], R], most: int | None = None) -> list[R]:
    """`act` on all items, whatever happens to one. Raises the first OSError; without one, what `together`
    makes of the faults. most: stop at this number, and name it."""
    found, faults, failed = [], list[StudyError](), list[OSError]()
    for item in items:
        if most is not None and len(faults) >= most:
            faults[-1].what += f" (the first {len(faults)} faults)"
            break
        try:
            found.append(act(item))
        except StudyError as error:
            faults += faults_of(error)
        except OSError as error:
            failed.append(error)
    if failed:
        raise failed[0] from (together(faults) if faults else None)
    if faults:
        raise together(faults)
    return found
