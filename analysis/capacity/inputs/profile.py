"""`Profile`: the demand of one genome, stage by stage; every value has a range, a tag and a source.

`wgs30x`, `exome` and `cohort-query` ship as YAML; a user's own file is read the same way, and the
record of a workflow system becomes one (../traces).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from density_study.analysis.capacity.inputs.plausible import Range
from density_study.analysis.capacity.inputs.point import refuse
from density_study.analysis.capacity.inputs.ranged import FiniteModel, UncertainValue
from density_study.analysis.capacity.plan.words import Resource
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.yaml_faults import place_of
from density_study.workloads.base.yaml_text import Document

SEQUENTIAL: tuple[Resource, ...] = ("hdfs_read", "hdfs_write")
SHIPPED = Path(__file__).parent / "profiles"
_MIB = Range(0, 1e8, "MiB of one genome", "in KiB or bytes, or of several genomes")
_OPERATIONS = Range(0, 1e11, "operations of one genome", "of several genomes")
_RANGES = {
    "core_hours": Range(0, 1e5, "core-hours of one genome", "in seconds, or of several genomes"),
    "accelerator_hours": Range(0, 5e3, "hours of one genome", "in seconds, or of several genomes"),
    "ram_gib": Range(0, 2048, "GiB of one task", "in MiB"),
    "daemon_gib": Range(0, 1024, "GiB of one VM", "in MiB"),
    "hdfs_read": _MIB,
    "hdfs_write": _MIB,
    "hbase_write": _OPERATIONS,
    "hbase_scan": _OPERATIONS,
    "scratch_gib": Range(0, 5e4, "GiB of one genome", "in MiB, or of several genomes"),
    "gib": Range(0, 2e4, "GiB of one genome", "in MiB, or of several genomes"),
    "days": Range(0, 36_525, "days", "in hours"),
    "per_s": Range(0, 1e6, "queries per second", "per day"),
    "scans": Range(0, 1e8, "scans of one query", "of all queries"),
}
"""The end of a range's name -> what is plausible."""


class Accelerator(FiniteModel):
    """GPUs or FPGAs of a stage's tasks, in place of core-hours."""

    kind: str = Field(description="as the catalogue calls it, for example A100")
    hours: UncertainValue = Field(description="hours of one accelerator for one genome")
    per_task: int = Field(1, ge=1, le=64, description="accelerators of one task")


class Stage(FiniteModel):
    """One step of the graph. A task is one container: `cores_per_task` cores, `ram_gib` memory, and the
    accelerators of its stage."""

    name: str = Field(pattern=r"^[a-z0-9-]+$")
    after: tuple[str, ...] = Field((), description="stages that end before it begins")
    core_hours: UncertainValue | None = Field(
        None, description="for one genome, on the reference CPU"
    )
    accelerator: Accelerator | None = None
    cpu_efficiency: UncertainValue | None = Field(
        None, description="share of its cores a task keeps busy"
    )
    tasks: int = Field(
        1, ge=1, le=10_000_000, description="tasks of one genome that may run at once"
    )
    cores_per_task: int = Field(1, ge=1, le=10_000, description="cores of one task")
    lost: float = Field(
        0.0, ge=0, le=1, description="share of core_hours in attempts that did not succeed"
    )
    ram_gib: UncertainValue | None = Field(
        None, description="memory of one task: what it requests, or where that is unknown its peak"
    )
    ram_used_gib: UncertainValue | None = Field(
        None, description="peak of one task, if ram_gib is what it requests"
    )
    demands: dict[Resource, UncertainValue] = Field(
        default_factory=dict, description="MiB or operations of one genome"
    )

    @property
    def computes(self) -> bool:
        """Whether its tasks take slots of hosts; else it is a lane that serves one genome at a time."""
        return self.core_hours is not None or self.accelerator is not None

    @model_validator(mode="after")
    def _computes_once(self) -> Self:
        if self.core_hours is not None and self.accelerator is not None:
            raise ValueError(
                f"stage {self.name} has core_hours and an accelerator: make it two stages"
            )
        return self


class Retention(FiniteModel):
    """Data stored per genome."""

    name: str
    gib: UncertainValue
    access: Literal["sequential", "random"] = Field(
        "sequential", description="random: lies with HBase"
    )
    days: UncertainValue = Field(description="how long it is kept")


class Storage(FiniteModel):
    replication: int = Field(3, ge=1, le=20, description="replicas")
    horizon_days: int = Field(1095, ge=1, description="planning horizon")
    genomes_at_start: int = Field(0, ge=0, description="cohort there is already")
    fill: float = Field(0.75, gt=0, le=1, description="share of a disk that may be full")
    scratch_gib: UncertainValue = Field(description="space of a genome in work, not replicated")
    kept: tuple[Retention, ...]


class Query(FiniteModel):
    """Cohort queries: their rate does not depend on the genomes per day."""

    per_s: UncertainValue = Field(description="cohort queries per second")
    scans: UncertainValue = Field(description="scan operations of one query")


