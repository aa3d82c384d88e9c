"""Numbers of real runs that the documentation shows, each kept as <study>.json.gz; the pages are today's.

    python -m docs.generator.sample              # docs/sample-report.html (`make docs`): a study that decides
    python -m docs.generator.sample keep RUN...  # keep a run's numbers instead; then take its picture again

README and the first tutorial quote them, and `make pictures` draws docs/report.png and the like from them.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

from density_study.analysis.comparison.history import read_summary_file
from density_study.analysis.report.page import write
from density_study.analysis.summary.summary import Summary
from density_study.dags.airflow_home.home import project_root

PAGE = project_root() / "docs" / "sample-report.html"
SAMPLE = "block-cache-off"
RUNS = "/home/study/runs"
"""In place of the folder of runs on the machine that measured."""


def numbers(study: str) -> Path:
    return Path(__file__).with_name(f"{study}.json.gz")


def kept(study: str) -> Summary:
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder, "report", "summary.json")
        summary.parent.mkdir()
        summary.write_bytes(gzip.decompress(numbers(study).read_bytes()))
        return read_summary_file(summary)


def keep(run: Path) -> None:
    text = (run / "report" / "summary.json").read_text("utf-8")
    text = text.replace(str(run.parents[1]), RUNS)
    numbers(run.parent.name).write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    for run in sys.argv[2:]:
        keep(Path(run).resolve())
    if not sys.argv[1:]:
        write(kept(SAMPLE), PAGE)


if __name__ == "__main__":
    main()
