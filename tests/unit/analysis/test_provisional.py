"""A provisional verdict: only rules whose facts are known, with their reasons."""

from __future__ import annotations

import pytest

from density_study.analysis.validity.provisional import Provisional, judge

SOUND = {"state": "complete", "clients_failed": 0, "workload": "ycsb", "failed_operations": 0}


def test_a_trial_without_a_fault_is_valid_so_far() -> None:
    assert judge(SOUND) == Provisional("valid", (), ())


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
    assert found == Provisional("unknown", ("a client's exit code is unknown",), ())


def test_an_invalid_trial_lists_no_unknown_facts() -> None:
    found = judge(SOUND | {"clients_failed": None, "failed_operations": 1})
    assert (found.verdict, len(found.reasons)) == ("invalid", 1)


def test_a_flag_does_not_change_the_verdict() -> None:
    found = judge(SOUND | {"foreign_cpu": 84.0})
    assert (found.verdict, found.reasons) == ("valid", ())
    assert found.flags == ("other work: processes outside the cluster used 84 % of the host's CPU",)


def test_a_rule_for_others_does_not_apply() -> None:
    assert judge(SOUND | {"workload": "testdfsio", "failed_operations": 3}).verdict == "valid"
