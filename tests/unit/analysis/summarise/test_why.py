"""Causes in the summary and on the page: from the table of causes to sentences."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.why import why
from density_study.analysis.summarise.why import between_and_within, trial_causes
from density_study.workloads import tables
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import write_table
from tests.support.summary_factory import FACTORIES


def _row(trial: str, rank: int, cause: str, **more: Any) -> dict[str, Any]:
    row = {
        "trial": trial, "rank": rank, "cause": cause, "lasting": True, "common": False, "where": "h1",
        "first": None, "last": None, "seconds": 60, "score": 60.0, "sentence": "all of the trial: slow (1).",
        "remedy": "Look.",
    }  # fmt: skip
    return row | more


def _write(run: Path, *rows: dict[str, Any]) -> None:
    frame = pd.DataFrame(rows, columns=arrow_schema(tables.TRIAL_CAUSES).names)
    write_table(run, tables.TRIAL_CAUSES, frame)


def test_causes_are_in_the_order_of_the_trials_and_then_by_rank(tmp_path: Path) -> None:
    _write(
        tmp_path,
        _row("a", 2, "io-wait", lasting=False, first=3, last=5),
        _row("a", 1, "slow-disk"),
        _row("b", 1, "swap"),
        _row("c", 1, "of-a-later-version"),
    )
    found = list(trial_causes(tmp_path, ["b", "a", "c"]))
    assert [(one.trial, one.rank, one.cause) for one in found] == [
        ("b", 1, "swap"), ("a", 1, "slow-disk"), ("a", 2, "io-wait"),
    ]  # fmt: skip
    assert (found[1].title, found[1].first) == ("slow disk", None)
    assert (found[2].first, found[2].last) == (3, 5)


def test_a_run_of_an_older_version_has_none(tmp_path: Path) -> None:
    assert list(trial_causes(tmp_path, ["a"])) == []


def test_a_cause_of_many_trials_is_one_sentence_and_a_common_one_is_no_row(tmp_path: Path) -> None:
    summary = FACTORIES["one"]()
    first, *_ = summary.trials
    same = [
        t.trial
        for t in summary.trials
        if (t.test_case, t.topology) == (first.test_case, first.topology)
    ]
    _write(
        tmp_path,
        *(_row(trial, 1, "slow-disk") for trial in same),
        *(_row(trial, 2, "hot-region", common=True) for trial in same),
        *(_row(trial, 3, "io-wait") for trial in same),
    )
    causes = tuple(trial_causes(tmp_path, [t.trial for t in summary.trials]))
    found = why(View(summary.model_copy(update={"causes": causes})))
    label = f"on {first.topology}: slow disk in {len(same)} of {len(same)} trials. All of the trial: slow"
    assert label in found.sentences[0]
    assert "hot region in" in found.sentences[1]
    assert len(found.sentences) == 2  # what is neither first nor common is evidence below
    assert {row[2] for row in found.causes.rows} == {"slow disk", "wait for I/O"}


def test_threads_are_those_of_all_clients_on_the_same_topology(tmp_path: Path) -> None:
    """Of 12 threads in 3 clients, the sentence counted 36; and where threads differ by store, those of the
    last one."""
    entries = [
        one
        for one in FACTORIES["one"]().test_cases
        if one.workload == "ycsb" and one.target_ops_s is None
    ]
    entry = entries[0]
    other = entry.model_copy(update={"topology": "other"})
    search = entry.model_copy(update={"topology": "search"})
    asked = [(entry, 12), (entry, 12), (other, 6), (search, 6), (search, 8)]
    trials = [
        {"trial": f"t{n}", "topology": one.topology, "test_case": one.test_case, "repetition": n,
         "threads": threads, "clients": 3, "studied": True}
        for n, (one, threads) in enumerate(asked)
    ]  # fmt: skip
    means = [
        {"trial": one["trial"], "name": "cpu_used", "unit": "percent", "mean": 12.0, "most": 12.0,
         "where": "h1"}
        for one in trials
    ]  # fmt: skip
    write_table(
        tmp_path,
        tables.SERIES_MEANS,
        pd.DataFrame(means, columns=arrow_schema(tables.SERIES_MEANS).names),
    )
    frame = pd.DataFrame(trials)
    run: Any = SimpleNamespace(
        trials=frame,
        verdicts=pd.DataFrame({"counted": True}, index=frame["trial"]),
        metrics=pd.DataFrame({"trial": [], "name": [], "value": []}),
    )
    _, found = between_and_within(run, tmp_path, (entry, other, search))
    assert [f"{n} threads" in one.sentence for n, one in zip((12, 6), found, strict=False)] == [
        True
    ] * 2
    assert "threads" not in found[2].sentence  # no number is theirs
