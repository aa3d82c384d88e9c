"""The notes under a figure: how to read its marks, what is not drawn, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from density_study.analysis.report.charts.observations import Observation, View


def point_notes(view: View) -> str:
    """How to read the marks."""
    if view.has_intervals:
        return (
            "Light points: one per build. Solid point: the setting's value, with its interval as a bar. "
            "A bar shorter than the point is hidden behind it."
        )
    return "One point per build. Too few builds for intervals, so differences are inconclusive."


def notes(
    view: View, seen: Iterable[Observation], noun: str, workloads: Collection[str] = ()
) -> tuple[str, ...]:
    """How to read the marks, and which settings of these workloads, or numbers, are not drawn."""
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
    """One sentence naming each setting and arm without a valid trial: a gap looks like a zero."""
    valid = {(one.topology, one.setting) for one in view.summary.settings if one.n_builds > 0}
    arms: dict[str, dict[str, None]] = {}
    for trial in view.summary.trials:
        if (trial.topology, trial.setting) not in valid and trial.workload in workloads:
            where = f"{view.density_in_words(trial.vms_per_host)}, {view.medium(trial.medium)}"
            arms.setdefault(view.labels[trial.setting], {})[where] = None
    if arms:
        missing = "; ".join(f"{label} ({' and '.join(where)})" for label, where in arms.items())
        yield f"Not drawn, because no trial is valid: {missing}."


def _uncomputed(seen: Iterable[Observation], noun: str) -> Iterator[str]:
    """How many of these numbers are null in summary.json, and in which settings."""
    missing = [one for one in seen if one.metric.value is None]
    if missing:
        count = f"{len(missing)} {noun}{'s' if len(missing) > 1 else ''}"
        where = ", ".join(sorted({one.setting.label for one in missing}))
        yield f"{count} could not be computed and are not drawn ({where})."
