"""The summary's causes of slow trials, limits of test cases, and what moved between variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from density_study.analysis.explanation.bottleneck import bottlenecks
from density_study.analysis.explanation.rules import rules
from density_study.analysis.explanation.variants import RATE, explanations
from density_study.analysis.summarise.analysed_run import AnalysedRun
from density_study.analysis.summarise.read_rows import optional
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.analysis.summary.why import Bottleneck, Explanation, TrialCause
from density_study.workloads import tables
from density_study.workloads.study.metrics import main_rates


def trial_causes(run_root: Path, trials: Sequence[str]) -> Iterator[TrialCause]:
    """Yield the causes of the named trials, in the given order and then by rank. Nothing for a run that an
    older version analysed."""
    rows = optional(run_root, tables.TRIAL_CAUSES)
    by_trial = dict(iter(rows[rows["cause"].isin(rules().keys())].groupby("trial")))
    for trial in trials:
        if trial in by_trial:
            for row in by_trial[trial].sort_values("rank").to_dict("records"):
                yield TrialCause(
                    trial=trial,
                    rank=row["rank"],
                    cause=row["cause"],
                    title=rules()[row["cause"]].title,
                    lasting=row["lasting"],
                    common=row["common"],
                    where=row["where"],
                    first=None if pd.isna(row["first"]) else int(row["first"]),
                    last=None if pd.isna(row["last"]) else int(row["last"]),
                    sentence=row["sentence"],
                    remedy=row["remedy"],
                )


def between_and_within(
    run: AnalysedRun, run_root: Path, entries: Sequence[TestCaseSummary]
) -> tuple[tuple[Explanation, ...], tuple[Bottleneck, ...]]:
    """What moved between variants, and what limits each test case. Trials that are not valid do not count."""
    sampled = optional(run_root, tables.SERIES_MEANS)
    if sampled.empty:
        return (), ()
    counted = run.trials[run.trials["trial"].map(run.verdicts["counted"]) & run.trials["studied"]]
    about = counted[["trial", "topology", "test_case", "repetition"]]
    rates = run.metrics[run.metrics["name"].isin(main_rates()) & run.metrics["value"].notna()]
    rates = rates[["trial", "value"]].rename(columns={"value": "mean"}).assign(name=RATE)
    means = pd.concat([sampled, rates]).merge(about, on="trial")
    return (explanations(entries, means), tuple(bottlenecks(entries, means, _threads(counted))))


def _threads(counted: pd.DataFrame) -> Mapping[tuple[str, str], int]:
    """Threads of all clients together, by topology and test case. None of those whose trials had several
    numbers, as the probes of a search."""
    known = counted.dropna(subset=["threads"]).groupby(["topology", "test_case"])["threads"]
    least, most = known.min(), known.max()
    same = least[least == most].reset_index()
    return {
        (str(topology), str(test_case)): int(threads)
        for topology, test_case, threads in same[["topology", "test_case", "threads"]].values
    }
