"""Parser of how many planted variants each genome's calls have."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.workloads.base.parsing import Parsed, RejectedError, whole
from density_study.workloads.pipeline.machine.files import ANSWER_COLUMNS
from density_study.workloads.pipeline.output.rows import genome, parse_rows, stage


@dataclass(frozen=True)
class Answer:
    """Variants of one genome after one stage: planted, called, and found, which are both. After LOAD:
    variants called jointly, stored, and equal."""

    line: int
    node: str
    genome: str
    stage: str
    planted: int
    called: int
    found: int

    @property
    def recall_percent(self) -> float | None:
        """None where nothing was planted."""
        return 100.0 * self.found / self.planted if self.planted else None

    @property
    def precision_percent(self) -> float | None:
        """None where nothing was called."""
        return 100.0 * self.found / self.called if self.called else None


def parse_answers(data: bytes | str, file: str) -> Parsed[Answer]:
    """Rows in the file's order. Quarantines rows of unknown stages, and those whose counts cannot be."""
    return parse_rows(data, file, "answers", ANSWER_COLUMNS, _row)


def _row(line: int, node: str, cells: dict[str, str]) -> Answer:
    planted, called, found = (whole(cells[column]) for column in ANSWER_COLUMNS[2:])
    if found > min(planted, called):
        raise RejectedError(f"{found} variants found of {planted} planted and {called} called")
    return Answer(
        line, node, genome(cells["genome"]), stage(cells["stage"]), planted, called, found
    )
