"""`leave_out`: test cases that some variants do not run, and what their data then cost."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import Extension, extended, make_plan
from density_study.workloads.planning.resolve import assumed_hosts
from tests.support.drafts import plan, study


def _ran(**overrides: object) -> set[tuple[str, str]]:
    made = plan(**overrides)
    return {
        (made.builds[step.build], step.test_case.mode_name)
        for step in made.trials
        if step.test_case
    }


def test_a_variant_runs_what_is_not_left_out() -> None:
    whole = _ran()
    left = _ran(leave_out=["v2-*/ycsb-load-*", "v1-*/testdfsio-*"])
    gone = {(name, mode) for name, mode in whole - left}
    assert {name[:2] for name, mode in gone if mode == "load"} == {"v2"}
    assert {name[:2] for name, mode in gone if mode != "load"} == {"v1"}


def test_a_variant_of_which_nothing_is_left_is_not_built() -> None:
    made = plan(leave_out=["v2-*/*"])
    assert all(name.startswith("v1") for name in made.topologies)
    assert set(made.builds.values()) == set(made.topologies)


@pytest.mark.parametrize("left_out", ["v2-*/ycsb-*", "v2-*/testdfsio-*"])
def test_a_part_of_the_test_cases_may_be_none_of_those_left_out(left_out: str) -> None:
    part = study(leave_out=[left_out])
    made = make_plan(part, assumed_hosts(part), ["testdfsio-*"])
    assert {step.test_case.workload for step in made.trials if step.test_case} == {"testdfsio"}
    assert len(made.topologies) == (2 if "ycsb" in left_out else 1)


def test_added_repetitions_leave_out_the_same() -> None:
    keys = {"leave_out": ["v2-*/ycsb-load-*"]}
    more = extended(plan(**keys), study(**keys), Extension(add_repetitions=1))
    loads = {
        step.build for step in more.trials if step.test_case and step.test_case.mode_name == "load"
    }
    assert len(loads) == 2 and all("-v1-" in build for build in loads)


def test_data_that_no_trial_writes_cost_time_all_the_same() -> None:
    keys = {
        "workloads": [{"ycsb": {"records": [1_000_000], "mixes": ["load", "c"], "threads": [8]}}]
    }
    whole, without = plan(**keys), plan(**keys, leave_out=["*/ycsb-load-*"])
    spared = whole.estimate_s - without.estimate_s
    assert len(without.trials) < len(whole.trials)
    assert 0 <= spared < 0.2 * whole.estimate_s  # the trial around the load, not the load


@pytest.mark.parametrize(
    ("glob", "fault"), [("v9-*/*", "leaves out nothing"), ("*/*", "nothing is left to run")]
)
def test_a_glob_must_leave_out_something_and_not_everything(glob: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault) as caught:
        plan(leave_out=[glob])
    assert caught.value.where == "leave_out"
