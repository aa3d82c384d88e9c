"""Names of the files that the hub consists of and leads to, and the hub's policy. Imports no charts."""

from __future__ import annotations

from markupsafe import Markup

from density_study.analysis.report.html import inline_script, policy, static

HUB = "index.html"
"""The hub's name in the folder of all runs."""
REPORT = "report/index.html"
"""Path of a report in its run's folder."""


def hub_scripts() -> tuple[Markup, ...]:
    """The hub's scripts, in the order they run."""
    return tuple(inline_script(static(name)) for name in ("sorting.js", "hub.js"))


def hub_policy() -> str:
    """The hub's Content-Security-Policy: no other script runs, whatever the file holds."""
    return policy(hub_scripts())
