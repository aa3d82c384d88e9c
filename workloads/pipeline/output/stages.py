"""Parser of what each stage of each genome used."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.workloads.base.parsing import YEARS_S, Parsed, RejectedError, decimal, whole
from density_study.workloads.pipeline.machine.files import STAGE_COLUMNS
from density_study.workloads.pipeline.output.rows import genome, parse_rows, stage

MAX_CORES = 2**14


@dataclass(frozen=True)
class StageUse:
    """core_s: CPU time of its programs. reaped_core_s: that of all programs of the node that had ended by
    then. Bytes: None where the kernel does not count them. exit_code: that of the program that failed, as a
    shell gives it.
    tasks: of Spark; 1 of a stage that is a process."""

    line: int
    node: str
    genome: str
    stage: str
    start_epoch_s: float
    end_epoch_s: float
    core_s: float
    reaped_core_s: float
    peak_kib: int
    read_bytes: int | None
    written_bytes: int | None
    exit_code: int
    tasks: int


def parse_stages(data: bytes | str, file: str) -> Parsed[StageUse]:
    """Rows in the file's order. Quarantines rows of unknown stages, and those whose numbers cannot be."""
    return parse_rows(data, file, "stages", STAGE_COLUMNS, _row)


def _row(line: int, node: str, cells: dict[str, str]) -> StageUse:
    start_s, end_s = decimal(cells["start_epoch_s"]), decimal(cells["end_epoch_s"])
    if not YEARS_S[0] <= start_s <= end_s <= YEARS_S[1]:
        raise RejectedError("it ends before it begins, or not in this century")
    core_s, reaped_core_s = decimal(cells["core_s"]), decimal(cells["reaped_core_s"])
    if core_s > (end_s - start_s + 1.0) * MAX_CORES:
        raise RejectedError(f"more CPU than {MAX_CORES} cores have")
    return StageUse(
        line=line,
        node=node,
        genome=genome(cells["genome"]),
        stage=stage(cells["stage"]),
        start_epoch_s=start_s,
        end_epoch_s=end_s,
        core_s=core_s,
        reaped_core_s=reaped_core_s,
        peak_kib=whole(cells["peak_kib"]),
        read_bytes=whole(cells["read_bytes"]) if cells["read_bytes"] else None,
        written_bytes=whole(cells["written_bytes"]) if cells["written_bytes"] else None,
        exit_code=whole(cells["exit_code"], most=255),
        tasks=whole(cells["tasks"]),
    )
