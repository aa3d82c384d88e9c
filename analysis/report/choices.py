"""The options of the page's filters: the settings, densities, media and verdicts of the run."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.report.charts.observations import Names
from analysis.summary.summary import Summary

VERDICTS = ("valid", "invalid", "unknown")
CLAIMS = ("reproduced", "contradicted", "no claim")
Choice = tuple[str, str]
"""A value as in the page's attributes, and its label."""


@dataclass(frozen=True)
class Choices:
    settings: tuple[Choice, ...]
    densities: tuple[Choice, ...]
    media: tuple[Choice, ...]
    verdicts: tuple[str, ...]
    claims: tuple[str, ...]


def choices(summary: Summary, names: Names) -> Choices:
    """Only values that occur in the run, in the order of the page."""
    labels = {one.setting: one.label for one in summary.settings}
    labels |= {t.setting: labels.get(t.setting, t.setting) for t in summary.trials}
    densities = {one.vms_per_host for one in summary.settings}
    densities |= {one.vms_per_host for one in summary.trials}
    media = {one.medium for one in summary.settings} | {one.medium for one in summary.trials}
    verdicts = {trial.verdict for trial in summary.trials}
    claims = {finding.verdict for finding in summary.findings}
    return Choices(
        settings=tuple(labels.items()),
        densities=tuple(
            (str(density), names.density_in_words(density)) for density in sorted(densities)
        ),
        media=tuple((medium, names.medium(medium)) for medium in sorted(media)),
        verdicts=tuple(name for name in VERDICTS if name in verdicts),
        claims=tuple(name for name in CLAIMS if name in claims),
    )
