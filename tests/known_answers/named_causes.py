"""Are causes named that were injected into trials of a cluster? The library of tests/causes, in parts."""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from pathlib import Path

from tests.causes import page
from tests.causes.__main__ import analyse, run_parts
from tests.causes.disturbance import disturbances
from tests.causes.library import LEAST_QUIET
from tests.causes.score import AMONG, FALSE, FIRST, NAMED, Score, read_trials, score
from tests.known_answers.answer import Answer, KnownAnswer

PARTS = 4
"""Of the disturbances of HBase: each takes less than 20 minutes."""


def named(part: int) -> list[Answer]:
    """Of HBase's disturbances every PARTS-th, from `part` on; those of TestDFSIO for PARTS itself. The runs
    are kept if a goal was missed: only they show why."""
    known = disturbances()
    of_hbase = [one for one in known.values() if one.workload == "hbase"]
    rest = [one for one in known.values() if one.workload != "hbase"]
    chosen = rest if part == PARTS else of_hbase[part::PARTS]
    with tempfile.TemporaryDirectory(prefix="causes-", dir="/var/tmp") as folder:
        runs = run_parts(chosen, 1, LEAST_QUIET, Path(folder))
        analyse(runs)
        result = score([trial for run in runs for trial in read_trials(run)], known)
        print(page.section(result, known))
        if not result.holds:
            kept = shutil.copytree(folder, f"{folder}-missed")
            print(f"kept: {kept}")
        return answers(result)


def answers(result: Score) -> list[Answer]:
    false, allowed = len(result.false_names), FALSE * max(result.quiet, 1 / FALSE)
    return [
        Answer("the cause is named first", f"at least {FIRST:.0%}",
               f"{result.first:.0%} of {result.trials}", result.first >= FIRST),
        Answer(f"it is among the first {NAMED}", f"at least {AMONG:.0%}",
               f"{result.among:.0%} of {result.trials}", result.among >= AMONG),
        Answer("names in quiet trials", f"at most {allowed:.0f}",
               f"{false} in {result.quiet}", false <= allowed),
        Answer("trials that did not complete", "0",
               str(len(result.incomplete)), not result.incomplete),
    ]  # fmt: skip


KNOWN = tuple(
    KnownAnswer(
        f"causes-{'hdfs' if part == PARTS else part + 1}",
        f"Are injected causes named? {'TestDFSIO' if part == PARTS else 'HBase'}",
        partial(named, part),
        quick=False,
    )
    for part in range(PARTS + 1)
)
