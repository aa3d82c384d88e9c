"""A run held against earlier runs of its study: which ones, and in what words. No Airflow in here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workloads.spec.schedule import Baseline

if TYPE_CHECKING:
    from analysis.comparison.result import Change, RunComparison
    from analysis.summary.summary import Summary

COMPARISON = "comparison.json"


def compare_with(root: Path, baseline: Baseline, tolerance: float) -> RunComparison | None:
    """The run in `root` against its baseline; None where a rolling window has no earlier run yet.

    InputError if a run that was named has no summary.
    """
    from analysis.comparison.compare import compare
    from analysis.comparison.history import earlier, read_summary

    root = root.absolute()
    before: tuple[Summary, ...]
    if baseline.run:
        before = (read_summary(root.parent / baseline.run),)
    else:
        before = earlier(root)[-(baseline.rolling or 1) :]
        if not before:
            return None
    return compare(before, read_summary(root), tolerance, earlier(root))


def comparison_lines(compared: RunComparison) -> Iterator[str]:
    """The answer, each number, what was not compared, since when, and what else differs."""
    yield f"run      {compared.run} against {', '.join(compared.baseline)}"
    yield f"result   {compared.headline}"
    for change in compared.changes:
        yield f"{change.outcome:<17} {told(change)}"
    for name in compared.not_compared:
        yield f"not compared      {name}: not every run has it, or not with these knobs"
    for point in compared.change_points:
        yield (
            f"change point      {point.subject}: {point.ratio:.2f}x from run {point.run} on "
            f"(p = {point.p:.2g})"
        )
    for cause in compared.candidate_causes:
        yield f"candidate cause   {cause}"


def told(change: Change) -> str:
    """'YCSB data load, v1-flash: throughput 0.91x (0.88 to 0.94, p = 0.001)'."""
    one = change.finding
    if one.effect is None:
        return f"{one.subject}, {one.among}: {one.measure}: {one.why}"
    ends = (
        f"{one.low:.2f} to {one.high:.2f}" if one.low is not None and one.high is not None else ""
    )
    sure = f" ({ends}, p = {one.p_adjusted:.2g})" if ends and one.p_adjusted is not None else ""
    why = "" if ends else f" ({one.why})"
    return f"{one.subject}, {one.among}: {one.measure} {one.effect:.2f}x{sure}{why}"
