"""A genomics pipeline on real nodes: every stage of every genome, right, measured and removed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.measured import measured_profile
from density_study.analysis.comparison.history import read_summary
from density_study.cluster.state.journal import Journal
from density_study.jobs import pipeline
from density_study.jobs.first_look.look import first_look
from density_study.workloads.execution.run import Run
from density_study.workloads.pipeline.machine.files import COHORT, JOINT, STAGES
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

SPEC = Path(__file__).with_name("pipeline.yaml")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


def stages_of(run: Run, trial: str) -> list[StageUse]:
    files = sorted((run.records / trial / "raw").glob("pipeline-w?.csv"))
    return [row for file in files for row in parse_stages(file.read_bytes(), file.name).rows]


def test_every_trial_is_complete_with_all_stages_of_all_genomes(done: Measured) -> None:
    run, manifests = done
    assert len(manifests) == 4
    for trial, manifest in manifests.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        rows = stages_of(run, trial)
        found = sorted((row.genome, row.stage) for row in rows)
        each = [(f"g00{n}", stage) for n in (1, 2, 3, 4) for stage in STAGES if stage != JOINT]
        assert found == sorted([*each, (COHORT, JOINT), (COHORT, JOINT)])
        nodes = {row.genome: row.node for row in rows}
        assert nodes["g001"] == nodes["g003"] != nodes["g002"] == nodes["g004"]


def test_variants_are_those_that_were_planted(done: Measured) -> None:
    run, manifests = done
    for trial in manifests:
        for file in (run.records / trial / "raw").glob("*-answers.csv"):
            for answer in parse_answers(file.read_bytes(), file.name).rows:
                assert answer.planted > 20, answer
                assert (answer.recall_percent or 0) > 80 and (answer.precision_percent or 0) > 95, (
                    answer
                )


def test_stages_used_what_the_nodes_processes_used(done: Measured) -> None:
    """The kernel's count of each process, and its sum over all of them, which is another count."""
    run, manifests = done
    for trial in manifests:
        rows = stages_of(run, trial)
        for node in ("w1", "w2"):
            own = [row for row in rows if row.node == node]
            total = sum(row.core_s for row in own)
            assert total == pytest.approx(max(row.reaped_core_s for row in own), rel=0.01)
        assert all(row.peak_kib > 2000 and row.read_bytes and row.written_bytes for row in rows)
        assert first_look(run.records / trial).verdict == "valid", first_look(run.records / trial)


def test_it_becomes_a_report_and_a_profile(done: Measured) -> None:
    run, _ = done
    pipeline.analyse(run.root)
    summary = read_summary(run.root)
    assert {trial.verdict for trial in summary.trials} == {"valid"}, summary.trials
    names = {metric.name for test_case in summary.test_cases for metric in test_case.metrics}
    assert {"throughput_genomes", "stage_core", "stage_memory", "recall", "precision"} <= names
    align = measured_profile(run.root).stages[0]
    assert align.core_hours is not None and 1 < align.core_hours.value < 1000


def test_nothing_of_the_builds_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []
    made = {intent.path for b in run.plan.builds for intent in Journal(run.journal.path).intents(
        "make-dir", run.site(b).tag)}  # fmt: skip
    assert made
    assert not [path for path in made if Path(path).exists()]
