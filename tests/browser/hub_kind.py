"""A made-up results hub with regressions that are new, assigned, in a ticket, and accepted."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from density_study.analysis.comparison.acknowledged import Known, acknowledge, read_acknowledged
from density_study.analysis.comparison.compare import compare
from density_study.analysis.summary.summary import Summary
from tests.support.made_runs.nightly_runs import MIXES, hub, nightly, october, run_id, whole
from tests.support.variants import noisy, ycsb

SLOWER = {"load": (5, 0.8), "read45-insert55": (8, 0.85), "scan95-insert5": (12, 0.7)}
"""By mix: the run from which on it is slower, and its rate then over that before."""
STUDIES = {"nightly": 12, "weekly": 6}
"""The number of runs of each."""
KNOWN = {
    ("nightly", 5): {"reason": "kernel 6.12, accepted"},
    ("nightly", 8): {
        "reason": "being bisected: not the kernel, which was put back in run 20261109T020000Z",
        "owner": "ada",
        "ticket": "https://tickets.example.org/browse/PERF-1207",
    },
    ("weekly", 5): {"reason": "vendor's answer is due on Monday", "ticket": "PERF-1188"},
}
"""What was acknowledged after a run of a study."""
OPENED = "2026-11-12 02:00"
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
"""The journals of these runs are written now."""


def made_hub() -> str:
    """The page. In `nightly`, the load was accepted, reads are assigned, and scans are new; in `weekly`, a
    ticket has the load."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder)
        for study, last in STUDIES.items():
            earlier = [one.model_copy(update={"study": study}) for one in october()]
            for number in range(1, last + 1):
                earlier.append(_measured(runs, study, number, earlier))
        return _TIME.sub(OPENED, hub(runs))


def _measured(runs: Path, study: str, number: int, earlier: list[Summary]) -> Summary:
    rates = {mix: 100 * (by if number >= since else 1) for mix, (since, by) in SLOWER.items()}
    cases = tuple(ycsb(mix, ops_s=noisy(rates[mix], 8, 0.02, (number, mix))) for mix in MIXES)
    summary = nightly(number, study=study, test_cases=cases)
    root = whole(runs, summary)
    known = read_acknowledged(runs / study)
    compared = compare(earlier[-5:], summary, 0.05, earlier, known)
    (root / "report" / "comparison.json").write_text(compared.model_dump_json())
    if words := KNOWN.get((study, number)):
        found = [change.finding for change in compared.regressions]
        new = [
            Known(number=one.id, run=run_id(number), effect=one.effect, **words) for one in found
        ]
        acknowledge(runs / study, new)
    return summary
