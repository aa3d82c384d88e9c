"""Monitoring overhead: the rate with monitors over the rate without, pair by pair (method 21)."""

from __future__ import annotations

import math

import pandas as pd

from density_study.analysis.statistics.interval import mean_interval
from density_study.analysis.summary.summary import MonitoringOverhead
from density_study.cluster.model.plain import counted
from density_study.workloads.study.registry import kind_of

MIN_PAIRS = 5  # for an interval, as for a claim (method 2)


def overheads(
    trials: pd.DataFrame, verdicts: pd.DataFrame, metrics: pd.DataFrame
) -> tuple[MonitoringOverhead, ...]:
    """From the tables `trials`, `verdicts` (by trial) and `metrics`: first all monitors together, then each
    telemetry device that has pairs. Empty if the run has no pair.

    A pair counts if both of its trials are valid and have a rate.
    """
    paired = trials[trials["overhead_pair"].notna()]
    of_all = paired[paired["overhead_of"].isna()]
    parts = [of_all, *(same for _, same in paired.groupby("overhead_of", sort=False))]
    return tuple(_overhead(part, verdicts, metrics) for part in parts if not part.empty)


def _overhead(
    paired: pd.DataFrame, verdicts: pd.DataFrame, metrics: pd.DataFrame
) -> MonitoringOverhead:
    workload, test_case = paired["workload"].iloc[0], paired["test_case"].iloc[0]
    name = kind_of(workload).rate
    rates = metrics[metrics["name"] == name].set_index("trial")["value"].dropna()
    valid = paired[paired["trial"].map(verdicts["verdict"]) == "valid"]
    counted = valid[valid["trial"].isin(rates.index)]
    by_pair = counted.assign(rate=counted["trial"].map(rates)).pivot(
        index="overhead_pair", columns="overhead_on", values="rate"
    )
    whole = by_pair.reindex(columns=[True, False]).dropna()
    # By pair: both trials ran one after the other on one build, whose own speed cancels.
    points = tuple(float(on / off) for on, off in whole.to_numpy() if off > 0)
    interval = mean_interval(points) if len(points) >= MIN_PAIRS else None
    device = paired["overhead_of"].iloc[0]
    return MonitoringOverhead(
        device=None if pd.isna(device) else str(device),
        test_case=test_case,
        rate=name,
        # geometric mean: an arithmetic mean of ratios depends on which is above (Fleming, Wallace 1986)
        ratio=math.exp(sum(map(math.log, points)) / len(points)) if points else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        n=len(points),
        pairs=int(paired["overhead_pair"].nunique()),
        points=points,
    )


def sentence(cost: MonitoringOverhead) -> str:
    """The overhead in one sentence for the report."""
    start = f"Overhead of the device {cost.device}" if cost.device else "Monitoring overhead"
    it, others = (
        ("it", "with only the default monitors") if cost.device else ("monitors", "without them")
    )
    if cost.ratio is None:
        return (
            f"{start}: unknown. None of {counted(cost.pairs, 'pair')} of trials with and without "
            f"{it} is valid."
        )
    valid = f"n = {cost.n} of {counted(cost.pairs, 'pair')}"
    spread = (
        f"95 % interval {cost.low:.3f} to {cost.high:.3f}"
        if cost.low is not None and cost.high is not None
        else f"{min(cost.points):.3f} to {max(cost.points):.3f}, too few pairs for an interval"
    )
    return (
        f"{start}: with {it}, {cost.test_case} ran at {cost.ratio:.3f}x its rate {others} "
        f"({valid}; {spread})."
    )
