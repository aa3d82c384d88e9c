"""Errors as types with fields. Messages are made where they are shown (`dags/cli/main.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


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

    key: path of the study's key at fault, where it is one: the reader of the file adds file and line.
    """

    key: tuple[str | int, ...] = ()
    exit_code: ClassVar[int] = 2

    __str__ = StudyError.__str__


@dataclass(eq=False)
class BringUpError(StudyError):
    """A daemon died or did not become ready. `log_tail` holds its last lines."""

    daemon: str = ""
    log_tail: str = ""

    def __str__(self) -> str:
        tail = f"\n--- last lines of {self.daemon} ---\n{self.log_tail}" if self.log_tail else ""
        return StudyError.__str__(self) + tail


@dataclass(eq=False)
class TearDownError(StudyError):
    """Something of ours could not be removed, or its removal not proved."""

    __str__ = StudyError.__str__


@dataclass(eq=False)
class HostBusyError(InputError):
    """Another live study holds a host. The study says whether to wait for it (`when_busy`)."""

    __str__ = StudyError.__str__


@dataclass(eq=False)
class HostLostError(StudyError):
    """A host no longer answers: nothing can be said of what runs there."""

    __str__ = StudyError.__str__
