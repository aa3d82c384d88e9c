"""`Monitor`: a program that samples one host into a file. `MONITORS` registers all monitors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cluster.model.transport import Command
from workloads.base.parsing import Parsed


class Monitor(Protocol):
    """kind: the monitor's name in studies, records and file names (`<host>.<kind>.csv`)."""

    @property
    def kind(self) -> str: ...

    def command(
        self, host: str, output: str, period_s: float, tag: str, python: Sequence[str]
    ) -> Command:
        """The command that writes `output` until TERM.

        period_s: seconds between samples. tag: tag of the build with the processes to watch.
        python: start of a command line that runs Python modules on that host (`Transport.python`).
        """
        ...

    def parse(self, data: bytes | str, file: str) -> Parsed[Any]:
        """The file's rows. Pure; raises only ParseError."""
        ...

    def last_epoch_s(self, text: str) -> float | None:
        """Time of the last complete sample in a file that is still being written; None if there is none."""
        ...
