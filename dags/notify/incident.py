"""What there is to tell about a run that has ended: a regression, a failure, a recovery, or nothing.

Does not import Airflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from density_study.analysis.comparison.acknowledged import read_acknowledged
from density_study.analysis.comparison.compare import Change, RunComparison, compare
from density_study.analysis.comparison.history import (
    SUMMARY,
    earlier,
    read_comparison,
    read_summary,
)
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import Notified, RunEnded
from density_study.cluster.state.journal import events_among, run_folders
from density_study.dags.notify.message import Message, number_of, report_of, words_of
from density_study.dags.stages import conclusion
from density_study.dags.stages.comparison import compare_run, format_change, how_to_acknowledge
from density_study.workloads.execution.run import Run
from density_study.workloads.study.notify import Occasion


def message_of(run: Run, reason: str = "") -> Message | None:
    """The message about a run that has ended, or was killed for `reason`; None if there is nothing to tell.

    A recovery is the first run after a message about a failure or a regression in which nothing is
    wrong. After a regression it is compared with the baseline of that regression, because the slower
    runs have entered a rolling baseline meanwhile.
    """
    compared, fault = _compared(run)
    failed = _failure(run, reason) or ([fault] if fault else [])
    slower = compared.regressions if compared else ()
    lines = [format_change(change) for change in slower]
    event: Occasion
    if failed:
        event, headline, lines = "failure", failed[0], [*failed[1:], *lines]
    elif slower:
        more = f", and {len(lines) - 1} more" if len(lines) > 1 else ""
        event, headline, lines = "regression", lines[0] + more, lines if more else []
    else:
        return _recovery(run)
    if compared is None or not slower:
        return _message(run, event, headline, lines, slower)
    message = _message(run, event, headline, [*lines, how_to_acknowledge(run.root)], slower)
    return replace(message, causes=compared.candidate_causes, baseline=compared.baseline)


def _message(
    run: Run, event: Occasion, headline: str, lines: Sequence[str], changes: Sequence[Change]
) -> Message:
    return Message(
        event=event,
        study=run.study.study,
        run=run.id,
        headline=headline,
        lines=tuple(lines),
        numbers=tuple(map(number_of, changes)),
        report=report_of(run.root),
    )


def _compared(run: Run) -> tuple[RunComparison | None, str]:
    """The comparison that the study requests, or why there is none."""
    if not (run.root / SUMMARY).exists():
        return None, ""  # nothing was measured: a failure, reported as such
    try:
        return compare_run(run), ""
    except Exception as error:  # which must not keep back the message about a failed run
        return None, f"the run could not be compared: {words_of(error)}"


def _failure(run: Run, reason: str) -> list[str]:
    ends = run.journal.since_opening(RunEnded)
    if not ends:
        return [reason or "the run did not end."]
    if ends[-1].outcome == "ok":
        return []
    return (conclusion.failures(run) if ends[-1].finished else []) or [ends[-1].message]


def _recovery(run: Run) -> Message | None:
    incidents = _incidents(run)
    if not incidents:
        return None
    lines = [f"{event.occasion} in run {root.name}: {event.headline}" for root, event in incidents]
    slower = next(((root, e) for root, e in incidents if e.occasion == "regression"), None)
    changes: tuple[Change, ...] = ()
    if slower and run.study.compare:
        changes = tuple(_since(run, *slower))
        if any(_is_worse(change, run.study.compare.tolerance) for change in changes):
            return None
        lines += [f"now: {format_change(change)}" for change in changes]
    newest = incidents[0][1].occasion
    headline = f"nothing is wrong any more, after a {newest} in run {incidents[0][0].name}"
    return _message(run, "recovery", headline, lines, changes)


def _since(run: Run, told: Path, event: Notified) -> list[Change]:
    """The numbers that were told as regressions in the run `told`, now against the baseline of that time."""
    before = [root for name in event.baseline if (root := run.root.parent / name).is_dir()]
    if not before or run.study.compare is None:
        return []
    summaries, history = [read_summary(root) for root in before], earlier(run.root)
    now = compare(summaries, read_summary(run.root), run.study.compare.tolerance, history)
    try:
        compared = read_comparison(told)
        slower = {one.finding.id for one in compared.regressions} if compared else set()
    except StudyError:
        slower = set()
    return [change for change in now.changes if not slower or change.finding.id in slower]


def _is_worse(change: Change, tolerance: float) -> bool:
    """Still worse by more than the tolerance, proved or not: what is undecided has not recovered."""
    if change.finding.effect is None:
        return False
    effect = change.finding.effect
    return (effect if change.finding.family == "rates" else 1 / effect) <= 1 - tolerance


def _incidents(run: Run) -> list[tuple[Path, Notified]]:
    """What was told of this run and earlier ones since the last recovery, newest first. A regression that was
    acknowledged is neither wrong any more nor recovered."""
    found: list[tuple[Path, Notified]] = []
    known = [one.run for one in read_acknowledged(run.root.parent).known]
    for root in reversed(run_folders(run.root.parents[1], run.root.parent.name)):
        if root.name > run.id:
            continue
        for event in reversed(events_among(root, Notified)):
            if event.occasion == "recovery":
                return found
            accepted = any(root.name <= one <= run.id for one in known)
            if event.occasion != "regression" or not accepted:
                found.append((root, event))
    return found
