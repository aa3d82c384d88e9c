"""`PipelineSpec`: the key `pipeline` of a study file, and the test cases it expands to."""

from __future__ import annotations

from itertools import product
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from density_study.workloads.base.checked import FaultyKeyError, at_most
from density_study.workloads.base.quantity import percent, written_in
from density_study.workloads.base.test_case import WorkloadSpec
from density_study.workloads.base.values import Frozen
from density_study.workloads.pipeline.machine.genomes import E_COLI_BASES
from density_study.workloads.pipeline.test_case import (
    COHORT,
    Caller,
    Duplicates,
    Importance,
    PipelineTestCase,
    Reference,
)

Count = Annotated[int, Field(strict=True, ge=1)]
MIN_BASES = 50_000  # the longest repeat of a synthetic reference has 6,000
MAX_BASES = 4_000_000_000
Bases = Annotated[
    int,
    Field(strict=True, ge=MIN_BASES),
    at_most(MAX_BASES, "no larger reference was tried, and bwa holds all of its index in memory"),
]
Share = Annotated[float, BeforeValidator(lambda value: percent(value, "90%")), written_in("%")]
MAX_GENOTYPES = 50_000_000


class ImportanceSpec(Frozen):
    """Variant importance: a random forest of Spark's MLlib on the cluster's YARN ranks the variants of
    simulated genotypes. Three planted variants decide about the trait; they must come first, or the trial
    fails."""

    samples: Annotated[int, Field(strict=True, ge=100)] = Field(
        500, description="samples of the cohort; half of them have the trait"
    )
    variants: Annotated[int, Field(strict=True, ge=100)] = Field(
        5_000, description="variants of each sample"
    )
    trees: Annotated[Count, at_most(10_000, "no forest needs more")] = Field(
        60, description="trees of the forest"
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.samples * self.variants > MAX_GENOTYPES:
            raise FaultyKeyError(
                f"{self.samples * self.variants:,} genotypes exceed the {MAX_GENOTYPES:,} that are made in "
                "memory",
                "variants",
            )
        return self


class PipelineSpec(WorkloadSpec):
    """A genomics pipeline: reads of genomes with known variants are aligned (bwa mem), sorted and marked
    (samtools), called (bcftools), and genotyped jointly by node. One trial per combination of `bases` and
    `concurrent`. A trial whose variants are not those that were planted fails."""

    reference: Reference = Field(
        "synthetic",
        description="synthetic: random bases with repeats; e-coli-536: the first bases of a real genome, "
        "from Debian's package bowtie-examples",
    )
    bases: tuple[Bases, ...] = Field(
        min_length=1,
        description="lengths of the reference; three of them make cost per base a curve",
    )
    coverage: Annotated[Count, at_most(1000, "no caller needs more reads")] = Field(
        10, description="how often the reads cover the reference: 30 is usual"
    )
    genomes: Annotated[Count, at_most(999, "their names have three digits")] = Field(
        4, description="genomes of a trial; the worker nodes take them in turn, 2 or more each"
    )
    concurrent: tuple[Count, ...] = Field(
        (1,), min_length=1, description="genomes at once on each worker node"
    )
    threads: Count = Field(1, description="threads of bwa mem and samtools for one genome")
    duplicates: Duplicates = Field(
        "samtools",
        description="what sorts and marks duplicates; gatk: MarkDuplicatesSpark, 424 MB on first use",
    )
    caller: Caller = Field(
        "bcftools", description="what calls each genome; gatk: HaplotypeCaller, 424 MB on first use"
    )
    min_recall: Share = Field(
        "80%",
        description="least share of the planted variants that must be called",
        validate_default=True,
    )
    min_precision: Share = Field(
        "95%",
        description="least share of the called variants that were planted",
        validate_default=True,
    )
    variant_load: bool = Field(
        False,
        strict=True,
        description="load the called variants into a table of the cluster's HBase, and check them there",
    )
    variant_importance: ImportanceSpec | None = Field(
        None, description="a random forest on Spark after the other stages, on the study's own YARN"
    )
    seed: Annotated[int, Field(strict=True, ge=0, le=2**31)] = Field(
        20130226, description="seed of the reference, the variants and the reads"
    )

    def test_cases(self) -> tuple[PipelineTestCase, ...]:
        asked = self.variant_importance
        importance = Importance.model_validate(asked.model_dump()) if asked else None
        return tuple(
            PipelineTestCase(
                reference=self.reference,
                bases=bases,
                coverage=self.coverage,
                genomes=self.genomes,
                concurrent=concurrent,
                threads=self.threads,
                seed=self.seed,
                min_recall_percent=self.min_recall,
                min_precision_percent=self.min_precision,
                caller=self.caller,
                duplicates=self.duplicates,
                variant_load=self.variant_load,
                importance=importance,
            )
            for bases, concurrent in product(
                dict.fromkeys(self.bases), dict.fromkeys(self.concurrent)
            )
        )

    @model_validator(mode="after")
    def _works_together(self) -> Self:
        if self.reference == "e-coli-536" and max(self.bases) > E_COLI_BASES:
            raise FaultyKeyError(
                f"{max(self.bases):,} bases exceed the {E_COLI_BASES:,} of E. coli 536", "bases"
            )
        if self.genomes < COHORT:
            raise FaultyKeyError("joint genotyping needs 2 genomes or more", "genomes")
        if max(self.concurrent) > self.genomes:
            raise FaultyKeyError(
                f"{max(self.concurrent)} at once exceed the {self.genomes} genomes", "concurrent"
            )
        return self
