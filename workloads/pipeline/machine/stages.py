"""The programs of each stage. Paths are relative to the data set's folder. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from density_study.workloads.pipeline.machine.files import ALIGN, CALL, SORT
from density_study.workloads.pipeline.machine.gatk import Gatk
from density_study.workloads.pipeline.machine.genomes import REFERENCE
from density_study.workloads.pipeline.machine.measure import Chain

SORT_MIB = 256
"""Memory in which a thread sorts; with more reads it spills to disk."""
WORK = "work"
COHORT_CALLS = f"{WORK}/cohort.vcf.gz"
DISTINCT_CALLS = f"{WORK}/distinct.vcf"
"""The cohort's variants with one alternative each, normalised: each variant has one key."""
STORED = f"{WORK}/stored.tsv"
"""What the variant store returns of them."""


def bam(name: str) -> str:
    """Aligned, sorted reads of a genome, with duplicates marked."""
    return f"{WORK}/{name}.bam"


def calls(name: str) -> str:
    """Variants of one genome."""
    return f"{WORK}/{name}.vcf.gz"


def chains(stage: str, name: str, threads: int, gatk: Gatk | None = None) -> Sequence[Chain]:
    """What a stage runs for one genome; gatk: by GATK, which has no aligner here."""
    if gatk:
        return [[_by_gatk(gatk, stage, name, threads)]]
    aligned, ordered = _aligned(name), f"{WORK}/{name}.sorted.bam"
    reads = [f"reads/{name}.bwa.read{end}.fastq.gz" for end in (1, 2)]
    more = ("-@", str(threads - 1))
    of_stage: dict[str, Sequence[Chain]] = {
        # -K: batches of equal size whatever the threads, so that results are equal
        ALIGN: [[
            ["bwa", "mem", "-v", "1", "-K", "10000000", "-t", str(threads),
             "-R", f"@RG\\tID:{name}\\tSM:{name}", REFERENCE, *reads],
            ["samtools", "view", "-b", "-o", aligned, "-"],
        ]],
        SORT: [
            [
                ["samtools", "fixmate", "-m", "-u", aligned, "-"],
                ["samtools", "sort", *more, "-m", f"{SORT_MIB}M", "-T", f"{ordered}.part",
                 "-o", ordered, "-"],
            ],
            [["samtools", "markdup", *more, "-T", f"{ordered}.mark", ordered, bam(name)]],
            [["samtools", "index", bam(name)]],
        ],
        CALL: [_called([bam(name)], calls(name)), [["bcftools", "index", calls(name)]]],
    }  # fmt: skip
    return of_stage[stage]


def joint_chains(names: Sequence[str]) -> Sequence[Chain]:
    """All sites at which a genome has a variant, and the genotypes of all genomes there."""
    sites = f"{WORK}/sites.vcf.gz"
    merged = ["bcftools", "merge", "-Oz", "-o", sites, *(calls(name) for name in names)]
    return [
        [merged],
        [["bcftools", "index", sites]],
        _called([bam(name) for name in names], COHORT_CALLS, "-T", sites),
        [["bcftools", "index", COHORT_CALLS]],
    ]


def load_chains(load: Sequence[str]) -> Sequence[Chain]:
    """The cohort's variants into the store, by the program `load`. Two of them may be the same once they are
    normalised; the first one stays."""
    return [
        [
            ["bcftools", "norm", "-Ou", "-f", REFERENCE, "-m", "-any", COHORT_CALLS],
            ["bcftools", "norm", "-d", "exact", "-o", DISTINCT_CALLS, "-"],
        ],
        [load],
    ]


def _aligned(name: str) -> str:
    return f"{WORK}/{name}.aligned.bam"


def _by_gatk(gatk: Gatk, stage: str, name: str, threads: int) -> list[str]:
    """Both tools write an index beside their result."""
    of_stage = {
        SORT: ["MarkDuplicatesSpark", "-I", _aligned(name), "-O", bam(name),
               "--spark-master", f"local[{threads}]", "--conf", "spark.ui.enabled=false"],
        CALL: ["HaplotypeCaller", "-R", REFERENCE, "-I", bam(name), "-O", calls(name),
               "--native-pair-hmm-threads", str(threads)],
    }  # fmt: skip
    return gatk.argv(*of_stage[stage])


def _called(bams: Sequence[str], output: str, *where: str) -> Chain:
    return [
        ["bcftools", "mpileup", "-Ou", "-f", REFERENCE, *where, *bams],
        ["bcftools", "call", "-mv", "-Oz", "-o", output, "-"],
    ]
