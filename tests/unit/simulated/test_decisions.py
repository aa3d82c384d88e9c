"""What rehearsals decide, compared with what is true of the model."""

from __future__ import annotations

import json
from pathlib import Path
from shlex import split
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from density_study.analysis.findings.decide import SEQUENCE_TEST
from density_study.analysis.rehearsal.course import Course, course_of
from density_study.analysis.rehearsal.decisions import Decisions, decisions
from density_study.analysis.rehearsal.drawn import Drawing
from density_study.analysis.summary.summary import Finding
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.simulated.effects import Effects
from density_study.cluster.providers.simulated.noise import Noise
from density_study.dags.cli import main
from density_study.dags.stages.rehearsal import foreseen, rehearsed_plan
from density_study.workloads.simulated.effects_file import named_effects
from density_study.workloads.study.hypotheses import Hypotheses
from density_study.workloads.study.shipped import shipped_studies
from density_study.workloads.study.study_file import parse_study, read_study
from tests.support.made_runs.answered import DISK_RATES

FASTER = "effects: [{factor: disk_type, level: flash, workload: '*', speed: 1.2}]\nalike: ['*']\n"


def decided(tmp_path: Path, effects: str, times: int, noise: str = "") -> Decisions:
    path = tmp_path / "effects.yaml"
    path.write_text(effects)
    name = "none" if effects == "none" else str(path)
    file = parse_study(DISK_RATES, "decided.yaml", {})
    return foreseen(file, tmp_path, named_effects(name), Noise.parse(noise)).decided(times)


def test_an_effect_is_true_and_found(tmp_path: Path) -> None:
    found = decided(tmp_path, FASTER, 20)
    (rate,) = found.by_id.values()
    assert (rate.truth, rate.right) == ("confirmed", 1.0)
    assert found.wrong == 0
    (row,) = found.rows
    assert (row.question, row.truth, row.right) == ("disk-rate", "1 of 1 decidable", 1.0)


def test_a_question_that_names_nothing_is_refused(tmp_path: Path) -> None:
    """It would be missing in the table, as if nobody had asked it."""
    file = parse_study(DISK_RATES.replace("disk-rate", "stack-rate"), "decided.yaml", {})
    with pytest.raises(InputError, match="nothing of this study is named 'stack-rate'") as refused:
        foreseen(file, tmp_path, Effects(), Noise())
    assert "decided.yaml" in refused.value.where


def test_a_mix_without_the_operation_that_is_compared_has_no_latency(tmp_path: Path) -> None:
    text = DISK_RATES.replace("mixes: [b]", "mixes: [e, f]")
    file = parse_study(text, "decided.yaml", {})
    seen = foreseen(file, tmp_path, Effects(), Noise())
    for entry in Drawing(seen.plan, seen.rehearsal).truth():
        operations = {one.operation for one in entry.metrics if one.name == "latency"}
        assert operations == ({"READ"} if entry.mode == "f" else set())


def test_that_another_density_is_the_best_is_a_wrong_claim() -> None:
    """Both have one id: it names what is compared, and not which one is the best."""
    best = Finding(id="best-density-load", statement="2 VMs are best", verdict="confirmed", why="",
                   question="best-density")  # fmt: skip
    other = best.model_copy(update={"statement": "1 VM is best"})
    said = iter((best, best, other))
    drawing = SimpleNamespace(truth=tuple, test_cases=lambda _seed: ())
    found = decisions(drawing, lambda _test_cases: Course((next(said),), 60.0), range(2))  # type: ignore[arg-type]
    (row,) = found.rows
    assert (row.right, row.wrong, found.wrong) == (0.5, 0.5, 1)
    assert (row.rightly, row.wrongly) == ("1 of 2", "1 of 2")
    once = decisions(drawing, lambda _test_cases: Course((best,), 60.0), range(1))  # type: ignore[arg-type]
    assert "%" not in once.sentence and once.rows[0].rightly == "1 of 1"
    many = decisions(drawing, lambda _test_cases: Course((best,), 60.0), range(200))  # type: ignore[arg-type]
    assert (many.rows[0].rightly, many.rows[0].wrongly) == (
        "200 of 200 (100.0%)",
        "0 of 200 (0.0%)",
    )


def test_repetitions_that_end_when_precise_are_decided_by_confidence_sequences(
    tmp_path: Path,
) -> None:
    """As the analysis of their run decides them: a t test at a look would promise too much."""
    text = DISK_RATES.replace("repetitions: 8", "repetitions: {at_least: 5, at_most: 8, until: 5%}")
    file = parse_study(text, "decided.yaml", {})
    seen = foreseen(file, tmp_path, Effects(), Noise())
    asked = Hypotheses.model_validate(file.document.value)
    found = course_of(seen.plan, asked, Drawing(seen.plan, seen.rehearsal).test_cases(1))
    assert {one.test for one in found.findings if one.question} == {SEQUENCE_TEST}


def test_no_repetition_begins_that_would_exceed_the_budget(tmp_path: Path) -> None:
    """As in a run: a budget ends questions that are open."""
    bounds = DISK_RATES.replace("repetitions: 8", "repetitions: {at_least: 5, at_most: 12}")

    def longest_s(text: str) -> float:
        file = parse_study(text, "decided.yaml")
        seen = foreseen(file, tmp_path, named_effects("none"), Noise(builds=0.5))
        return max(seen.decided(20).seconds)

    budget_s = round(0.8 * longest_s(bounds))
    assert longest_s(f"{bounds}budget: {budget_s} s\n") <= budget_s


