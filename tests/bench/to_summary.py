"""`python -m tests.bench.to_summary RUN`: from records to summary.json, as a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from density_study.jobs.spark.session import start_spark

if __name__ == "__main__":
    root = Path(sys.argv[1])
    start_spark()  # as `study report` does
    from density_study.jobs import pipeline

    pipeline.analyse(root, stages=pipeline.TABLE_STAGES)
    from density_study.analysis.summarise.summarise import write_summary

    write_summary(root)
