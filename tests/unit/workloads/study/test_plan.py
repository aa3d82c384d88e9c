"""The plan is a pure function of study, hosts and seed; its order satisfies all dependencies."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.workloads.planning.plan import (
    Extension,
    extended,
    make_plan,
    read_plan,
    write_plan,
)
from density_study.workloads.planning.trial_order import random_order
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from tests.support.drafts import host, plan, study


def test_the_same_study_and_seed_give_the_same_plan() -> None:
    assert plan(repetitions=5) == plan(repetitions=5)
    assert [s.label for s in plan(repetitions=5).steps] != [
        s.label for s in plan(repetitions=5, seed=1).steps
    ]


def test_each_block_builds_every_topology_once_and_runs_every_test_case_on_it() -> None:
    study_plan = plan(repetitions=3)
    wanted = {test_case.id for test_case in study().test_cases()}
    for repetition in (1, 2, 3):
        steps = [step for step in study_plan.steps if step.repetition == repetition]
        assert sorted(s.build for s in steps if s.kind == "up") == [
            f"b{repetition}-v1-flash",
            f"b{repetition}-v2-flash",
        ]
        for build in {s.build for s in steps}:
            kinds = [s.kind for s in steps if s.build == build]
            assert kinds == ["up", *["trial"] * len(wanted), "down"]
            assert {s.test_case.id for s in steps if s.build == build and s.test_case} == wanted


def test_at_most_one_cluster_is_up_at_any_time() -> None:
    standing: list[str] = []
    for step in plan(repetitions=4).steps:
        if step.kind == "up":
            assert standing == []
            standing.append(step.build)
        assert standing == [step.build]
        if step.kind == "down":
            standing.pop()
    assert standing == []


def test_repetitions_are_shuffled_differently() -> None:
    study_plan = plan(repetitions=8)
    orders = {
        tuple(s.test_case.id for s in study_plan.trials if s.build == build and s.test_case)
        for build in study_plan.builds
    }
    first = [next(b for b in study_plan.builds if b.startswith(f"b{n}-")) for n in range(1, 9)]
    assert len(orders) > 4
    assert len({build.split("-", 1)[1] for build in first}) == 2


@pytest.mark.parametrize("seed", range(50))
def test_writers_precede_the_readers_of_their_data(seed: int) -> None:
    ids = [
        s.mode if isinstance(s, DfsioTestCase) else s.mix
        for s in random_order(study().test_cases(), Random(seed))
    ]
    assert ids.index("write") < min(ids.index("read"), ids.index("random"))
    assert ids.index("load") < min(ids.index("read45-insert55"), ids.index("scan95-insert5"))


def test_trial_names_are_distinct() -> None:
    names = [step.trial for step in plan(repetitions=3).trials]
    assert len(set(names)) == len(names) == 36


def test_a_plan_survives_the_file_round_trip(tmp_path: Path) -> None:
    write_plan(plan(), tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan()


def test_a_plan_of_another_format_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"format": 9}')
    with pytest.raises(StudyError, match="format 9"):
        read_plan(path)


def test_an_unavailable_disk_type_is_named_with_the_available_ones() -> None:
    with pytest.raises(StudyError, match="no disk of type hdd, only /data"):
        make_plan(study(**{"factors.disk_type": ["hdd"]}), [host()])


def test_added_repetitions_equal_those_planned_from_the_start() -> None:
    longer = extended(plan(repetitions=2), study(), Extension(add_repetitions=3))
    assert longer.steps == plan(repetitions=5).steps
    assert (longer.repetitions, longer.builds) == (5, plan(repetitions=5).builds)


def test_an_extension_may_omit_test_cases_but_no_topology() -> None:
    longer = extended(plan(), study(), Extension(add_repetitions=1, only=("ycsb-*",)))
    added = [step for step in longer.steps if step.repetition == 2]
    assert {step.test_case.workload for step in added if step.test_case} == {"ycsb"}
    assert {longer.builds[step.build] for step in added} == set(longer.topologies)
    assert longer.steps[: len(plan().steps)] == plan().steps


def test_a_glob_without_a_match_is_refused_with_the_available_test_cases() -> None:
    with pytest.raises(InputError, match="no test case of the study matches 'ycbs") as caught:
        make_plan(study(), [host()], only=("ycbs-*",))
    assert "testdfsio-write-n6" in caught.value.remedy


ISOLATED = {
    "ycsb": {
        "records": [1000],
        "mixes": ["load"],
        "threads": [4],
        "noisy_neighbour": {"mix": "c", "threads": 4, "neighbour_threads": 2},
    }
}


def test_isolation_trials_run_exactly_where_a_victim_has_a_neighbour() -> None:
    study_plan = plan(workloads=[ISOLATED])
    pairs = {
        build: [
            s.test_case.id for s in study_plan.trials if s.build == build and "beside" in s.label
        ]
        for build in study_plan.builds
    }
    assert pairs["b1-v1-flash"] == []
    assert sorted(pairs["b1-v2-flash"]) == [
        "ycsb-c-r1000-t4-beside-nobody",
        "ycsb-c-r1000-t4-beside2",
    ]


def test_an_isolation_trial_without_a_suitable_topology_is_refused() -> None:
    with pytest.raises(InputError, match="the victim has no neighbour"):
        plan(workloads=[ISOLATED], **{"factors.vms_per_host": [1]})
