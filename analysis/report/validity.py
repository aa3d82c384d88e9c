"""Overview of validity: the reasons why trials are not valid, and the flags of valid ones."""

from __future__ import annotations

from collections import Counter

from analysis.report.charts.figure import Column, DataTable
from analysis.summary.summary import Summary

_ORDER = ("invalid", "unknown", "valid")


def reasons(summary: Summary) -> DataTable:
    """A row per reason and verdict: invalid before unknown before valid, then by frequency."""
    counts = Counter((trial.verdict, why) for trial in summary.trials for why in trial.reasons)
    ordered = sorted(counts.items(), key=lambda one: (_ORDER.index(one[0][0]), -one[1], one[0][1]))
    columns = (Column("Reason"), Column("Verdict"), Column("Trials"))
    rows = tuple((why, verdict, str(count)) for (verdict, why), count in ordered)
    return DataTable(columns, rows)
