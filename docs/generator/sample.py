"""Write the sample report, docs/sample-report.html (`make docs`): of a study that decides its question.

Its numbers are those of a real run of `block-cache-off`, kept as sample.json.gz; the page is today's.
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from density_study.analysis.comparison.history import read_summary_file
from density_study.analysis.report.page import write
from density_study.dags.airflow_home.home import project_root

NUMBERS = Path(__file__).with_name("sample.json.gz")
PAGE = project_root() / "docs" / "sample-report.html"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder, "report", "summary.json")
        summary.parent.mkdir()
        summary.write_bytes(gzip.decompress(NUMBERS.read_bytes()))
        write(read_summary_file(summary), PAGE)


if __name__ == "__main__":
    main()
