"""`MetricKind`: what one number of a trial is. Its name, unit and words are written once: summaries, charts
and the reference read them.

A workload declares its own metrics (`WorkloadKind.metrics`); `workloads/base/metrics.py` has those of every
workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from density_study.workloads.base.rows import Row, Rows

PER_USD = "per USD/h"


@dataclass(frozen=True)
class MetricKind:
    """Declaration of a metric, and where nothing else does, its computation."""

    name: str
    """As in summary.json: `throughput_job`."""
    unit: str
    """Unit of its values. `per USD/h`: the unit of the test case's rate, for each USD an hour."""
    words: str
    """What charts and tables call it: 'whole-job rate'."""
    meaning: str
    """One sentence for the reference: 'bytes over the whole job, with YARN's start-up'."""
    better: Literal["higher", "lower"] | None = None
    """Which direction is an improvement; None: neither is."""
    shown: Literal["rates", "figure", "list", "elsewhere"] = "figure"
    """Where the report shows it: with the other rates of its workload, in a figure of its own, in the list of
    further numbers, or in a figure or table that was written for it."""
    compute: Callable[[Rows], Iterable[Row]] | None = None
    """Its rows of the table `metrics`, from the rows of a trial; None: the facts of a workload or of the
    monitors have them."""

    def has_unit(self, unit: str) -> bool:
        """Whether a value of this metric may have this unit."""
        return unit == self.unit or (self.unit == PER_USD and unit.endswith(f" {PER_USD}"))
