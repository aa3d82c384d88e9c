"""The judge on facts that are not complete, as the first look has them; test_validity.py has all rules."""

from __future__ import annotations

import pytest

from density_study.analysis.validity.judge import Judgement, judge

SOUND = {"state": "complete", "clients_failed": 0, "workload": "ycsb", "failed_operations": 0}


def test_a_trial_without_a_fault_is_valid_so_far() -> None:
    found = judge(SOUND)
    assert found == Judgement() and found.counted
    assert (found.verdict, found.reasons, found.flags) == ("valid", (), ())


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (
            {"state": "failed", "state_reason": "a daemon died"},
            "the trial is failed: a daemon died",
        ),
        ({"clients_failed": 2}, "2 client(s) exited"),
        ({"failed_operations": 3}, "3 operations failed"),
    ],
)
def test_a_violated_rule_makes_it_invalid_and_says_why(
    facts: dict[str, object], reason: str
) -> None:
    found = judge(SOUND | facts)
    assert found.verdict == "invalid"
    assert len(found.reasons) == 1 and found.reasons[0].startswith(reason)


def test_an_unknown_fact_makes_it_unknown_unless_it_is_normal() -> None:
    found = judge(SOUND | {"clients_failed": None, "background_work": None})
    assert (found.verdict, found.counted) == ("unknown", False)
    assert found.reasons == found.why == ("a client's exit code is unknown",)


def test_an_invalid_trial_lists_no_unknown_facts() -> None:
    found = judge(SOUND | {"clients_failed": None, "failed_operations": 1})
    assert (found.verdict, len(found.reasons)) == ("invalid", 1)


def test_a_flag_does_not_change_the_verdict() -> None:
    found = judge(SOUND | {"foreign_cpu": 84.0})
    assert (found.verdict, found.why) == ("valid", ())
    assert (
        found.reasons
        == found.flags
        == ("other work: processes outside the cluster used 84 % of the host's CPU",)
    )


def test_a_rule_for_others_does_not_apply() -> None:
    assert judge(SOUND | {"workload": "testdfsio", "failed_operations": 3}).verdict == "valid"


@pytest.mark.parametrize(
    "facts", [{"existing": True}, {"imported": True}, {"imported": True, "existing": True}]
)
def test_what_nobody_could_record_is_said_as_the_analysis_says_it(facts: dict[str, object]) -> None:
    """The first look once had words and rules of its own for existing clusters, and none for imports."""
    found = judge(SOUND | facts | {"cluster_cpu": None, "existing": True})
    assert found.verdict == "valid"
    assert found.flags == ("unchecked: the CPU use of the cluster's hosts is unknown",)
