"""The load of variants: what a study may ask for, and rows that are not those that were called are faults."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.store import store_named
from density_study.workloads.pipeline.faults import answer_faults, stage_faults
from density_study.workloads.pipeline.machine import agent, answers
from density_study.workloads.pipeline.machine.files import CALL, JOINT, LOAD, STAGES
from density_study.workloads.pipeline.machine.stages import STORED, WORK
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import parse_stages
from density_study.workloads.pipeline.spec import PipelineSpec
from density_study.workloads.pipeline.test_case import PipelineTestCase
from tests.support.records.factory import RUN, RunFactory
from tests.support.topologies import local, physical, with_variant
from tests.support.truth import Truth

BUILD, CLIENTS = "b1-v2-flash", ("pipeline-w1", "pipeline-w2")


def case(variant_load: bool) -> PipelineTestCase:
    asked = {"bases": [200_000], "variant_load": variant_load}
    return PipelineSpec.model_validate(asked).test_cases()[0]


def test_it_is_in_a_test_cases_names_and_off_by_default() -> None:
    (plain,) = PipelineSpec.model_validate({"bases": [200_000]}).test_cases()
    with_load = case(True)
    assert plain == case(False)
    assert (plain.id, with_load.id) == (with_load.id.removesuffix("-load"), f"{plain.id}-load")
    assert with_load.label == f"{plain.label}, with variant load"
    assert with_load.estimate_s == plain.estimate_s + 10
    assert with_load.table_row() == plain.table_row()
    assert with_load.summary_fields()["unnamed_knobs"] == {"seed": 20130226.0, "variant_load": 1.0}


def test_it_needs_hbase() -> None:
    case(True).check_topology(local())
    case(True).check_topology(replace(physical(), isolation=Isolation.HOST))
    accumulo = with_variant(local(), store=store_named("accumulo"))
    with pytest.raises(InputError, match=r"writes to HBase, and .* has Accumulo"):
        case(True).check_topology(accumulo)
    case(False).check_topology(accumulo)


def test_a_row_is_a_key_and_the_genotypes_by_sample() -> None:
    lines = ["chr1\t77\tAT\tA\tg003=./.\tg001=0/1", "chr1\t1234567890\tC\tG\tg003=1/1\tg001=0/0"]
    assert answers.rows(lines) == {
        "chr1:0000000077:AT:A\tg001=0/1\tg003=./.",
        "chr1:1234567890:C:G\tg001=0/0\tg003=1/1",
    }


def faults(factory: RunFactory, truth: Truth) -> tuple[str, ...]:
    raw = factory.close() / "records" / truth.trial / "raw"
    assert isinstance(truth.test_case, PipelineTestCase)
    return (
        *stage_faults(raw, truth.test_case, CLIENTS),
        *answer_faults(raw, truth.test_case, CLIENTS),
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ((200, 200, 200), ()),
        ((200, 200, 199), ("1 of the 200 variants are not in the store as they were called",
                           "1 rows of the store are none of the called variants")),
        ((200, 197, 197), ("3 of the 200 variants are not in the store as they were called",)),
        ((200, 205, 200), ("5 rows of the store are none of the called variants",)),
        ((0, 0, 0), ("no variants were called",)),
    ],
)  # fmt: skip
def test_rows_that_were_not_called_are_a_fault(
    tmp_path: Path, rows: tuple[int, int, int], expected: tuple[str, ...]
) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = factory.pipeline(BUILD, variant_load=True)
    truth.stored = rows
    named = [f"variant-load of {node}: {what}" for node in ("w1", "w2") for what in expected]
    assert list(faults(factory, truth)) == named


def test_a_load_that_did_not_run_is_a_fault(tmp_path: Path) -> None:
    factory = RunFactory(tmp_path / RUN)
    truth = factory.pipeline(BUILD, variant_load=True)
    truth.stages = [one for one in truth.stages if (one.node, one.stage) != ("w2", LOAD)]
    assert faults(factory, truth) == (
        "pipeline-w2 loaded its variants 0 times",
        "9 results were compared, 10 expected",
    )


CALLED = "chr1\\t9\\tA\\tG\\tg001=0/1\\tg002=0/0\\n"
"""As bcftools query prints it."""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of genomes, and bcftools, samtools and bwa that write empty files, and one variant."""
    binaries, folder = tmp_path / "bin", tmp_path / "genomes"
    for made in (binaries, folder):
        made.mkdir()
    script = (
        '#!/bin/sh\n[ "$1" = query ] && printf "' + CALLED + '"\n'
        'for word; do [ "$last" = -o ] && : > "$word"; last=$word; done\nexit 0\n'
    )
    for name in ("bcftools", "samtools", "bwa"):
        (binaries / name).write_text(script)
        (binaries / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{binaries}:{os.environ['PATH']}")
    return folder


def act(folder: Path, name: str, script: str) -> Path:
    output = folder / f"{name}.csv"
    agent.main([name, "--folder", str(folder), "--node", "w1", "--genomes", "1", "2",
                "--output", str(output), "--store", "sh", "-c", script])  # fmt: skip
    return output


def test_the_load_follows_joint_genotyping_and_is_read_back(programs: Path) -> None:
    output = act(programs, "run", "touch loaded")
    rows = parse_stages(output.read_bytes(), output.name).rows
    assert [row.stage for row in rows] == [*STAGES[:3], *STAGES[:3], JOINT, LOAD]
    assert (programs / "loaded").exists()
    row = "chr1:0000000009:A:G\\tg001=0/1\\tg002=0/0\\n"
    other = row.replace("0/1", "1/1")
    output = act(programs, "compare", f"printf '{row}{other}' > {STORED}")
    *others, load = parse_answers(output.read_bytes(), output.name).rows
    assert (load.stage, load.planted, load.called, load.found) == (LOAD, 1, 2, 1)
    assert {one.stage for one in others} == {CALL, JOINT}
    assert not (programs / WORK).exists()


def test_a_load_that_fails_is_the_exit_code_of_its_row(programs: Path) -> None:
    with pytest.raises(SystemExit, match="a stage failed"):
        act(programs, "run", "exit 3")
    rows = parse_stages((programs / "run.csv").read_bytes(), "run.csv").rows
    assert (rows[-1].stage, rows[-1].exit_code) == (LOAD, 3)
