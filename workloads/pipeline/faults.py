"""Faults of a pipeline: stages that failed or are missing, and variants that are not those that were planted.

Both functions take the record's raw folder and the names of the trial's clients, and give sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from signal import SIGKILL
from typing import TypeVar

from density_study.workloads.base.parsing import Parsed, ParseError
from density_study.workloads.pipeline.machine.files import CALL, JOINT, LOAD
from density_study.workloads.pipeline.output.answers import Answer, parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from density_study.workloads.pipeline.test_case import PipelineTestCase

Row = TypeVar("Row")
KILLED = 128 + SIGKILL
"""The exit code of a killed process, as a shell and the pipeline's agent give it."""


def stage_faults(raw: Path, test_case: PipelineTestCase, clients: Sequence[str]) -> tuple[str, ...]:
    """Empty if every stage of every genome ended with 0."""
    faults: list[str] = []
    genomes = 0
    for client in clients:
        rows = _rows(raw / f"{client}.csv", parse_stages, faults)
        failed = [row for row in rows if row.exit_code]
        faults += [f"{row.stage} of {row.genome} {_ended(row.exit_code)}" for row in failed]
        done = [row.stage for row in rows if not row.exit_code]
        genomes += done.count(CALL)
        if done.count(JOINT) != 1:
            faults.append(f"{client} did not genotype its genomes jointly")
        if done.count(LOAD) != test_case.variant_load:
            faults.append(f"{client} loaded its variants {done.count(LOAD)} times")
    if genomes != test_case.genomes:
        faults.append(f"{genomes} genomes went through all stages, {test_case.genomes} requested")
    return tuple(faults)


def answer_faults(
    raw: Path, test_case: PipelineTestCase, clients: Sequence[str]
) -> tuple[str, ...]:
    """Empty if the variants of every genome were compared, and are right in the shares that the study
    requires; and if those of each node are in the store as they were called."""
    faults: list[str] = []
    compared = 0
    for client in clients:
        rows = _rows(raw / f"{client}-answers.csv", parse_answers, faults)
        compared += len(rows)
        for answer in rows:
            faults += _not_stored(answer) if answer.stage == LOAD else _wrong(answer, test_case)
    expected = 2 * test_case.genomes + test_case.variant_load * len(clients)
    if compared != expected:
        faults.append(f"{compared} results were compared, {expected} expected")
    return tuple(faults)


def importance_faults(raw: Path, client: str) -> tuple[str, ...]:
    """Empty if the forest ended with 0, and its most important variants are those that were planted."""
    faults: list[str] = []
    rows = _rows(raw / f"{client}.csv", parse_stages, faults)
    faults += [f"{row.stage} {_ended(row.exit_code)}" for row in rows if row.exit_code]
    if faults:
        return tuple(faults)
    answers = _rows(raw / f"{client}-answers.csv", parse_answers, faults)
    if len(answers) != 1:
        faults.append(f"{len(answers)} results of variant importance, 1 expected")
    for one in answers:
        if one.planted == 0 or one.found < one.planted:
            faults.append(
                f"{one.stage}: only {one.found} of the {one.planted} planted variants are among the "
                f"{one.called} most important ones"
            )
    return tuple(faults)


def _ended(exit_code: int) -> str:
    if exit_code != KILLED:
        return f"exited with {exit_code}"
    return f"exited with {exit_code}: it was killed, perhaps because the node ran out of memory"


def _rows(
    path: Path, parse: Callable[[bytes, str], Parsed[Row]], faults: list[str]
) -> tuple[Row, ...]:
    """Adds to `faults` why the file, or a line of it, cannot be read."""
    try:
        parsed = parse(path.read_bytes(), path.name)
    except (OSError, ParseError) as error:
        faults.append(str(error))
        return ()
    faults += [f"{path.name}:{bad.line}: {bad.reason}" for bad in parsed.quarantined]
    return parsed.rows


def _not_stored(answer: Answer) -> Iterator[str]:
    what = f"{answer.stage} of {answer.node}"
    if answer.planted == 0:
        yield f"{what}: no variants were called"
    if answer.found < answer.planted:
        lost = answer.planted - answer.found
        yield f"{what}: {lost} of the {answer.planted} variants are not in the store as they were called"
    if answer.found < answer.called:
        other = answer.called - answer.found
        yield f"{what}: {other} rows of the store are none of the called variants"


def _wrong(answer: Answer, test_case: PipelineTestCase) -> Iterator[str]:
    for share, least, what in (
        (answer.recall_percent, test_case.min_recall_percent, "planted variants were called"),
        (answer.precision_percent, test_case.min_precision_percent, "called variants were planted"),
    ):
        if share is None or share < least:
            shown = "an unknown share" if share is None else f"only {share:.1f} %"
            yield f"{answer.stage} of {answer.genome}: {shown} of the {what}, less than {least:g} %"
