"""Synthetic summaries of runs that cannot answer: no trial yet, and no valid trial."""

from __future__ import annotations

from density_study.analysis.findings import Evidence
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.warnings import trial_warnings
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Hypotheses
from tests.support.summary_factory import concluded, one_block


def empty() -> Summary:
    """A run that was stopped before its first trial."""
    nothing: dict[str, object] = dict.fromkeys(
        ("test_cases", "findings", "trials", "builds", "series"), ()
    )
    answer = {
        "headline": headline(Evidence((), 1, Isolation.PROCESS), 0).text,
        "headline_test_case": None,
        "undecided": None,
    }
    return one_block().model_copy(update={**nothing, **answer, "disclosure": {}})


def all_invalid() -> Summary:
    """A run whose RegionServers died in every trial: test cases without numbers, findings without effects."""
    summary = one_block()
    why = ("the RegionServer died", "monitor samples cover 71 % of the window, under 95 %")
    trials = tuple(
        trial.model_copy(update={"verdict": "invalid", "counted": False, "reasons": why})
        for trial in summary.trials
    )
    test_cases = tuple(
        one.model_copy(update={"n_builds": 0, "metrics": ()}) for one in summary.test_cases
    )
    of_trials = tuple(trial_warnings(summary.trials))
    others = (one for one in summary.warnings if one not in of_trials)
    made = {
        "trials": trials,
        "test_cases": test_cases,
        "warnings": (*trial_warnings(trials), *others),
    }
    return concluded(summary.model_copy(update=made), Hypotheses(question=summary.question))
