"""How fast the machines themselves were in a run, over earlier runs: by the canary around the same trials."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import fmean

from density_study.analysis.summary.summary import TestCaseSummary

WORKS = {"computing": "canary_compute", "memory": "canary_memory", "waking": "canary_wake",
         "touching": "canary_touch"}  # fmt: skip


def machine_speeds(
    before: Sequence[TestCaseSummary], after: TestCaseSummary
) -> dict[str, float | None]:
    """How fast the machines of `after` are, as a ratio to the mean of `before`, by kind of work: the
    geometric mean over the machines that were watched in all of them. None without such a machine."""
    return {work: _ratio(name, before, after) for work, name in WORKS.items()}


def _ratio(name: str, before: Sequence[TestCaseSummary], after: TestCaseSummary) -> float | None:
    earlier, later = [_logs(name, entry) for entry in before], _logs(name, after)
    shared = set(later).intersection(*earlier) if earlier else set()
    if not shared:
        return None
    return exp(fmean(fmean(one[host] for one in earlier) - later[host] for host in sorted(shared)))


def _logs(name: str, entry: TestCaseSummary) -> dict[str, float]:
    """Logarithm of the time of the work, by machine."""
    return {
        one.scope or "": log(one.value) for one in entry.metrics if one.name == name and one.value
    }
