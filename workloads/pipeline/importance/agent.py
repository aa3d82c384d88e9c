"""Runs on the client node: submits the forest to YARN, and writes its row and its answer.

The row's CPU time and memory are those of the driver, by the kernel's count when it has ended, and of the
containers. Tasks and bytes are by Spark's event log, which stays beside the row.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from density_study.workloads.pipeline.importance.containers import ContainersUse, TasksUse, tasks_of
from density_study.workloads.pipeline.machine.files import (
    ANSWER_COLUMNS,
    COHORT,
    IMPORTANCE,
    STAGE_COLUMNS,
)
from density_study.workloads.pipeline.machine.measure import run
from density_study.workloads.pipeline.machine.rows import begin, stage_row, write


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the driver works")
    parser.add_argument("--node", required=True)
    parser.add_argument("--output", type=Path, required=True, help="file of the row")
    parser.add_argument("--answers", type=Path, required=True, help="file of the answer")
    parser.add_argument("--events", type=Path, required=True, help="folder of Spark's event log")
    parser.add_argument("--result", type=Path, required=True, help="what the forest writes")
    parser.add_argument("--planted", type=int, nargs="+", required=True)
    parser.add_argument("--submit", nargs=argparse.REMAINDER, required=True)
    given = parser.parse_args(argv)

    given.folder.mkdir(parents=True, exist_ok=True)
    use = run([[given.submit]], given.folder)
    every = resource.getrusage(resource.RUSAGE_CHILDREN)
    result, containers, tasks = {}, ContainersUse(0.0, 0), TasksUse(0, 0.0, 0, 0)
    if use.exit_code == 0:
        result = json.loads(given.result.read_text(encoding="utf-8"))
        containers = ContainersUse(result["core_s"], result["peak_kib"])
        with (given.events / result["application"]).open(encoding="utf-8") as events:
            tasks = tasks_of(events)
    whole = replace(
        use,
        core_s=use.core_s + containers.core_s,
        peak_kib=use.peak_kib + containers.peak_kib,
        read_bytes=tasks.read_bytes,
        written_bytes=tasks.written_bytes,
    )
    reaped_core_s = every.ru_utime + every.ru_stime + containers.core_s
    row = stage_row(COHORT, IMPORTANCE, whole, reaped_core_s, tasks.tasks)
    with given.output.open("w", encoding="utf-8") as file:
        begin(file, "stages", given.node, STAGE_COLUMNS)
        write(file, row)
    if use.exit_code:
        sys.exit(f"spark-submit failed with exit code {use.exit_code}; its messages are above")
    found = len(set(result["variants"]) & set(given.planted))
    answer = (COHORT, IMPORTANCE, len(given.planted), len(result["variants"]), found)
    with given.answers.open("w", encoding="utf-8") as file:
        begin(file, "answers", given.node, ANSWER_COLUMNS)
        write(file, answer)


if __name__ == "__main__":
    main()
