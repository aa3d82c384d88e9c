"""`PipelineTestCase`: genomes of one size through all stages, with every knob fixed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from density_study.cluster.clients.spark_on_yarn import executors
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology, ExistingTopology, Node, Placed
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import ClientFiles, Frozen
from density_study.workloads.pipeline.machine.files import CALL, SORT

Reference = Literal["synthetic", "e-coli-536"]
Caller = Literal["bcftools", "gatk"]
Duplicates = Literal["samtools", "gatk"]
REFERENCES: dict[Reference, str] = {"synthetic": "synthetic genome", "e-coli-536": "E. coli 536"}
COHORT = 2
"""Fewest genomes of a node: it genotypes them jointly."""
# Of one core, per base of the reads, from runs on a small reference; a run replaces them by what it observes.
MAKE_CORE_US, RUN_CORE_US = 0.5, 1.0
# Of a stage by GATK: its JVM starts for each genome.
GATK_START_CORE_S, GATK_CORE_US = 8.0, 2.0
START_S = 5.0
# On two cores, with the start of Spark's driver, ApplicationMaster and executors.
FOREST_START_S, FOREST_CORE_US = 40.0, 0.3
# The JVMs that make the table, load and read it, of each trial and each node.
TABLE_S, LOAD_S = 4.0, 6.0
DISK_BYTES = 5.0
"""Per base of the reads: reads as FASTQ.gz, aligned, sorted and marked BAM."""


class Importance(Frozen):
    """A random forest over simulated genotypes."""

    samples: int
    variants: int
    trees: int

    @property
    def estimate_s(self) -> float:
        return FOREST_START_S + self.samples * self.variants * self.trees * FOREST_CORE_US / 1e6


class PipelineTestCase(TestCase):
    """All genomes of the trial are of one size; worker nodes take them in turn, each genome stays on one."""

    workload: Literal["pipeline"] = "pipeline"
    reference: Reference = "synthetic"
    bases: int = Field(gt=0, description="length of the reference")
    coverage: int = Field(gt=0, description="how often the reads cover the reference")
    genomes: int = Field(gt=0, description="genomes of the trial, over all worker nodes")
    concurrent: int = Field(gt=0, description="genomes at once on each worker node")
    threads: int = Field(gt=0, description="threads of a stage's programs that have several")
    seed: int = Field(ge=0)
    min_recall_percent: float
    min_precision_percent: float
    caller: Caller = "bcftools"
    duplicates: Duplicates = "samtools"
    variant_load: bool = False
    importance: Importance | None = None

    @property
    def id(self) -> str:
        forest = self.importance
        more = f"-s{forest.samples}-v{forest.variants}-f{forest.trees}" if forest else ""
        gatk = "".join(f"-gatk-{stage}" for stage in self.gatk_stages)
        knobs = f"n{self.genomes}-c{self.concurrent}-t{self.threads}"
        load = "-load" if self.variant_load else ""
        return f"pipeline-{self.data_set}-{knobs}{gatk}{load}{more}"

    @property
    def label(self) -> str:
        """'Genomics pipeline, 1 Mb at 10x, 2 at once'."""
        many = "one at a time" if self.concurrent == 1 else f"{self.concurrent} at once"
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        gatk = f", GATK for {' and '.join(self.gatk_stages)}" if self.gatk_stages else ""
        load = ", with variant load" if self.variant_load else ""
        return f"Genomics pipeline, {self.size}, {many}{threads}{gatk}{load}"

    @property
    def gatk_stages(self) -> tuple[str, ...]:
        """Stages that GATK does."""
        chosen = {SORT: self.duplicates, CALL: self.caller}
        return tuple(stage for stage, program in chosen.items() if program == "gatk")

    @property
    def mode_name(self) -> str:
        return "pipeline"

    @property
    def size(self) -> str:
        """'1 Mb at 10x': as geneticists write it."""
        return f"{self.bases / 1e6:g} Mb at {self.coverage}x"

    @property
    def size_label(self) -> str:
        return f"{self.genomes} genomes of {self.size}, {REFERENCES[self.reference]}"

    @property
    def sort_key(self) -> tuple[float, ...]:
        return self.bases, self.coverage, self.concurrent, self.threads

    @property
    def data_set(self) -> str:
        """Name of the reference and the reads on a node: test cases with the same name use the same."""
        return f"{self.reference.replace('-', '')}-b{self.bases}-x{self.coverage}"

    @property
    def read_bases(self) -> int:
        """Bases of one genome's reads."""
        return self.bases * self.coverage

    @property
    def data_mib(self) -> float:
        return self.genomes * self.read_bases * DISK_BYTES / 2**20

    def disk_use(self, replication: int) -> tuple[str, float]:
        return f"pipeline {self.data_set}-n{self.genomes}", self.data_mib

    @property
    def estimate_s(self) -> float:
        stages_s = self.genomes * self.read_bases * (MAKE_CORE_US + RUN_CORE_US) / 1e6
        gatk_s = GATK_START_CORE_S + self.read_bases * GATK_CORE_US / 1e6
        stages_s += self.genomes * len(self.gatk_stages) * gatk_s
        load_s = self.variant_load * (TABLE_S + LOAD_S)
        forest_s = self.importance.estimate_s if self.importance else 0.0
        return START_S + stages_s + load_s + forest_s

    @property
    def window_s(self) -> float:
        """The least length of the window: the nodes divide the work among themselves."""
        return self.read_bases * COHORT * RUN_CORE_US / 1e6

    def numbers(self, topology: Placed) -> list[tuple[Node, tuple[int, ...]]]:
        """Each worker node with its genomes."""
        workers = topology.workers
        numbers = range(1, self.genomes + 1)
        return [(node, tuple(numbers[at :: len(workers)])) for at, node in enumerate(workers)]

    def check_topology(self, topology: AnyTopology) -> None:
        where = "workloads, key pipeline"
        if isinstance(topology, ExistingTopology):
            raise InputError(
                "pipeline cannot be used with provider existing: its programs run on nodes that the study "
                "builds.",
                where,
                "use provider local, container, physical or libvirt.",
                ("workloads",),
            )
        workers = len(topology.workers)
        if self.genomes < COHORT * workers:
            raise InputError(
                f"{self.genomes} genomes are too few for the {workers} worker nodes of {topology.name}: each "
                f"node genotypes its own genomes jointly, {COHORT} or more.",
                f"{where}.genomes",
                f"use genomes: {COHORT * workers} or more.",
                ("workloads",),
            )

        if self.variant_load and "variant_load" not in topology.store.offers:
            raise InputError(
                f"variant_load writes to HBase, and {topology.name} has {topology.store.title}.",
                f"{where}.variant_load",
                "use store: hbase, or leave variant_load out.",
                ("workloads",),
            )
        if self.importance:
            if not topology.provider.here:
                raise InputError(
                    "the driver of variant_importance needs the Spark of this machine, and nodes of "
                    f"{topology.name} are on others.",
                    f"{where}.variant_importance",
                    "use provider local, or container without the key ssh; or leave it out.",
                    ("workloads",),
                )
            executors(topology)

    @property
    def needs_of_workers(self) -> tuple[str, ...]:
        return ("check-genomics", *(["check-e-coli"] if self.reference == "e-coli-536" else []))

    @property
    def needs_stacks(self) -> tuple[str, ...]:
        needed = {"ycsb": self.variant_load, "gatk": bool(self.gatk_stages)}
        return tuple(stack for stack, is_needed in needed.items() if is_needed)

    def raw_files(self, client: ClientFiles) -> Iterator[tuple[str, str]]:
        yield "pipeline-stages", f"raw/{client.name}.csv"
        yield "pipeline-answers", f"raw/{client.name}-answers.csv"

    def table_row(self) -> dict[str, Any]:
        left_out = {
            "seed",
            "min_recall_percent",
            "min_precision_percent",
            "variant_load",
            "importance",
        }
        return {**self.model_dump(exclude=left_out), "mode": self.mode_name}

    def summary_fields(self) -> dict[str, Any]:
        named = {"reference", "bases", "coverage", "genomes", "concurrent", "threads"}
        knobs = {"seed": float(self.seed)}
        knobs |= {f"gatk_{stage}": 1.0 for stage in self.gatk_stages}
        knobs |= {"variant_load": 1.0} if self.variant_load else {}
        for name, value in self.importance.model_dump().items() if self.importance else ():
            knobs[f"importance_{name}"] = float(value)
        parameters = self.model_dump(include=named)
        return {"mode": self.mode_name, "unnamed_knobs": knobs, "parameters": parameters}
