"""Variants of a VCF as the set that is compared; stages' programs as they are started."""

from __future__ import annotations

from pathlib import Path

from density_study.workloads.pipeline.machine.answers import variants
from density_study.workloads.pipeline.machine.files import CALL, JOINT, SORT, STAGES
from density_study.workloads.pipeline.machine.gatk import Gatk
from density_study.workloads.pipeline.machine.stages import (
    DISTINCT_CALLS,
    bam,
    calls,
    chains,
    joint_chains,
    load_chains,
)


def test_variants_are_positions_with_both_alleles() -> None:
    lines = [
        "##fileformat=VCFv4.1",
        "#CHROM\tPOS",
        "chr1\t7\t.\ta\tG\t50",
        "chr1\t9\t.\tAT\tA\t50",
        "",
    ]
    assert variants(lines) == {(7, "A", "G"), (9, "AT", "A")}


def test_every_stage_of_a_genome_has_its_programs() -> None:
    first = {stage: chains(stage, "g001", 2)[0][0][:2] for stage in STAGES if stage != JOINT}
    assert first == {
        "align": ["bwa", "mem"],
        "sort-markdup": ["samtools", "fixmate"],
        "call": ["bcftools", "mpileup"],
    }
    assert "-t 2" in " ".join(chains("align", "g001", 2)[0][0])


def test_gatk_does_a_stage_on_all_its_jars(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    for jar in ("b.jar", "a.jar"):
        (tmp_path / "lib" / jar).touch()
    gatk = Gatk("/opt/java", tmp_path, "work")
    for stage, tool, option in (
        (SORT, "MarkDuplicatesSpark", "--spark-master local[2]"),
        (CALL, "HaplotypeCaller", "--native-pair-hmm-threads 2"),
    ):
        (((*argv,),),) = chains(stage, "g001", 2, gatk)
        assert argv[0] == "/opt/java" and tool in argv
        assert argv[argv.index("-cp") + 1] == f"{tmp_path}/lib/a.jar:{tmp_path}/lib/b.jar"
        assert option in " ".join(argv)
        result = {SORT: bam, CALL: calls}[stage]("g001")
        assert argv[argv.index("-O") + 1] == result


def test_only_the_last_program_of_a_chain_writes_a_file() -> None:
    """Bytes written are those of the last one alone."""
    work = [chain for stage in STAGES[:-1] for chain in chains(stage, "g001", 1)]
    for chain in (*work, *joint_chains(["g001", "g002"]), *load_chains(["load"])):
        assert all("-o" not in argv for argv in chain[:-1]), chain


def test_the_store_gets_what_was_normalised() -> None:
    normalise, load = load_chains(["load", "--vcf", DISTINCT_CALLS])
    assert normalise[-1][normalise[-1].index("-o") + 1] == DISTINCT_CALLS
    assert load == [["load", "--vcf", DISTINCT_CALLS]]
