"""What became of each question: its answer, the time it took, and what it would take."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.analysis.findings import findings
from density_study.analysis.findings.answered import evidence_of, ran, spared_by, standing
from density_study.analysis.findings.question_power import questions_of
from density_study.analysis.report.charts import precision
from density_study.analysis.report.charts.findings_table import decisions_table
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.page import render
from density_study.analysis.summarise.decisions import _as_seen, decisions
from density_study.analysis.summarise.rehearsed import withheld
from density_study.analysis.summarise.summarise import _precision, _with_decisions
from density_study.analysis.summary.summary import Summary
from density_study.cluster.state.clock import SimulatedClock
from density_study.cluster.state.events import QuestionsLeft, RunOpened, StepEnded, StepStarted
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.stages.rehearsal import rehearsed_plan
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import parse_study, read_study
from tests.support.made_runs.answered import CLEAR, NONE, STUDY, measured
from tests.support.summary_factory import one_block

STEP_S = 60.0


@pytest.fixture
def ended(tmp_path: Path) -> Summary:
    """A run in which `reads` was answered after five repetitions, and `scans` left as hopeless."""
    file = parse_study(STUDY, "answered.yaml", {})
    plan = rehearsed_plan(file, tmp_path)
    seen = measured(file, plan, 5, {"c": CLEAR, "e": NONE})
    now = standing(evidence_of(plan, seen, (), 5), file.study.hypotheses)
    spared = spared_by(plan, now, 5)
    clock = SimulatedClock(1.7e9)
    journal = Journal(tmp_path / "journal.jsonl", clock)
    owner = Owner.of_process(os.getpid())
    journal.record(RunOpened(study="answered", run="r", tag="t", owner=owner))
    for step in plan.steps:
        if step.repetition <= 5:
            about = {"index": step.index, "kind": step.kind, "build": step.build}
            about["trial"] = step.trial
            journal.record(StepStarted.model_validate({**about, "label": step.label}))
            clock.at_s += STEP_S
            end = {**about, "outcome": "ok", "message": ""}
            journal.record(StepEnded.model_validate(end))
    left = QuestionsLeft(repetition=5, answered=now.answered, hopeless=now.hopeless, spared=spared)
    journal.record(left)
    evidence = evidence_of(plan, seen, spared, 5)
    summary = one_block().model_copy(
        update={
            "test_cases": seen,
            "repetitions": 5,
            "findings": findings(evidence, file.study.hypotheses),
            "precision": _precision(plan, journal, evidence, file.study.hypotheses),
        }
    )
    assert set(ran(plan, spared, 5).values()) == {5}
    found = tuple(decisions(tmp_path, file.study, plan, summary))
    return summary.model_copy(update={"decisions": found})


def test_an_answered_question_has_its_answer_and_its_hours(ended: Summary) -> None:
    reads, scans = ended.decisions
    assert (reads.question, reads.answer, reads.why_not) == ("reads", "confirmed", None)
    assert (reads.comparisons, reads.repetitions, reads.more_repetitions) == (1, 5, None)
    # five builds of two variants: bring-up, the load, the reads, tear-down
    assert reads.hours == pytest.approx(5 * 2 * 4 * STEP_S / 3600)
    assert scans.question == "scans" and scans.answer.startswith("not decided: it left")
    assert scans.why_not
    assert scans.noise > 1.5 * reads.noise, "each question has its own"
    assert scans.more_repetitions is None, "it measured no difference, so that no number decides"


def test_an_open_question_says_what_it_would_take_at_the_ratio_seen(ended: Summary) -> None:
    scans = next(one for one in ended.findings if one.question == "scans")
    slight = [scans.model_copy(update={"effect": 1.02})]
    file = parse_study(STUDY, "answered.yaml", {})
    plan = rehearsed_plan(file, Path("rehearsals"))
    (asked,) = (one for one in questions_of(file.study, plan) if one.name == "scans")
    few, many = (_as_seen(asked, slight).needs(noise) for noise in (0.01, 0.02))
    assert few and many and 5 < few < many
    assert asked.needs(0.02) == 5, "its plan expects a fifth more"


def test_a_ratio_that_is_not_known_is_the_planned_one(ended: Summary) -> None:
    file = parse_study(STUDY, "answered.yaml", {})
    plan = rehearsed_plan(file, Path("rehearsals"))
    (asked,) = (one for one in questions_of(file.study, plan) if one.name == "scans")
    (only,) = asked.comparisons
    asked = replace(asked, comparisons=(replace(only, rule=replace(only.rule, expected=1.03)),))
    scans = next(one for one in ended.findings if one.question == "scans")
    for effect in (None, 0.0):  # 0: the share of CPU time that waited, for example
        seen = _as_seen(asked, [scans.model_copy(update={"effect": effect})])
        assert seen.needs(0.02) == asked.needs(0.02)


def test_pairs_of_a_best_density_have_the_ratio_of_the_least_certain(ended: Summary) -> None:
    file = parse_study(STUDY, "answered.yaml", {})
    plan = rehearsed_plan(file, Path("rehearsals"))
    (asked,) = (one for one in questions_of(file.study, plan) if one.name == "scans")
    scans = next(one for one in ended.findings if one.question == "scans")
    slight = [scans.model_copy(update={"effect": 1.02})]
    whole = [slight[0].model_copy(update={"id": "best-density-e"})]
    best = _as_seen(replace(asked, name="best-density"), whole)
    assert best.needs(0.02) == _as_seen(asked, slight).needs(0.02) != asked.needs(0.02)


def test_decisions_that_cannot_be_made_are_told_and_not_lost(tmp_path: Path) -> None:
    plan = rehearsed_plan(parse_study(STUDY, "answered.yaml", {}), tmp_path)
    (tmp_path / "study.yaml").write_text(f"{STUDY}\nnonsense: 1\n")
    told = _with_decisions(tmp_path, plan, one_block(), ())
    assert told.decisions == () and told.warnings[:-1] == one_block().warnings
    assert told.warnings[-1].code == "no-decisions"
    assert "unknown key 'nonsense'" in told.warnings[-1].message


def test_a_rehearsal_answers_its_questions_and_says_that_it_is_simulated(
    ended: Summary, tmp_path: Path
) -> None:
    """Its findings claim nothing: the table says what a run with these numbers would have answered."""
    (tmp_path / "study.yaml").write_text(STUDY)
    plan = rehearsed_plan(parse_study(STUDY, "answered.yaml", {}), tmp_path)
    simulated = {"provider": "simulated", "findings": withheld(ended.findings)}
    told = _with_decisions(tmp_path, plan, ended.model_copy(update=simulated), ended.findings)
    assert {one.verdict for one in told.findings} == {"inconclusive"}
    (reads, scans) = told.decisions
    assert (reads.answer, reads.why_not) == ("simulated: confirmed", None)
    assert scans.answer.startswith("simulated: not decided") and scans.why_not


def test_no_number_of_repetitions_overcomes_an_obstacle(tmp_path: Path) -> None:
    """Process groups support no claim about VMs, however many there are."""
    file = read_study(study_path(Path("quickstart")), {})
    plan = rehearsed_plan(file, Path("rehearsals"))
    (found,) = decisions(tmp_path, file.study, plan, one_block())
    assert found.why_not and found.why_not.startswith("process groups")
    assert found.more_repetitions == 0 and found.more_hours is None
    table = decisions_table(one_block().model_copy(update={"decisions": (found,)}))
    assert table.rows[0][-1] == found.why_not


def test_the_page_has_a_row_for_each_question_and_the_path_to_its_answer(ended: Summary) -> None:
    table = decisions_table(ended)
    assert [row[:2] for row in table.rows] == [
        ("reads", "confirmed"),
        ("scans", ended.decisions[1].answer),
    ]
    found = {one.question: one for one in ended.findings}
    for row in table.rows:
        low, high = found[row[0]].low, found[row[0]].high
        assert low and row[2] == f"×{low:.2f} to ×{high:.2f}"
    unknown = [one.model_copy(update={"low": None, "high": None}) for one in ended.findings]
    without = ended.model_copy(update={"findings": (*unknown, *unknown)})
    assert {row[2] for row in decisions_table(without).rows} == {"none"}
    assert "no number up to 1,000 repetitions" in table.rows[1][-1]
    figure = precision.figure(View(ended))
    assert figure is not None and figure.title == "How the questions were answered"
    assert ended.precision and ended.precision.why.startswith(
        "after 5 repetitions, answered: reads"
    )
    shown = {"decisions": ended.decisions, "precision": ended.precision}
    page = render(one_block().model_copy(update=shown))
    assert "What became of each question of the study" in page
    assert "How the questions were answered" in page
