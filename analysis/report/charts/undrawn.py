"""What a figure leaves out, and why: said under it, since an empty place looks like a zero."""

from __future__ import annotations

from collections.abc import Collection

from analysis.report.charts.observations import Names, observations
from analysis.summary.summary import Summary


def settings_without_trials(
    summary: Summary, names: Names, workloads: Collection[str]
) -> tuple[str, ...]:
    """One sentence that names each setting and arm of these workloads with no valid trial, if any."""
    valid = {(entry.topology, entry.setting) for entry in summary.settings if entry.n_builds > 0}
    seen = {(trial.topology, trial.setting): trial for trial in summary.trials}
    labels = {entry.setting: entry.label for entry in summary.settings}
    arms: dict[str, list[str]] = {}
    for key, trial in seen.items():
        if key not in valid and trial.workload in workloads:
            arm = f"{names.density_in_words(trial.vms_per_host)}, {names.medium(trial.medium)}"
            arms.setdefault(labels.get(trial.setting, trial.setting), []).append(arm)
    if not arms:
        return ()
    told = "; ".join(f"{label} ({' and '.join(where)})" for label, where in arms.items())
    return (f"Not drawn, for want of a valid trial: {told}.",)


def uncomputed(summary: Summary, metrics: Collection[str], noun: str) -> tuple[str, ...]:
    """How many numbers of these metrics are null in summary.json; nothing where none is."""
    missing = [seen for seen in observations(summary, metrics) if seen.metric.value is None]
    if not missing:
        return ()
    where = sorted({seen.setting.label for seen in missing})
    count = f"{len(missing)} {noun}" + ("s" if len(missing) > 1 else "")
    return (f"{count} could not be computed and are not drawn ({', '.join(where)}).",)
