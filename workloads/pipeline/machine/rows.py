"""Writes the rows of the files that a node leaves (`files`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from density_study.workloads.pipeline.machine.files import title
from density_study.workloads.pipeline.machine.measure import Use


def begin(file: IO[str], what: str, node: str, columns: Sequence[str]) -> None:
    """The title and the header."""
    print(title(what, node), ",".join(columns), sep="\n", file=file, flush=True)


def write(file: IO[str], cells: Sequence[object]) -> None:
    print(*cells, sep=",", file=file, flush=True)


def stage_row(
    genome: str, stage: str, use: Use, reaped_core_s: float, tasks: int
) -> tuple[object, ...]:
    """The cells of STAGE_COLUMNS."""
    return (
        genome,
        stage,
        f"{use.start_epoch_s:.6f}",
        f"{use.end_epoch_s:.6f}",
        f"{use.core_s:.6f}",
        f"{reaped_core_s:.6f}",
        use.peak_kib,
        "" if use.read_bytes is None else use.read_bytes,
        "" if use.written_bytes is None else use.written_bytes,
        use.exit_code,
        tasks,
    )