class Profile(FiniteModel):
    format: Literal[1]
    profile: str
    about: str
    peak: UncertainValue = Field(description="busiest hour over mean")
    availability: UncertainValue = Field(description="share of the time the cluster is up")
    daemon_gib: UncertainValue = Field(
        description="memory of a VM that daemons and its system take"
    )
    rho_max: float = Field(0.8, ge=0.05, lt=1, description="highest utilization of a plan")
    stages: tuple[Stage, ...]
    query: Query | None = None
    storage: Storage
    measured_by: dict[Resource, tuple[str, ...]] = Field(
        description="patterns of the groups that provide a resource, best first; `--measured-by` of a "
        "command overrides them"
    )
    unknown: tuple[str, ...] = Field(
        (), description="what the source of the profile does not say; plans repeat it"
    )
    notes: tuple[str, ...] = Field(
        (),
        description="what the source says besides: lost attempts, memory, spill; plans repeat it",
    )

    @model_validator(mode="after")
    def _is_a_graph(self) -> Self:
        """Stages follow those they depend on, so the graph has no cycle."""
        seen: set[str] = set()
        for stage in self.stages:
            unknown = set(stage.after) - seen
            if unknown:
                raise ValueError(
                    f"stage {stage.name} is after {min(unknown)}, which does not precede it"
                )
            if stage.name in seen:
                raise ValueError(f"stage {stage.name} is defined twice")
            seen.add(stage.name)
        if not self.stages and self.query is None:
            raise ValueError("the profile has neither stages nor a query")
        return self

    def part(self, share: float) -> Profile:
        """The profile for a cluster that holds this share of the existing cohort. Its data, and the scans of
        a query, are that share of the whole."""
        held = round(self.storage.genomes_at_start * share)
        changed: dict[str, object] = {
            "storage": self.storage.model_copy(update={"genomes_at_start": held})
        }
        if self.query is not None:
            scans = self.query.scans.times(share)
            changed["query"] = self.query.model_copy(update={"scans": scans})
        return self.model_copy(update=changed)

    def left_out(self) -> Iterator[str]:
        """What a plan does not count because nobody measured it, in words."""
        yield from self.unknown
        for stage in self.stages:
            if stage.computes and stage.ram_gib is None:
                yield f"stage {stage.name}: memory unknown, counted as none"

    @model_validator(mode="after")
    def _is_plausible(self) -> Self:
        shares = [("availability", self.availability)]
        shares += [
            (f"cpu_efficiency of {stage.name}", stage.cpu_efficiency)
            for stage in self.stages
            if stage.cpu_efficiency is not None
        ]
        for name, share in shares:
            if not 0 < share.value <= 1 or share.high > 2:  # draws above 1 count as 1
                raise ValueError(
                    f"{name} {share.value:g} ({share.low:g} to {share.high:g}) is a share, above 0 and at "
                    "most 1; is it in percent?"
                )
        if not 1 <= self.peak.value <= self.peak.high <= 50:
            raise ValueError(
                f"peak {self.peak.value:g} ({self.peak.low:g} to {self.peak.high:g}) is the busiest hour "
                "over the mean: 1 to 50; is it in percent?"
            )
        return self

    def check_slips(self, document: Document) -> None:
        refuse(
            InputError(f"{name}: {slip}", place_of(document, key), "correct the value.")
            for name, key, one in self._ranges()
            if (found := _RANGES.get(name.rpartition(".")[2]))
            and (slip := found.slip(one.value) or found.slip(one.high))
        )

    def ranges(self) -> Iterator[tuple[str, UncertainValue]]:
        """(name, value) of everything that has a range, for draws and for evidence."""
        for name, _, value in self._ranges():
            yield name, value

    def _ranges(self) -> Iterator[tuple[str, tuple[str | int, ...], UncertainValue]]:
        """Each range: its name, its key in the file, and its value."""
        for name in ("peak", "availability", "daemon_gib"):
            yield name, (name,), getattr(self, name)
        for place, stage in enumerate(self.stages):
            at = ("stages", place)
            for name in ("core_hours", "cpu_efficiency", "ram_gib"):
                value = getattr(stage, name)
                if value is not None:
                    yield f"{stage.name}.{name}", (*at, name), value
            if stage.accelerator is not None:
                hours = stage.accelerator.hours
                yield f"{stage.name}.accelerator_hours", (*at, "accelerator", "hours"), hours
            for resource, demand in stage.demands.items():
                yield f"{stage.name}.{resource}", (*at, "demands", resource), demand
        if self.query is not None:
            for name in ("per_s", "scans"):
                yield f"query.{name}", ("query", name), getattr(self.query, name)
        yield "storage.scratch_gib", ("storage", "scratch_gib"), self.storage.scratch_gib
        for place, kept in enumerate(self.storage.kept):
            for name in ("gib", "days"):
                key = ("storage", "kept", place, name)
                yield f"storage.{kept.name}.{name}", key, getattr(kept, name)


def read_profile(name: str) -> Profile:
    """A shipped profile by its name, or a YAML file by its path. InputError if neither exists."""
    shipped = SHIPPED / f"{Path(name).stem}.yaml"
    path = Path(name)
    if path.exists():
        return Profile.read(path)
    if path.parent == Path() and shipped.exists():
        return _shipped(shipped)
    known = ", ".join(sorted(one.stem for one in SHIPPED.glob("*.yaml")))
    raise InputError(
        "there is no such profile.", name, f"name a file, or a shipped profile: {known}."
    )


@cache
def _shipped(path: Path) -> Profile:
    return Profile.read(path)
