"""`python -m tests.spark.programs.study_with_workers run ...`: the command `study`, where Spark's workers
read records of any size, as they read those of a long run."""

from __future__ import annotations

import sys

from density_study.dags import inprocess
from density_study.dags.airflow_home.child import python
from density_study.dags.cli import carry_out, main
from density_study.jobs.facts import of_run
from density_study.jobs.ingest import ingest

IN_PROCESS = "inprocess"


def _mine(module: str, *arguments: str) -> list[str]:
    """Also in the process that carries the run out."""
    if module == inprocess.__name__:
        return python("tests.spark.programs.study_with_workers", IN_PROCESS, *arguments)
    return python(module, *arguments)


if __name__ == "__main__":
    ingest.SMALL_BYTES = of_run.SMALL_BYTES = 0
    if sys.argv[1] == IN_PROCESS:
        sys.exit(inprocess.main(sys.argv[2]))
    carry_out.python = _mine
    main.main()
