"""The agent of the pipeline with the real programs, without a cluster: the known answer, and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.workloads.pipeline.machine import agent
from density_study.workloads.pipeline.machine.answers import planted, variants_of
from density_study.workloads.pipeline.machine.files import CALL, COHORT, JOINT, STAGES
from density_study.workloads.pipeline.machine.stages import calls
from density_study.workloads.pipeline.output.answers import Answer, parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
MADE = ("--bases", "100000", "--coverage", "15", "--seed", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("genomes")
    act(path, "make", *MADE)
    return path


def act(folder: Path, name: str, *more: str, genomes: tuple[str, ...] = ("1", "2")) -> None:
    agent.main([name, "--folder", str(folder), "--node", "w1", "--genomes", *genomes, *more])


def stages(folder: Path, *more: str) -> list[StageUse]:
    output = folder / "stages.csv"
    act(folder, "run", "--output", str(output), *more)
    return list(parse_stages(output.read_bytes(), output.name).rows)


@pytest.fixture
def answers(folder: Path) -> Iterator[list[Answer]]:
    stages(folder)
    output = folder / "answers.csv"
    act(folder, "compare", "--output", str(output))
    yield list(parse_answers(output.read_bytes(), output.name).rows)


def test_planted_variants_are_called_alone_and_jointly(answers: list[Answer]) -> None:
    assert [(one.genome, one.stage) for one in answers] == [
        (name, stage) for name in ("g001", "g002") for stage in (CALL, JOINT)
    ]
    for one in answers:
        assert one.planted > 60
        assert (one.recall_percent or 0) > 85 and (one.precision_percent or 0) > 97, one


def test_a_genome_has_the_variants_of_no_other(folder: Path) -> None:
    """What would look like a wrong caller: another genome's reads."""
    stages(folder)
    first = variants_of(folder, calls("g001"))
    assert len(first & planted(folder, "g001")) > 0.8 * len(first)
    assert len(first & planted(folder, "g002")) < 0.1 * len(first)


def test_rows_add_up_to_the_kernels_own_sum(folder: Path) -> None:
    rows = stages(folder, "--concurrent", "2")
    assert {row.genome for row in rows} == {"g001", "g002", COHORT}
    alone = sum(row.core_s for row in rows)
    before = max(row.reaped_core_s for row in rows) - alone
    assert before >= -0.05  # this process may have had children before
    assert all(row.core_s > 0 and row.peak_kib > 2000 and row.exit_code == 0 for row in rows)


def test_bytes_written_are_at_least_the_stages_results(folder: Path) -> None:
    rows = stages(folder)
    size = (folder / "work" / "g001.aligned.bam").stat().st_size
    align = next(row for row in rows if (row.genome, row.stage) == ("g001", "align"))
    assert align.written_bytes == size
    reads = sum(path.stat().st_size for path in (folder / "reads").glob("g001.bwa.read?.fastq.gz"))
    index = sum(path.stat().st_size for path in (folder / "reference").glob("*.fa.*"))
    assert align.read_bytes is not None and reads < align.read_bytes < reads + 2 * index + 2**20


def test_results_are_the_same_whatever_ran_at_once(folder: Path) -> None:
    stages(folder)
    alone = variants_of(folder, calls("g002"))
    stages(folder, "--concurrent", "2", "--threads", "2")
    assert variants_of(folder, calls("g002")) == alone


def test_reads_that_are_cut_off_fail_their_genome_alone(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("cut")
    act(other, "make", *MADE)
    reads = other / "reads" / "g001.bwa.read1.fastq.gz"
    reads.write_bytes(reads.read_bytes()[:5000])
    output = other / "stages.csv"
    with pytest.raises(SystemExit, match="a stage failed"):
        act(other, "run", "--output", str(output))
    rows = parse_stages(output.read_bytes(), output.name).rows
    assert [row.genome for row in rows if row.exit_code] == ["g001"]
    assert [row.stage for row in rows if row.genome == "g002"] == list(STAGES[:3])
    assert JOINT not in {row.stage for row in rows}


def test_whole_parts_are_made_once(folder: Path) -> None:
    index = folder / "reference" / "reference.fa.bwt"
    made = index.stat().st_mtime_ns
    act(folder, "make", *MADE, genomes=("1", "2"))
    assert index.stat().st_mtime_ns == made
