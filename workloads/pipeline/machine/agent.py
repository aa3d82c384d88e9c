"""Runs on a worker node: `make` its genomes, `run` them through the stages, `compare` them with the truth.

`--store` ends the command line with a program: in `run` it loads the cohort's variants into the variant
store, in `compare` it reads them back.

`run` writes a row as soon as a stage has ended, and nothing else happens meanwhile. Standard library only.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import IO

from density_study.workloads.pipeline.machine.answers import (
    called_jointly,
    called_rows,
    planted,
    stored_rows,
    variants_of,
)
from density_study.workloads.pipeline.machine.files import (
    ANSWER_COLUMNS,
    CALL,
    COHORT,
    JOINT,
    LOAD,
    SORT,
    STAGE_COLUMNS,
    STAGES,
    sample,
)
from density_study.workloads.pipeline.machine.gatk import Gatk
from density_study.workloads.pipeline.machine.genomes import Genomes
from density_study.workloads.pipeline.machine.measure import Chain, run
from density_study.workloads.pipeline.machine.rows import begin, stage_row, write
from density_study.workloads.pipeline.machine.stages import (
    COHORT_CALLS,
    WORK,
    calls,
    chains,
    joint_chains,
    load_chains,
)


class Stages:
    """Runs stages and writes their rows to `file`. gatk: the stages that GATK does."""

    def __init__(self, folder: Path, threads: int, file: IO[str], gatk: Mapping[str, Gatk]) -> None:
        self._folder = folder
        self._threads = threads
        self._gatk = gatk
        self._file = file
        self._lock = Lock()

    def genome(self, name: str) -> bool:
        """Whether every stage of it succeeded; none follows one that failed."""
        return all(
            self._stage(name, stage, chains(stage, name, self._threads, self._gatk.get(stage)))
            for stage in STAGES
            if stage != JOINT
        )

    def cohort(self, names: Sequence[str]) -> bool:
        return self._stage(COHORT, JOINT, joint_chains(names))

    def load(self, program: Sequence[str]) -> bool:
        return self._stage(COHORT, LOAD, load_chains(program))

    def _stage(self, genome: str, stage: str, work: Sequence[Chain]) -> bool:
        use = run(work, self._folder)
        with self._lock:
            # the kernel's sum over all children so far, which the rows must add up to in the end
            every = resource.getrusage(resource.RUSAGE_CHILDREN)
            reaped_core_s = every.ru_utime + every.ru_stime
            write(self._file, stage_row(genome, stage, use, reaped_core_s, tasks=1))
        return use.exit_code == 0


def run_genomes(
    folder: Path,
    names: Sequence[str],
    threads: int,
    concurrent: int,
    node: str,
    output: Path,
    gatk: Mapping[str, Gatk],
    store: Sequence[str] = (),
) -> bool:
    """Take the genomes through the stages, `concurrent` at once, then all of them through joint genotyping
    and, by the program `store`, into the variant store."""
    shutil.rmtree(folder / WORK, ignore_errors=True)
    (folder / WORK).mkdir()
    with output.open("w", encoding="utf-8") as file:
        begin(file, "stages", node, STAGE_COLUMNS)
        stages = Stages(folder, threads, file, gatk)
        with ThreadPoolExecutor(concurrent) as pool:
            done = list(pool.map(stages.genome, names))
        return all(done) and stages.cohort(names) and (not store or stages.load(store))


def compare(
    folder: Path, names: Sequence[str], node: str, output: Path, store: Sequence[str] = ()
) -> None:
    """Count what was planted, called, and both, of each genome after each calling stage; with `store`, which
    reads the variant store, what was called jointly, is stored, and both. Then remove the stages' files."""
    with output.open("w", encoding="utf-8") as file:
        begin(file, "answers", node, ANSWER_COLUMNS)
        for name in names:
            truth = planted(folder, name)
            for stage, found in (
                (CALL, variants_of(folder, calls(name))),
                (JOINT, called_jointly(folder, COHORT_CALLS, name)),
            ):
                write(file, (name, stage, len(truth), len(found), len(truth & found)))
        if store:
            subprocess.run(store, cwd=folder, check=True, stdout=subprocess.DEVNULL)
            called, stored = called_rows(folder), stored_rows(folder)
            write(file, (COHORT, LOAD, len(called), len(stored), len(called & stored)))
    shutil.rmtree(folder / WORK)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("act", choices=("make", "run", "compare"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--genomes", type=int, nargs="+", required=True, metavar="NUMBER")
    parser.add_argument("--reference", default="synthetic")
    parser.add_argument("--bases", type=int, default=0)
    parser.add_argument("--coverage", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--concurrent", type=int, default=1)
    parser.add_argument("--node", default="")
    parser.add_argument("--output", type=Path)
    parser.add_argument(
        "--gatk", nargs="*", default=(), choices=(SORT, CALL), help="stages by GATK"
    )
    parser.add_argument("--gatk-home", type=Path, default=Path())
    parser.add_argument("--java", default="java")
    parser.add_argument("--store", nargs=argparse.REMAINDER, default=())
    given = parser.parse_args(argv)
    names = [sample(number) for number in given.genomes]
    if given.act == "make":
        Genomes(given.folder, given.reference, given.bases, given.coverage, given.seed,
                tuple(given.genomes)).make()  # fmt: skip
    elif given.act == "run":
        if not run_genomes(
            given.folder, names, given.threads, given.concurrent, given.node, given.output,
            dict.fromkeys(given.gatk, Gatk(given.java, given.gatk_home, WORK)), given.store,
        ):  # fmt: skip
            sys.exit("a stage failed; its row has its exit code, and its messages are above")
    else:
        compare(given.folder, names, given.node, given.output, given.store)


if __name__ == "__main__":
    main()
