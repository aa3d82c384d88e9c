"""`Monitor`: a program that watches one host and leaves a file. One line in `MONITORS` adds another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cluster.model.command import Command
from workloads.base.parsing import Parsed


class Monitor(Protocol):
    """kind: the monitor's name in studies, records and file names (`<host>.<kind>.csv`)."""

    @property
    def kind(self) -> str: ...

    def command(
        self, host: str, output: str, period_s: float, tag: str, python: Sequence[str]
    ) -> Command:
        """The process that writes `output` until it gets TERM.

        period_s: seconds from one sample to the next. tag: of the build whose processes it watches.
        python: begin of a command line that runs Python modules on that host (`Transport.python`).
        """
        ...

    def parse(self, data: bytes | str, file: str) -> Parsed[Any]:
        """The file's rows. Pure; raises ParseError alone."""
        ...

    def last_epoch_s(self, text: str) -> float | None:
        """Time of the last whole sample in a file still being written; None if there is none."""
        ...
