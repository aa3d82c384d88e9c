"""The trials of a run, as its summary holds them."""

from __future__ import annotations

import pandas as pd

from analysis.summarise.analysed_run import AnalysedRun
from analysis.summarise.metric_entries import metric_entries, number
from analysis.summary.summary import TrialSummary


def trial_summaries(run: AnalysedRun) -> tuple[TrialSummary, ...]:
    """Every trial with a closed record, in the order in which they ran."""
    metrics = {str(trial): rows for trial, rows in run.metrics.groupby("trial")}
    return tuple(
        TrialSummary(
            trial=row["trial"],
            order=row["order"],
            repetition=row["repetition"],
            build=row["build"],
            topology=row["topology"],
            vms_per_host=row["vms_per_host"],
            medium=row["medium"],
            setting=row["setting"],
            workload=row["workload"],
            state=row["state"],
            verdict=run.verdicts.loc[row["trial"], "verdict"],
            reasons=tuple(run.verdicts.loc[row["trial"], "reasons"]),
            measure_s=number(row["measure_s"]),
            overhead_pair=None if pd.isna(row["overhead_pair"]) else int(row["overhead_pair"]),
            monitored=bool(row["monitored"]),
            metrics=metric_entries(metrics.get(row["trial"])),
            warm_up_s=number(row["warm_up_s"]),
        )
        for row in run.trials.to_dict("records")
    )
