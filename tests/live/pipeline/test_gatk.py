"""GATK in a pipeline: planted variants are called and planted duplicates marked, alone and in a study."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.stack import ensure, find_java
from density_study.jobs.first_look.look import first_look
from density_study.workloads.pipeline.machine import agent
from density_study.workloads.pipeline.machine.files import CALL, JOINT, SORT
from density_study.workloads.pipeline.machine.stages import bam
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, measured

pytestmark = [pytest.mark.live, pytest.mark.timeout(390)]

SPEC = Path(__file__).with_name("gatk.yaml")
COPIES = 1_000


@pytest.fixture(scope="module")
def gatk() -> tuple[str, ...]:
    return ("--java", str(find_java().command), "--gatk-home", str(ensure("gatk").home), "--gatk")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two genomes; the first pairs of one are there twice."""
    path = tmp_path_factory.mktemp("genomes")
    act(path, "make", "--bases", "100000", "--coverage", "15", "--seed", "3")
    for end in (1, 2):
        reads = path / "reads" / f"g001.bwa.read{end}.fastq.gz"
        lines = gzip.decompress(reads.read_bytes()).splitlines(keepends=True)
        copies = lines[: 4 * COPIES]
        copies[::4] = [b"@copy-" + name.removeprefix(b"@") for name in copies[::4]]
        reads.write_bytes(gzip.compress(b"".join(lines + copies)))
    return path


def act(folder: Path, name: str, *more: str) -> None:
    agent.main([name, "--folder", str(folder), "--node", "w1", "--genomes", "1", "2", *more])


def stages(folder: Path, *more: str) -> dict[tuple[str, str], StageUse]:
    output = folder / "stages.csv"
    act(folder, "run", "--output", str(output), *more)
    rows = parse_stages(output.read_bytes(), output.name).rows
    return {(row.genome, row.stage): row for row in rows}


def duplicates(folder: Path, name: str) -> int:
    argv = ["samtools", "view", "-c", "-f", "1024", bam(name)]
    return int(subprocess.run(argv, cwd=folder, check=True, capture_output=True).stdout)


def test_planted_variants_are_called(folder: Path, gatk: tuple[str, ...]) -> None:
    rows = stages(folder, *gatk, CALL)
    for name in ("g001", "g002"):
        row = rows[name, CALL]
        assert row.exit_code == 0
        assert row.core_s > 2 and row.peak_kib > 200_000, "it starts a JVM"
        assert rows[name, SORT].core_s < row.core_s, "samtools starts none"
    output = folder / "answers.csv"
    act(folder, "compare", "--output", str(output))
    answers = parse_answers(output.read_bytes(), output.name).rows
    assert {answer.stage for answer in answers} == {CALL, JOINT}
    for answer in answers:
        assert (answer.recall_percent or 0) > 85 and (answer.precision_percent or 0) > 95, answer


def test_planted_duplicates_are_marked_as_samtools_marks_them(
    folder: Path, gatk: tuple[str, ...]
) -> None:
    stages(folder)
    expected = {name: duplicates(folder, name) for name in ("g001", "g002")}
    assert expected["g001"] == pytest.approx(2 * COPIES, rel=0.01)
    rows = stages(folder, *gatk, SORT)
    assert rows["g001", SORT].core_s > 2, "it starts a JVM"
    for name, marked in expected.items():
        assert duplicates(folder, name) == pytest.approx(marked, abs=4)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


def test_a_study_runs_both_stages_by_gatk(done: Measured) -> None:
    run, manifests = done
    (trial,) = manifests
    assert (manifests[trial].state, manifests[trial].reasons) == ("complete", ())
    assert first_look(run.records / trial).verdict == "valid", first_look(run.records / trial)
    raw = run.records / trial / "raw"
    rows = parse_stages((raw / "pipeline-w1.csv").read_bytes(), "stages").rows
    by_gatk = [row for row in rows if row.stage in (SORT, CALL)]
    assert len(by_gatk) == 4 and all(row.peak_kib > 200_000 for row in by_gatk)
    (client,) = manifests[trial].clients
    assert "/gatk-4.6.2.0-" in client.argv[client.argv.index("--gatk-home") + 1]
    assert left_of(run.root) == []
