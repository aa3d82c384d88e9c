"""Variants of a VCF as the set that is compared; stages' programs as they are started."""

from __future__ import annotations

from density_study.workloads.pipeline.machine.answers import variants
from density_study.workloads.pipeline.machine.files import JOINT, STAGES
from density_study.workloads.pipeline.machine.stages import chains, joint_chains


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


def test_only_the_last_program_of_a_chain_writes_a_file() -> None:
    """Bytes written are those of the last one alone."""
    work = [chain for stage in STAGES[:-1] for chain in chains(stage, "g001", 1)]
    for chain in (*work, *joint_chains(["g001", "g002"])):
        assert all("-o" not in argv for argv in chain[:-1]), chain