@pytest.mark.slow
def test_a_noisy_start_takes_the_reserve_and_claims_stay_rare(tmp_path: Path) -> None:
    """Without an effect, so that each claim is wrong; the same noise without a reserve takes less time."""

    def drawn(bounds: str, builds: float) -> Decisions:
        text = DISK_RATES.replace("repetitions: 8", f"repetitions: {{at_least: 5, {bounds}}}")
        file = parse_study(text, "decided.yaml", {})
        seen = foreseen(file, tmp_path, named_effects("none"), Noise(builds=builds))
        return seen.decided(100)

    noisy, plain = (drawn(bounds, 0.2) for bounds in ("planned: 8, at_most: 20", "at_most: 8"))
    quiet = drawn("planned: 8, at_most: 20", 0.001)
    assert max(noisy.seconds) > 1.5 * max(plain.seconds)
    assert max(quiet.seconds) <= max(plain.seconds)
    assert noisy.wrong <= 14  # 5 % and four standard errors


def test_a_study_that_is_fitted_when_it_runs_is_fitted_when_it_is_rehearsed(tmp_path: Path) -> None:
    spec = tmp_path / "decided.yaml"
    spec.write_text(DISK_RATES.replace("repetitions: 8", "budget: 40 min"))
    more = ("--drawn", "--json", "--rehearsals", str(tmp_path), "--runs", str(tmp_path / "runs"))
    answer = CliRunner().invoke(main.app, ["rehearse", str(spec), *more], catch_exceptions=False)
    value = json.loads(answer.stdout)
    assert value["decisions"]["median_s"] <= 2400
    assert value["trials"] < 2 * 2 * 30, "30 repetitions are what a study has without a number"
    assert "budget: " in answer.stderr


def test_effects_of_a_factor_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no factor 'mediun'") as refused:
        decided(tmp_path, FASTER.replace("disk_type", "mediun"), 1)
    assert "disk_type" in refused.value.remedy


@pytest.mark.slow
def test_more_noise_decides_less(tmp_path: Path) -> None:
    small = FASTER.replace("1.2", "1.05")
    calm, noisy = (decided(tmp_path, small, 40, f"builds={part}%") for part in (1, 15))
    right = [found.rows[0].right for found in (calm, noisy)]
    assert right[0] == 1.0 and right[1] is not None and right[1] < 0.5


@pytest.mark.slow
def test_without_effects_there_is_nothing_to_decide_and_claims_are_rare(tmp_path: Path) -> None:
    found = decided(tmp_path, "none", 100)
    assert [one.truth for one in found.by_id.values()] == ["inconclusive"]
    assert [row.right for row in found.rows] == [None]
    assert found.wrong <= 14  # 5 % and four standard errors
    assert found.wrong == found.wrong_in.get("disk-rate", 0)


def test_the_command_needs_no_host_and_prints_what_is_decided(tmp_path: Path) -> None:
    spec, effects = tmp_path / "decided.yaml", tmp_path / "effects.yaml"
    spec.write_text(DISK_RATES)
    effects.write_text(FASTER)
    more = ("--effects", str(effects), "--times", "3", "--drawn", "--rehearsals", str(tmp_path))
    answer = CliRunner().invoke(main.app, ["rehearse", str(spec), *more], catch_exceptions=False)
    assert answer.exit_code == 0
    assert "simulated: 32 trials in about" in answer.output
    assert "3 rehearsals drawn from the model" in answer.output
    assert "simulated: 0 of 3 with a wrong claim, " in answer.output
    answer = CliRunner().invoke(main.app, ["rehearse", str(spec), *more, "--json"])
    value = json.loads(answer.output)
    assert value["simulated"] is True and value["decisions"]["times"] == 3
    assert [path.name for path in tmp_path.iterdir()].count("decided") == 0, "nothing is written"


def test_what_the_model_lacks_is_refused(tmp_path: Path) -> None:
    text = DISK_RATES.replace("mixes: [b]", "mixes: [b], fault: {kill: regionserver, at: 20 s}")
    text = text.replace("vms_per_host: [0],", "vms_per_host: [0], regionservers_per_node: [2],")
    file = parse_study(text, "decided.yaml", {})
    with pytest.raises(InputError, match="a fault cannot be rehearsed") as refused:
        rehearsed_plan(file, tmp_path)
    only = "--only ycsb-b-r200000-t16 --only ycsb-b-r200000-t16-at50pct"
    assert refused.value.remedy.endswith(f"study rehearse SPEC {only}"), "of the same workload"


def test_the_remedy_for_what_the_model_lacks_can_be_followed(tmp_path: Path) -> None:
    """`--only 'GLOB'` was the remedy also where every test case was of the pipeline."""
    refusals = {}
    for study in ("capacity-curve", "genomics-pipeline"):
        file = read_study(shipped_studies()[study])
        with pytest.raises(InputError, match="the workload pipeline cannot be") as refused:
            rehearsed_plan(file, tmp_path)
        refusals[study] = file, refused.value.remedy
    assert "no test case of this study" in refusals["genomics-pipeline"][1]
    file, remedy = refusals["capacity-curve"]
    words = split(remedy.partition("study rehearse SPEC ")[2])
    only = tuple(word for word in words if word != "--only")
    rest = rehearsed_plan(file, tmp_path, only)
    every = {one.id for one in file.study.test_cases()}
    kept = {step.test_case.id for step in rest.trials if step.test_case}
    assert {name.partition("-")[0] for name in every - kept} == {"pipeline"}
