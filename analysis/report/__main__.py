"""`python -m analysis.report SUMMARY.json OUT.html` renders a report from a summary alone."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.comparison.history import read_summary_file
from analysis.report.page import write
from cluster.model.errors import StudyError

USAGE = "usage: python -m analysis.report SUMMARY.json OUT.html"


def main(arguments: list[str]) -> int:
    """0 when the page is written, 2 on bad input."""
    if len(arguments) != 2:
        print(USAGE, file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        write(read_summary_file(source), target)
    except StudyError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
