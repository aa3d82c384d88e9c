"""Which questions of a study leave after a repetition, and which trials are spared with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from density_study.analysis.findings.answered import (
    evidence_of,
    path_to_answers,
    ran,
    spared_by,
    standing,
)
from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.findings.primary import asked
from density_study.analysis.summarise.summarise import hypotheses_of
from density_study.dags.stages.rehearsal import rehearsed_plan
from density_study.workloads.planning.plan import Plan
from density_study.workloads.study.study_file import StudyFile, parse_study
from tests.support.made_runs.answered import CLEAR, DISK_TYPES, NONE, SLIGHT, STUDY, measured


@pytest.fixture
def planned(tmp_path: Path) -> tuple[StudyFile, Plan]:
    file = parse_study(STUDY, "answered.yaml", {})
    return file, rehearsed_plan(file, tmp_path)


def test_an_answered_question_leaves_with_what_no_other_needs(
    planned: tuple[StudyFile, Plan],
) -> None:
    file, plan = planned
    seen = measured(file, plan, 5, {"c": CLEAR, "e": SLIGHT})
    now = standing(evidence_of(plan, seen, (), 5), file.study.hypotheses)
    assert (now.answered, now.hopeless, list(now.open)) == (("reads",), (), ["scans"])
    spared = spared_by(plan, now, 5)
    assert {trial[:2] for trial in spared} == {"b6", "b7", "b8"}
    modes = {
        step.test_case.mode_name for step in plan.trials if step.trial in spared and step.test_case
    }
    assert modes == {"c"}, "the load writes the rows that the scans read"
    counts = {test_case.split("-")[1]: n for (test_case, _), n in ran(plan, spared, 8).items()}
    assert counts == {"load": 8, "c": 5, "e": 8}


def test_the_path_of_a_comparison_that_lost_a_build_is_its_end(
    planned: tuple[StudyFile, Plan],
) -> None:
    """An earlier look would pair builds of different repetitions."""
    file, plan = planned
    seen = measured(file, plan, 8, {"c": CLEAR[:7], "e": SLIGHT})
    paths: dict[str, list[int]] = {"-c-": [], "-e-": []}
    for look in path_to_answers(evidence_of(plan, seen, (), 8), file.study.hypotheses):
        (mode,) = (one for one in paths if one in look.comparison)
        paths[mode].append(look.n)
    assert paths == {"-c-": [7], "-e-": [5, 6, 7, 8]}


def test_a_question_that_the_repetitions_left_cannot_decide_leaves(
    planned: tuple[StudyFile, Plan],
) -> None:
    file, plan = planned
    seen = measured(file, plan, 5, {"c": CLEAR, "e": NONE})
    now = standing(evidence_of(plan, seen, (), 5), file.study.hypotheses)
    assert (now.answered, now.hopeless, now.cells) == (("reads",), ("scans",), frozenset())
    assert len(spared_by(plan, now, 5)) == sum(step.repetition > 5 for step in plan.trials)


def test_a_question_does_not_come_back_without_its_test_cases(
    planned: tuple[StudyFile, Plan],
) -> None:
    """Another question's answer may change what Holm leaves to it, but nothing more is measured."""
    file, plan = planned
    first = standing(
        evidence_of(plan, measured(file, plan, 5, {"c": CLEAR, "e": SLIGHT}), (), 5),
        file.study.hypotheses,
    )
    spared = spared_by(plan, first, 5)
    left = measured(file, plan, 5, {"c": SLIGHT})
    went_on = measured(file, plan, 6, {"e": SLIGHT})
    seen = tuple(a if a.mode == "c" else b for a, b in zip(left, went_on, strict=True))
    now = standing(evidence_of(plan, seen, spared, 6), file.study.hypotheses)
    assert now.hopeless == ("reads",)
    assert not any("-c-" in test_case for test_case, _ in now.cells)


def test_one_refuted_part_answers_a_claim(tmp_path: Path) -> None:
    """Flash loads much faster, and C4 says that it gains little. What it gains otherwise is not clear."""
    file = parse_study(DISK_TYPES, "answered.yaml", {})
    plan = rehearsed_plan(file, tmp_path)
    flash = {name for name, one in plan.topologies.items() if one.variant.disk_type == "flash"}
    noise = np.exp(0.3 * np.random.default_rng(1).standard_normal((2, 5)))
    seen = tuple(
        made_up(
            topology,
            test_case,
            tuple(
                3.0 * (1 + 0.01 * n) if test_case.mode_name == "load" else float(noise[1, n])
                for n in range(5)
            )
            if topology.name in flash
            else (1.0,) * 5,
        )
        for topology in plan.topologies.values()
        for test_case in file.study.test_cases()
    )
    now = standing(evidence_of(plan, seen, (), 5), file.study.hypotheses)
    assert (now.answered, now.cells) == (("C4",), frozenset())


def test_a_lost_test_case_does_not_change_what_the_report_decides(tmp_path: Path) -> None:
    """The study declares no questions; by default they are those that its plan has all test cases for."""
    text = DISK_TYPES.replace("questions: [C4]\n", "")
    file = parse_study(text, "answered.yaml", {})
    plan = rehearsed_plan(file, tmp_path)
    (tmp_path / "study.yaml").write_text(text)
    whole = measured(file, plan, 5, {})
    lost = tuple(one for one in whole if one.mode != "read45-insert55")
    by_data = asked(evidence_of(plan, lost, (), 5), file.study.hypotheses)
    assert "C4" not in by_data.names
    by_plan = asked(evidence_of(plan, lost, (), 5), hypotheses_of(tmp_path, plan))
    assert "C4" in by_plan.names
    assert {"C4"} <= {one.name for one in by_plan.main}, "what is left of it is still tested"
