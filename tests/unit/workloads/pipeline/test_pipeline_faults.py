"""A stage that computes wrong is a failed trial, and says which genome and how wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.pipeline.faults import answer_faults, stage_faults
from density_study.workloads.pipeline.test_case import PipelineTestCase
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import Truth

BUILD = "b1-v2-flash"
CLIENTS = ("pipeline-w1", "pipeline-w2")


@pytest.fixture
def factory(tmp_path: Path) -> RunFactory:
    return RunFactory(tmp_path / RUN)


def raw_of(factory: RunFactory, truth: Truth) -> Path:
    return factory.close() / "records" / truth.trial / "raw"


def faults(raw: Path, truth: Truth) -> tuple[str, ...]:
    assert isinstance(truth.test_case, PipelineTestCase)
    return (
        *stage_faults(raw, truth.test_case, CLIENTS),
        *answer_faults(raw, truth.test_case, CLIENTS),
    )


def test_a_sound_trial_has_none(factory: RunFactory) -> None:
    truth = factory.pipeline(BUILD)
    assert faults(raw_of(factory, truth), truth) == ()


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ((1000, 700, 690), "call of g001: only 69.0 % of the planted variants were called, less than 80 %"),
        ((1000, 1000, 900), "call of g001: only 90.0 % of the called variants were planted, less than 95 %"),
        ((1000, 0, 0), "call of g001: an unknown share of the called variants were planted"),
        ((0, 0, 0), "call of g001: an unknown share of the planted variants were called"),
    ],
)  # fmt: skip
def test_wrong_variants_are_a_fault(
    factory: RunFactory, answers: tuple[int, int, int], fault: str
) -> None:
    truth = factory.pipeline(BUILD)
    truth.answers = answers
    found = faults(raw_of(factory, truth), truth)
    assert any(fault in one for one in found), found
    assert len([one for one in found if "joint-genotype of g004" in one])


def test_a_failed_stage_and_its_genome_are_named(factory: RunFactory) -> None:
    truth = factory.pipeline(BUILD)
    truth.stages[1].exit_code = 137
    (fault, *_) = faults(raw_of(factory, truth), truth)
    assert fault == (
        "sort-markdup of g001 exited with 137: it was killed, perhaps because the node ran out of memory"
    )


def test_missing_genomes_files_and_torn_rows_are_faults(factory: RunFactory) -> None:
    truth = factory.pipeline(BUILD)
    raw = raw_of(factory, truth)
    stages = raw / "pipeline-w2.csv"
    stages.write_text(stages.read_text()[:-30])
    found = faults(raw, truth)
    assert any("cut off" in fault for fault in found)
    assert "pipeline-w2 did not genotype its genomes jointly" in found
    stages.unlink()
    (raw / "pipeline-w1-answers.csv").unlink()
    found = faults(raw, truth)
    assert "2 genomes went through all stages, 4 requested" in found
    assert "4 results were compared, 8 expected" in found
