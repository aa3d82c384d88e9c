"""`python -m analysis.report SUMMARY.json OUT.html` renders a report from a summary alone."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import ValidationError

from analysis.report.page import write
from analysis.summary.summary import Summary
from cluster.model.errors import InputError, StudyError

USAGE = "usage: python -m analysis.report SUMMARY.json OUT.html"


def main(arguments: list[str]) -> int:
    """0 when the page is written, 2 on bad input."""
    if len(arguments) != 2:
        print(USAGE, file=sys.stderr)
        return 2
    source, target = map(Path, arguments)
    try:
        write(load(source), target)
    except StudyError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")
    return 0


def load(path: Path) -> Summary:
    """Read a summary.json. InputError if it is missing or not a summary."""
    try:
        return Summary.model_validate_json(path.read_bytes())
    except OSError as error:
        what = f"the file cannot be read ({error.strerror})."
        raise InputError(
            what, str(path), "give the path of a run's report/summary.json."
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"])) or "the file"
        what = f"not a summary of this version: {where}: {first['msg']}."
        raise InputError(what, str(path), "recreate it with `study report RUN`.") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
