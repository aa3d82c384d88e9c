"""Compare a run with earlier runs of its study, and format the result. Does not import Airflow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import join
from statistics import median
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.atomic import write_text
from density_study.workloads.study.schedule import Baseline

if TYPE_CHECKING:
    from density_study.analysis.comparison.compare import Change, RunComparison
    from density_study.analysis.hub.side_by_side import Pair
    from density_study.analysis.summary.summary import Summary
    from density_study.workloads.execution.run import Run


def compare_with(root: Path, baseline: Baseline, tolerance: float) -> RunComparison | None:
    """Compare the run in `root` with its baseline; None if a rolling baseline has no earlier run yet.

    InputError if a run that the baseline names has no summary.
    """
    from density_study.analysis.comparison.acknowledged import read_acknowledged
    from density_study.analysis.comparison.compare import compare
    from density_study.analysis.comparison.history import earlier, read_summary

    root = root.absolute()
    history = earlier(root)
    if baseline.run:
        before: tuple[Summary, ...] = (read_summary(root.parent / baseline.run),)
    else:
        before = history[-(baseline.rolling or 1) :]
        if not before:
            return None
    known = read_acknowledged(root.parent)
    return compare(before, read_summary(root), tolerance, history, known)


def compare_run(run: Run) -> RunComparison | None:
    """The comparison that the run's study requests, also written to report/comparison.json.

    None without `compare` in the study, or without an earlier run. InputError as for `compare_with`.
    """
    from density_study.analysis.comparison.history import COMPARISON

    if run.study.compare is None:
        return None
    compared = compare_with(run.root, run.study.compare.baseline, run.study.compare.tolerance)
    if compared is not None:
        write_text(run.root / COMPARISON, compared.model_dump_json(indent=2) + "\n")
    return compared


def side_by_side(before: Path, after: Path, tolerance: float) -> Pair:
    """The runs in these two folders, of one study or of two. InputError if one of them has no summary, or
    if they have nothing in common."""
    from density_study.analysis.comparison.acknowledged import read_acknowledged
    from density_study.analysis.comparison.compare import compare
    from density_study.analysis.comparison.declared import declared_differences
    from density_study.analysis.comparison.history import earlier, read_summary
    from density_study.analysis.hub.side_by_side import Pair
    from density_study.workloads.study.study_file import read_study

    first, later = read_summary(before), read_summary(after)
    history = earlier(after) if first.study == later.study else ()
    known = read_acknowledged(after.absolute().parent)
    compared = compare((first,), later, tolerance, history, known)
    try:
        files = (read_study(root / "study.yaml", recorded=True) for root in (before, after))
        return Pair(first, later, compared, declared_differences(*files))
    except StudyError as error:
        return Pair(first, later, compared, None, f"{error.where}: {error.what}")


def comparison_lines(compared: RunComparison, *roots: Path) -> Iterator[str]:
    """The result, one line per number, what was not compared, change points, the declared
    differences, and as candidate causes those that were not declared. `roots`: as for
    `how_to_acknowledge`."""
    yield f"run      {compared.run} compared with {', '.join(compared.baseline)}"
    yield f"result   {compared.headline}"
    yield from _between_runs(compared, *roots)
    for change in compared.changes:
        yield f"{change.outcome:<17} {format_change(change)}"
    for name in compared.not_compared:
        yield f"not compared      {name}: missing in a run, or measured with other parameters"
    for point in compared.change_points:
        yield (
            f"change point      {point.subject}: {point.ratio:.2f}x since run {point.run} "
            f"(p = {point.p:.2g})"
        )
    for difference in compared.declared_differences:
        yield f"declared          {difference}"
    for cause in compared.candidate_causes:
        yield f"candidate cause   {cause}"


def _between_runs(compared: RunComparison, *roots: Path) -> Iterator[str]:
    """What is known of the night effect, and the smallest regressions that can be named with it."""
    for effect in compared.night_effects:
        named = [c.names for c in compared.changes if c.finding.family == effect.family and c.names]
        names = f"; a change of {_share(median(named))} or more would be named" if named else ""
        yield (
            f"night    {effect.family} of a run vary by {effect.spread:.1%} beyond what its builds "
            f"explain, from {effect.runs} earlier runs{names}"
        )
    if compared.changes and not compared.night_effects:
        yield "night    the night effect is unknown with one earlier run; three or more show it"
    if compared.regressions:
        yield f"known?   {how_to_acknowledge(*roots)}"


def _share(change: float) -> str:
    return f"{change:.0%}" if change < 1 else "100%"


def how_to_acknowledge(*roots: Path) -> str:
    """What to do to accept the regressions of a comparison. `roots`: the folders of its two runs, the later
    one last, or only that one if it was compared with its baseline."""
    compared = join(("study", "compare", *map(str, roots)))
    return (
        f"to accept this level, and not have it reported again: {compared} --acknowledge 'REASON'"
    )


def acknowledge(
    root: Path, compared: RunComparison, reason: str, owner: str = "", ticket: str = ""
) -> Path:
    """Add the run's regressions, and those acknowledged in it before, to the file of those that are known,
    which it returns. InputError if there is none."""
    from density_study.analysis.comparison import acknowledged

    found = [one for one in compared.changes if one.outcome in ("regression", "acknowledged")]
    if not found:
        raise InputError(
            "this comparison shows no regression.", f"run {compared.run}", "omit --acknowledge."
        )
    folder = root.absolute().parent
    new = [
        acknowledged.Known(
            number=one.finding.id, run=compared.run, reason=reason, owner=owner, ticket=ticket,
            effect=one.finding.effect if one.outcome == "regression" else None,
        )
        for one in found
    ]  # fmt: skip
    acknowledged.acknowledge(folder, new)
    with suppress(ModuleNotFoundError):  # the hub needs the extra `report`, comparing does not
        from density_study.analysis.hub.page import rebuild

        rebuild(folder.parent)
    return folder / acknowledged.FILE


def format_change(change: Change) -> str:
    """'YCSB data load, v1-flash: throughput 0.91x (0.88 to 0.94, p = 0.001); machine 0.93x, its memory
    0.95x, its wake-ups 0.9x'."""
    found = change.finding
    subject = f"{found.subject}, {found.among}: {found.measure}"
    if found.effect is None:
        return f"{subject}: {found.why}"
    machine = _machine(change)
    if found.low is None or found.high is None:
        return f"{subject} {found.effect:.2f}x ({found.why}){machine}"
    interval = f"{found.low:.2f} to {found.high:.2f}"
    together = f"; mean of {change.together} runs" if change.together > 1 else ""
    certainty = f" ({interval}, p = {found.p_adjusted:.2g}{together})"
    if found.p_adjusted is None:
        certainty = ""
    return f"{subject} {found.effect:.2f}x{certainty}{machine}"


def _machine(change: Change) -> str:
    """How fast the machines themselves were, newest over earlier; nothing where no canary tells."""
    if change.computing is None or change.memory is None:
        return ""
    more = ((", its wake-ups", change.waking), (", its first touch of memory", change.touching))
    rest = "".join(f"{what} {speed:.2f}x" for what, speed in more if speed is not None)
    return f"; machine {change.computing:.2f}x, its memory {change.memory:.2f}x{rest}"
