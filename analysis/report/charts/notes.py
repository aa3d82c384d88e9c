"""The notes under a figure: how to read its marks, what is not drawn, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from density_study.analysis.report.charts.observations import Observation, View


def point_notes(view: View) -> str:
    """How to read the marks."""
    if view.has_intervals:
        return (
            "Light points: one per build. Solid point: the test case's value, with its interval as a bar. "
            "A bar shorter than the point is hidden behind it."
        )
    return "One point per build. Too few builds for intervals, so differences are inconclusive."


def notes(
    view: View, seen: Iterable[Observation], noun: str, workloads: Collection[str] = ()
) -> tuple[str, ...]:
    """How to read the marks, and which test cases of these workloads, or numbers, are not drawn."""
    seen = tuple(seen)
    return (
        point_notes(view),
        *_warned(seen),
        *_without_trials(view, workloads),
        *_uncomputed(seen, noun),
    )


def _warned(seen: Iterable[Observation]) -> Iterator[str]:
    if any(any(one.warned) for one in seen):
        yield "A ! marks numbers from trials with warnings; see Validity and trials."


def _without_trials(view: View, workloads: Collection[str]) -> Iterator[str]:
    """One sentence naming each test case and variant without a valid trial: a gap looks like a zero."""
    valid = {(one.topology, one.test_case) for one in view.summary.test_cases if one.n_builds > 0}
    variants: dict[str, dict[str, None]] = {}
    for trial in view.summary.trials:
        if (trial.topology, trial.test_case) not in valid and trial.workload in workloads:
            where = (
                f"{view.density_in_words(trial.vms_per_host)}, {view.disk_type(trial.disk_type)}"
            )
            variants.setdefault(view.labels[trial.test_case], {})[where] = None
    if variants:
        missing = "; ".join(f"{label} ({' and '.join(where)})" for label, where in variants.items())
        yield f"Not drawn, because no trial is valid: {missing}."


def _uncomputed(seen: Iterable[Observation], noun: str) -> Iterator[str]:
    """How many of these numbers are null in summary.json, and in which test cases."""
    missing = [one for one in seen if one.metric.value is None]
    if missing:
        count = f"{len(missing)} {noun}{'s' if len(missing) > 1 else ''}"
        where = ", ".join(sorted({one.test_case.label for one in missing}))
        verb = "are" if len(missing) > 1 else "is"
        yield f"{count} could not be computed and {verb} not drawn ({where})."
