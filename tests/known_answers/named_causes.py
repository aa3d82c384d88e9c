"""Are causes named that were injected into trials of a cluster? The library of tests/causes, in parts.

`python -m tests.causes --only-score --runs /var/tmp/density-study-causes` scores the parts' last runs as one.
"""

from __future__ import annotations

import math
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

KEPT = Path("/var/tmp/density-study-causes")
PARTS = 4
"""Of the disturbances of HBase: each takes less than 20 minutes."""


def named(part: int) -> list[Answer]:
    """Of HBase's disturbances every PARTS-th, from `part` on; those of TestDFSIO for PARTS itself. The part's
    last run is kept: only it shows why a name was wrong."""
    known = disturbances()
    of_hbase = [one for one in known.values() if one.workload == "hbase"]
    rest = [one for one in known.values() if one.workload != "hbase"]
    chosen = rest if part == PARTS else of_hbase[part::PARTS]
    with tempfile.TemporaryDirectory(prefix="causes-", dir="/var/tmp") as folder:
        runs = run_parts(chosen, 1, LEAST_QUIET, Path(folder))
        analyse(runs)
        result = score([trial for run in runs for trial in read_trials(run)], known)
        print(page.section(result, known))
        kept = KEPT / str(part + 1)
        shutil.rmtree(kept, ignore_errors=True)
        print(f"kept: {shutil.copytree(folder, kept)}")
        return answers(result)


def answers(result: Score) -> list[Answer]:
    """A part of fewer than ten disturbed trials may miss one among the first NAMED: one more is more than the
    library's goal allows for as many."""
    missed = result.trials - round(result.among * result.trials)
    may_miss = max(1, math.floor((1 - AMONG) * result.trials))
    false, allowed = len(result.false_names), FALSE * max(result.quiet, 1 / FALSE)
    return [
        Answer("the cause is named first", f"at least {FIRST:.0%}",
               f"{result.first:.0%} of {result.trials}", result.first >= FIRST),
        Answer(f"it is among the first {NAMED}", f"at least {AMONG:.0%}, or all but one",
               f"{result.among:.0%} of {result.trials}", missed <= may_miss),
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
