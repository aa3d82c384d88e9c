"""`next_run_id`: ids of runs are times, and sort in the order in which the runs were opened.

"The newest run" (status, resume, comparisons) is the one with the last id. So an id must come after all
others even if the clock was set back since.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

from density_study.cluster.state.journal import run_folders

_FORM = "%Y%m%dT%H%M%SZ"
_SECOND = timedelta(seconds=1)
_WARN_AFTER = timedelta(minutes=1)

log = logging.getLogger(__name__)


def next_run_id(runs: Path) -> str:
    """An id after those of all runs below `runs`: the time in seconds, unless a run has a later one."""
    now = datetime.now(UTC).replace(microsecond=0)
    opened = [time for folder in run_folders(runs) if (time := _time_of(folder.name))]
    chosen = max([now, *(time + _SECOND for time in opened)])
    while any(runs.glob(f"*/{chosen.strftime(_FORM)}")):  # what a failed opening left
        chosen += _SECOND
    if chosen - now > _WARN_AFTER:
        log.warning(
            "the clock is behind the newest run below %s: the new run is named %s, to be the newest; "
            "check the clock",
            runs, chosen.strftime(_FORM),
        )  # fmt: skip
    return chosen.strftime(_FORM)


def _time_of(run_id: str) -> datetime | None:
    try:
        time = datetime.strptime(run_id, _FORM).replace(tzinfo=UTC)
        time + _SECOND  # OverflowError at the end of time, which nothing follows
    except (ValueError, OverflowError):
        return None
    return time
